"""The first twenty minutes of a deployed registry: asks all that emulators hide, and prints pass, FAIL and figures.

    make first-day STAGE=prod                       the stack of stages/prod.toml, in your own account
    make first-day ARGS="--stack sigla-default"     a stack by its name
    make first-day ARGS="--url https://…"           a registry of which a URL is all that is known
    make first-day ARGS=--localstack                the one that `make localstack` has deployed

It writes into the context `.sigla-first-day` alone, and removes all of it at its end. docs/first-day.md says what each
line means.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from infra.first_day import places
from infra.first_day.asking import Failed
from infra.first_day.checks import CHECKS
from infra.first_day.day import FAIL, NOT_ASKED, PASS, PREFIX, Check, Day, Result, asked
from infra.first_day.places import Misuse, Place
from localstack.server import PORT

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """The command: 0 if all that was asked is well, 1 if something failed, 2 if it cannot be asked."""
    options = _options().parse_args(argv)
    try:
        place = _place(options).by(options.door)
    except Misuse as problem:
        print(problem, file=sys.stderr)
        return 2
    with _progress() as tell:
        day = Day(place.doors, place.account, options.samples, options.burst, not options.no_job, tell)
        return run(day, place, CHECKS)


def run(day: Day, place: Place, checks: Sequence[Check]) -> int:
    """The exit status, once everything is asked, told and removed."""
    for door in day.doors:
        print(f"{door.name:<10} {door.url} ({door.kind.name})")
    for line in place.unreached:
        print(line)
    print()
    results, status = [], 0
    try:
        for check in checks:
            for result in asked(check, day):
                results.append(result)
                day.tell("")
                print(result, flush=True)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        status = INTERRUPTED
    removed = _cleared(day)
    _summary(day, results)
    return status or int(not removed or any(result.verdict == FAIL for result in results))


def _cleared(day: Day) -> bool:
    try:
        day.clear_up()
    except (Failed, KeyboardInterrupt) as failure:
        reason = failure if isinstance(failure, Failed) else "interrupted during the removal"
        print(f"{FAIL}  {reason}; delete the subjects that begin with {PREFIX}, first softly, then permanently")
        return False
    return True


def _summary(day: Day, results: Sequence[Result]) -> None:
    if day.figures:
        print("\nMilliseconds, measured on this machine:")
        print(f"{'door':<12} {'what':<22} {'requests':>8} {'p50':>8} {'p99':>8} {'slowest':>8}")
    for figure in day.figures:
        p50, p99, slowest = (f"{figure.quantile(share):,.0f}" for share in (0.5, 0.99, 1))
        print(f"{figure.door:<12} {figure.what:<22} {len(figure.ms):>8} {p50:>8} {p99:>8} {slowest:>8}")
    count = {verdict: sum(result.verdict == verdict for result in results) for verdict in (PASS, FAIL, NOT_ASKED)}
    print(f"\n{count[PASS]} passed, {count[FAIL]} failed, {count[NOT_ASKED]} not asked.")


def _place(options: argparse.Namespace) -> Place:
    """Raises Misuse."""
    if options.localstack is not None:
        return places.of_localstack(options.localstack)
    key = places.key_of(options.user)
    if options.url:
        return places.of_urls(options.url, key)
    if options.stage:
        return places.of_a_stage(options.stage, key)
    return places.of_a_stack(options.stack, key)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make first-day", description="Checks that a deployed registry keeps its promises"
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--stage", metavar="NAME", help="the stack of stages/NAME.toml, in the account of your credentials"
    )
    where.add_argument("--stack", metavar="STACK", help="a stack in that account, by its name")
    where.add_argument("--url", action="append", metavar="URL", help="a URL of the registry; can be repeated")
    where.add_argument(
        "--localstack", nargs="?", type=int, const=PORT, metavar="PORT", help="what `make localstack` deployed"
    )
    parser.add_argument(
        "--user", default="", metavar="KEY:SECRET", help="an administrator's API key (SCHEMA_REGISTRY_USER)"
    )
    parser.add_argument(
        "--door",
        action="append",
        default=[],
        metavar="DOOR",
        help="check this door only, for example rest; can be repeated",
    )
    parser.add_argument("--samples", type=_count, default=200, metavar="N", help="number of timed reads (%(default)s)")
    parser.add_argument(
        "--burst", type=_count, default=0, metavar="N", help="send up to N requests to test throttling (none)"
    )
    parser.add_argument("--no-job", action="store_true", help="start no job on EMR Serverless")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """On a terminal a line that is written over, for a person who waits; nothing in a pipe."""
    seen = sys.stderr.isatty()

    def tell(step: str) -> None:
        if seen:
            sys.stderr.write(f"\r\033[K{step[:100]}\r")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        tell("")


if __name__ == "__main__":
    sys.exit(main())
