"""`sigla mirror`: a registry that is kept as another one is, until clients are moved over."""

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from sigla.cli import credentials, place, progress
from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.arguments import seconds_argument
from sigla.terminal.statuses import INTERRUPTED

if TYPE_CHECKING:
    from pathlib import Path

    from sigla.cli.mirrored import Source
    from sigla.journal.replay import State
    from sigla.ports.progress import Progress
    from sigla.settings import Address
    from sigla.upkeep.mirroring import Mirror

DESCRIPTION = """\
Keeps a registry as another one is: ids, versions, times, deletes, config, contexts, keys and associations, the first
time all of it and then what changes, until Ctrl-C. Begun again, it goes on. Clients may read from a registry in AWS
meanwhile; a directory is served when the mirror has ended. Writes are refused (mode IMPORT) until it is cut over.

  sigla mirror kafka://HOST:9092/_schemas
                                       the topic of the other registry, from a broker: a change is here in a second
                                       or two; needs `pip install 'sigla-registry[kafka]'`
  sigla mirror https://registry:8081   its API, read anew every --every seconds

To move over: run it with --cut-over and make the other registry READONLY. When nothing is left, modes become what they
are there, this registry takes writes, and the command says what to change at clients and ends. docs/migrate.md has the
steps, and the way back.
"""

EPILOG = """\
0: cut over, or stopped by a signal after the first turn, or everything is here (--once). 1: something could not be
brought, or a registry or a store does not answer. 2: nothing was written. 130: interrupted before all was here.
"""

EVERY_S = 10.0
AGAIN_S = 5.0
"""How long it is waited after a failure, which may be told at once: brokers are not silent but away."""


class TooMuch(Misuse):
    """Trying again does not help."""


class Stopped(Exception):
    """A signal came in the middle of a turn: what is here is a part of it. The next mirror compares all of it."""


class Stop(Event):
    """Set by the first signal; the second one is Python's own business."""

    def __init__(self) -> None:
        super().__init__()
        self._is_reading = False

    def asked(self, number: int, _: object) -> None:
        self.set()
        signal.signal(number, signal.SIG_DFL)
        if self._is_reading:
            raise Stopped

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A signal inside raises Stopped wherever it comes: a source may hold back its answer, and nothing is written.

        Elsewhere it is heard between two steps.
        """
        self._is_reading = True
        try:
            if self.is_set():
                raise Stopped
            yield
        finally:
            self._is_reading = False


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "mirror",
        help="keep a registry as another one is, until clients are moved over",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="URL", help="the topic or the registry to keep in step with")
    place.add_to(parser)
    credentials.add_user_option(parser)
    parser.add_argument(
        "--settings",
        type=_path,
        metavar="FILE",
        help="for kafka://: settings of the consumer, such as credentials, as name=value lines",
    )
    parser.add_argument(
        "--keys-topic",
        default="",
        metavar="TOPIC",
        help="for kafka://: where keys of field encryption stand (_dek_registry_keys, if there is one)",
    )
    parser.add_argument(
        "--every",
        type=seconds_argument,
        metavar="SECONDS",
        help="for https://: between two looks (default: 10)",
    )
    parser.add_argument("--once", action="store_true", help="end when everything is here that is there now")
    parser.add_argument("--cut-over", action="store_true", help="move over as soon as the source is READONLY")
    parser.add_argument(
        "--source-stopped",
        action="store_true",
        help="with --cut-over: the source takes no writes, whatever its modes say, as it was stopped; it is given up "
        "after five minutes without news",
    )
    parser.add_argument(
        "--i-mean-it",
        action="store_true",
        help="go on where the source lacks most of what stands here; with --cut-over: "
        "move over without what could not be brought",
    )
    parser.set_defaults(run=run)


def _path(text: str) -> "Path":
    from sigla.terminal.arguments import path_argument

    return path_argument(text)


def run(args: argparse.Namespace) -> int:
    """0, 1 if something could not be brought. Raises Misuse, Refused."""
    if args.source_stopped and not args.cut_over:
        raise Misuse("--source-stopped says that the registry may be moved over: add --cut-over.")
    if args.once and args.cut_over:
        raise Misuse("--once ends before it can be moved over, which --cut-over waits for: give one of them.")
    from sigla.cli import mirrored

    mirrored.check_options(args)
    place.address(args)
    with _stopping() as stop, progress.shown() as shown:
        told = _interrupted_by(stop, shown)

        def pause() -> None:
            if stop.wait(AGAIN_S):
                raise Stopped

        try:
            with mirrored.opened_source(args, told, pause) as source:
                return _mirror(args, source, told, stop)
        except Stopped:
            print("sigla: Stopped before all was here: run it again, and it goes on.", file=sys.stderr)
            return INTERRUPTED


@contextmanager
def _stopping() -> Iterator[Stop]:
    stop = Stop()
    before = [(each, signal.signal(each, stop.asked)) for each in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield stop
    finally:
        for each, handler in before:
            signal.signal(each, handler)


def _interrupted_by(stop: Stop, shown: "Progress") -> "Progress":
    def told(what: str, done: int, total: int = 0, /) -> None:
        if stop.is_set():
            raise Stopped
        shown(what, done, total)

    return told


def _mirror(args: argparse.Namespace, source: "Source", told: "Progress", stop: Stop) -> int:
    from sigla import opening
    from sigla.cli import mirror_ending, topics
    from sigla.cli.mirror_told import in_step, shown_source
    from sigla.upkeep import mirroring
    from sigla.upkeep.importing import SIDE_BY_SIDE

    address = place.address(args)
    with stop.reading():
        state = source.first()
    with place.explained(address), opening.writing(address, "mirror") as writing:
        place.tell_lost_catalog(writing.store, address)
        try:
            resumed = mirroring.begin(writing.registry)
        except mirroring.NotAMirror:
            raise Misuse(
                f"{address} holds schemas and is not a mirror, or was moved over: a mirror would remove what the "
                "source lacks. Name a registry that is empty, or bring the source into this one with `sigla import`."
            ) from None
        print(f"{'Going on' if resumed else 'Beginning'}: {address} mirrors {shown_source(args.source)}.", flush=True)
        threads = SIDE_BY_SIDE if opening.is_shared(address) else 1
        mirror = mirroring.Mirror(writing.registry, writing.store.group, threads, args.i_mean_it, told)
        every = EVERY_S if args.every is None else args.every
        run = Run(source, mirror, stop, 0.0 if topics.is_topic(args.source) else every)
        run.turn(state)
        print(in_step(state, complete=run.complete), flush=True)
        if args.once:
            return int(not run.complete)
        if not args.cut_over:
            return run.follow()
        ending = mirror_ending.Ending(run, args.source, stopped=args.source_stopped)
        return run.cut_over(args.source, address) if ending.wait() else 0


@dataclass(slots=True)
class Run:
    """pause_s: between two looks at the source. state: what was brought last. due: what a turn failed to bring.

    complete: nothing was left out.
    """

    source: "Source"
    mirror: "Mirror"
    stop: Stop
    pause_s: float
    state: "State" = field(init=False)
    due: "State | None" = None
    complete: bool = True

    def turn(self, state: "State") -> None:
        """Tells what was done, and why something was not. Raises TooMuch, StoreError."""
        from sigla.cli.mirror_told import lines
        from sigla.upkeep.mirroring import TooMuchGone

        try:
            tally = self.mirror.turn(state)
        except TooMuchGone as much:
            raise TooMuch(
                f"The source lacks {much.gone} of the {much.stored} subjects that stand here, and nothing was written: "
                "if it is the right one, add --i-mean-it."
            ) from None
        for line in lines(tally, self.mirror.resources.clock.now()):
            print(line, flush=True)
        self.complete &= tally.is_complete
        self.state = state

    def look(self) -> bool:
        """Whether something was new at the source, and is here now.

        A source tells it once: where the turn fails, it is due, whether or not the source answers any more.
        """
        was_due = self._bring_due()
        with self.stop.reading():
            self.due = self.source.next()
        return self._bring_due() or was_due

    def _bring_due(self) -> bool:
        if self.due is None:
            return False
        self.turn(self.due)
        self.due = None
        return True

    def follow(self) -> int:
        with suppress(Stopped):
            while not self.stop.wait(self.pause_s):
                with tried_again(self.stop):
                    self.look()
        print("Stopped: run it again, and it goes on.", flush=True)
        return 0

    def cut_over(self, source: str, address: "Address") -> int:
        """1 if something is left, and nothing was moved over."""
        from sigla.cli.mirror_told import moved
        from sigla.upkeep.mirroring import cut_over, read_only

        if self.mirror.is_of_before():
            self.turn(self.state)
        if not (self.complete or self.mirror.may_remove):
            print(
                "sigla: Nothing was moved over, as something could not be brought, for the reasons above. Change it at "
                "the source and run this again, or add --i-mean-it to move over without it.",
                file=sys.stderr,
            )
            return 1
        cut_over(self.mirror.resources, self.state)
        print(moved(source, self.state, read_only(self.state), address), flush=True)
        return 0


@contextmanager
def tried_again(stop: Event) -> Iterator[None]:
    """A source or a store that does not answer now, or otherwise than before, is told, and asked again soon."""
    from sigla.errors import StoreError, Unusable

    try:
        yield
    except (Unusable, TooMuch):
        raise
    except (Misuse, Refused, StoreError) as problem:
        print(f"sigla: {str(problem).rstrip('.')}. It is tried again.", file=sys.stderr, flush=True)
        stop.wait(AGAIN_S)
