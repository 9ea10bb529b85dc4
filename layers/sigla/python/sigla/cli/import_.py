"""`sigla import`: everything another registry holds, as it holds it."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli import credentials, place, progress
from sigla.cli.misuse import Misuse, Refused, reading_remote

if TYPE_CHECKING:
    from sigla.journal.replay import State
    from sigla.ports.progress import Progress
    from sigla.registry.resources import Resources
    from sigla.settings import Address
    from sigla.upkeep.importing import Cases, Group, Report

DESCRIPTION = """\
Brings into a registry what another one holds, with its ids, versions, times, deletes, settings and contexts. Nothing
that stands here is overwritten: what is equal is identical, what is not is a conflict and is told. So it may be cut off
and begun again. The registry that is written to must not be served from a directory at the same time.

  sigla import records.jsonl.gz        a dump of the topic _schemas: what `sigla export`, `kcat -J` or Kafka's console
                                       consumer wrote, a record a line
  … | sigla import -                   the same, through a pipe
  sigla import journal/                every *.jsonl(.gz) below a directory: segments of a journal, from its bucket
  sigla import https://registry:8081   another registry, through its API
  sigla import kafka://HOST:9092/_schemas
                                       its topic, from a broker; needs `pip install 'sigla-registry[kafka]'`
"""

EPILOG = """\
0: all is here now. 1: some of it is not, because something else stands in its place or it had to be skipped, or a
registry or a store does not answer.
2: nothing could be imported.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "import",
        help="import another registry: from a dump of its topic, from the topic, or from its URL",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "source", metavar="FILE|DIR|URL", type=_source, help="the dump, topic or URL to import; `-` is standard input"
    )
    place.add_to(parser)
    credentials.add_user_option(parser)
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="for kafka://: settings of the consumer, such as credentials, as name=value lines",
    )
    parser.add_argument("--bodies", action="store_true", help="restore lost bodies of versions that are identical")
    parser.add_argument(
        "--raise-ids",
        action="store_true",
        help="import even where new ids would continue more than 1,000,000 above today's",
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing; report what an import would report")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def _source(text: str) -> str:
    """Raises ArgumentTypeError for the empty text of an unset variable."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty: name a file, a directory or a URL, or - for standard input")
    return text


def run(args: argparse.Namespace) -> int:
    """0, or 1 if something is in conflict. Raises Misuse, Refused."""
    from sigla.opening import is_shared
    from sigla.upkeep.importing import SIDE_BY_SIDE, import_state

    _check_options(args)
    address = place.address(args)
    with progress.shown() as told:
        state = _state(args, told)
        with place.explained(address), _opened(address, dry_run=args.dry_run) as (stores, group):
            if not args.raise_ids:
                _check_reach(stores, state)
            threads = SIDE_BY_SIDE if is_shared(address) else 1
            report = import_state(stores, state, group=group, threads=threads, bodies=args.bodies, progress=told)
    if not report.counts:
        report.remark("there was nothing to import", _number_read(state.records))
    if args.json:
        print(json.dumps({**report.form(), "dryRun": args.dry_run}))
    else:
        print("\n".join(_report_lines(report)))
    if report.lost:
        why = ", ".join(f"{count} × {why}" for why, count in report.lost.items())
        raise Refused(f"{sum(report.lost.values())} of the entries to import are missing: {why}.")
    return int(not report.is_complete)


def _check_options(args: argparse.Namespace) -> None:
    """Raises Misuse for an option that says nothing of such a source."""
    from sigla.cli import topics
    from sigla.remote import urls

    if args.settings and not topics.is_topic(args.source):
        raise Misuse(f"--settings is for sources that begin with {topics.SCHEME}: leave it out.")
    if args.user and not urls.is_url(args.source):
        raise Misuse("--user is for sources that begin with https://: leave it out.")


def _number_read(records: int) -> str:
    if not records:
        return "no record was read"
    return "1 record was read" if records == 1 else f"{records} records were read"


def _check_reach(stores: "Resources", state: "State") -> None:
    """Raises Misuse before anything is written."""
    from sigla.registry.steps.numbering import FURTHEST

    for context, id in state.highest.items():
        highest = stores.catalog.max_id(context)
        if id > highest + FURTHEST:
            raise Misuse(
                f"Id {id} of context {context} is more than {FURTHEST:,} above {highest}, the highest one here, and "
                "new ids would continue after it: add --raise-ids if you mean it. Nothing was imported."
            )


def _state(args: argparse.Namespace, told: "Progress") -> "State":
    from sigla.cli import dumps, topics
    from sigla.journal import replay
    from sigla.remote import client, state, urls

    if topics.is_topic(args.source):
        return replay.replayed(topics.read(args.source, topics.properties(args.settings), told))
    if urls.is_url(args.source):
        from sigla.stores.clock import SystemClock

        with reading_remote():
            return state.read(args.source, credentials.user_of(args, args.source), SystemClock(), told)
    path = None if args.source == "-" else Path(args.source)
    if path and not path.exists():
        shown = urls.shown_text(args.source)
        raise Misuse(f"File not found: {shown}, and it is not the URL of a registry: {client.FORM}.")
    return replay.replayed(dumps.read(path))


@contextmanager
def _opened(address: "Address", *, dry_run: bool) -> "Iterator[tuple[Resources, Group]]":
    from sigla import opening

    if dry_run:
        with opening.rehearsing(address) as rehearsed:
            yield rehearsed
    else:
        with opening.writing(address, "import") as writing:
            place.tell_lost_catalog(writing.store, address)
            yield writing.registry, writing.store.group


def _report_lines(report: "Report") -> Iterator[str]:
    from sigla.upkeep.importing import Outcome

    for outcome in Outcome:
        counted = ", ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in report.of(outcome).items())
        yield f"{outcome.value + ':':<13}{counted or 'nothing'}"
        for (of, why), cases in report.reasons.items():
            if of is outcome:
                yield from case_lines(why, cases)
    for why, cases in report.remarks.items():
        yield from case_lines(why, cases)


def case_lines(why: str, cases: "Cases") -> Iterator[str]:
    yield f"  {cases.count} × {why}"
    yield from (f"      {example}" for example in cases.examples)
    if cases.count > len(cases.examples):
        yield "      …"
