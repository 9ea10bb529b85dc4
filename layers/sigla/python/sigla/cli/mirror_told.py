"""What `sigla mirror` tells: a line for each turn, what to do before it can move over, what to do then."""

import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encoded

from sigla.cli import topics
from sigla.cli.import_ import case_lines
from sigla.remote import urls

if TYPE_CHECKING:
    from sigla.journal.replay import State
    from sigla.model import Subject
    from sigla.settings import Address
    from sigla.upkeep.mirroring import Tally

MOST_NAMED = 3
MOST_COMMANDS = 10


def lines(tally: "Tally", now: int) -> Iterator[str]:
    """What a turn has done, and why something was not done. now: milliseconds since the epoch."""
    if not tally.is_quiet:
        yield f"{_date(now)} {_told(tally)}"
    for (_, why), cases in tally.report.reasons.items():
        yield from case_lines(why, cases)
    for why, cases in tally.report.remarks.items():
        yield from case_lines(why, cases)


def _date(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _told(tally: "Tally") -> str:
    """`brought 3 versions, 1 config; removed 1 version`."""
    parts = {"brought": tally.brought, "changed": tally.changed, "removed": tally.removed}
    return "; ".join(
        f"{done} " + ", ".join(_counted(number, kind) for kind, number in counted.items() if number)
        for done, counted in parts.items()
        if any(counted.values())
    )


def size(state: "State") -> str:
    return f"{_counted(len(state.subjects), 'subject')}, {_counted(sum(map(len, state.subjects.values())), 'version')}"


def in_step(state: "State", *, complete: bool) -> str:
    """What is told after the first turn. state: that of the source, which stands here as well if all was brought."""
    if complete:
        return f"In step: {size(state)}."
    return f"Not in step: the source has {size(state)}, and some of them are not here, for the reasons above."


def _counted(number: int, kind: str) -> str:
    return f"{number} {kind}{'s' * (number != 1)}"


def shown_source(source: str) -> str:
    return source if topics.is_topic(source) else urls.shown_text(source)


def freeze(source: str, left: "Sequence[Subject]", scopes: "Sequence[Subject]") -> str:
    """left: what takes writes still. scopes: whose modes are to be READONLY, so that it does not."""
    url = "https://SOURCE" if topics.is_topic(source) else shown_source(source).rstrip("/")
    put = """-X PUT -H 'Content-Type: application/json' -d '{"mode": "READONLY"}'"""
    return "\n".join(
        (
            f"The source takes writes still: {_shown_scopes(left)}. Make it READONLY when you are ready to move over:",
            *(f"  curl {put} {shlex.quote(url + _path_of_mode(scope))}" for scope in scopes[:MOST_COMMANDS]),
            *(["What is left then is told with its commands."] if len(scopes) > MOST_COMMANDS else []),
        )
    )


def _path_of_mode(scope: "Subject") -> str:
    return f"/mode/{percent_encoded(scope.qualified, safe=':')}".rstrip("/")


def _shown_scopes(scopes: "Sequence[Subject]") -> str:
    more = f" and {len(scopes) - MOST_NAMED} more" if len(scopes) > MOST_NAMED else ""
    return ", ".join(scope.qualified or "the default context" for scope in scopes[:MOST_NAMED]) + more


def late(source: str, behind_ms: int) -> str:
    return (
        f"{shown_source(source)} follows another registry, and what it has is up to {-(-behind_ms // 1000)} s old: "
        "this waits until it has all that was written there before. With the URL of the primary it need not wait."
    )


def silent(source: str, since: int, for_ms: int, *, stopped: bool) -> str:
    """since: milliseconds since the epoch. stopped: whether that was said of the source."""
    told = (
        f"{shown_source(source)} has had no news for {for_ms // 60_000} minutes: what was written after {_date(since)} "
        "may be missing here."
    )
    return told if stopped else f"{told} If the registry is stopped for good, run this again with --source-stopped."


def moved(source: str, state: "State", read_only: "Sequence[Subject]", address: "Address") -> str:
    """read_only: what takes no writes all the same. address: of the registry that does from now on."""
    old = "the old registry" if topics.is_topic(source) else shown_source(source)
    kept = f"READONLY here, as there: {_shown_scopes(read_only)}. PUT /mode/NAME gives each another mode."
    serve = f"Serve it: sigla serve --data {shlex.quote(address.path)}"
    return "\n".join(
        (
            f"Moved over: {size(state)}. This registry takes writes now.",
            *([kept] if read_only else []),
            *([serve] if address.scheme == "file" else []),
            f"At each client, put its URL in the place of {old}: `schema.registry.url` for Java, Connect and Streams,",
            "`url` or `baseURLs` elsewhere (docs/migrate.md). Ids are the same: clients may change one by one.",
            "Leave the old one READONLY until nothing asks it any more.",
        )
    )
