"""What the commands of two regions say alike."""

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sigla.regions.nouns import Role, Trace

MAY_BE_LOST: Final = (
    "deletes, config, modes, version numbers, further subjects of known schemas, lists of contexts and associations"
)

SHOWN_ALONE: Final = "what `sigla regions` shows is printed as JSON, and nothing else"
"""Why --json has no effect (`check_has_effect`)."""
ADOPTED_SHOWN: Final = 20
CONTEXTS_SHOWN: Final = 3
LEFT_SHOWN: Final = 20


class RegionsShown(NamedTuple):
    """What `sigla regions` shows. regions: each that answers, as for programs.

    missing: what the first one lacks of the second one; None where they are not compared. held_up: what the primary
    refuses, as of `RegionPair`. silent: which do not answer, and what to do. are_one: whether they may be of one
    registry.
    """

    regions: "list[dict[str, Any]]"
    missing: "list[str] | None" = None
    held_up: "Sequence[str]" = ()
    silent: "Sequence[str]" = ()
    are_one: bool = True


def shown_time(at: int) -> str:
    """Milliseconds since the epoch, for people."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else "never"


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def form_of_role(role: "Role | None", out: "Sequence[Trace] | None" = None) -> dict[str, Any]:
    """A role as `sigla regions --json` tells it. out: those regions, as heard of last."""
    if role is None:
        return {"role": None}
    return {
        "role": role.kind.value,
        "epoch": role.epoch,
        "open": role.writes,
        "peer": str(role.peer),
        "reconciled": role.reconciled,
        "out": [each._asdict() for each in (role.out if out is None else out)],
    }


def shown_traces(traces: "Sequence[Mapping[str, Any]]") -> str:
    """Regions that are out, for people who never saw the names that they have drawn."""
    return " and ".join(map(_shown_trace, traces)) or "that region"


def _shown_trace(trace: "Mapping[str, Any]") -> str:
    where = f", served at {trace['url']}" if trace["url"] not in ("", trace["name"]) else ""
    when = f", heard of last at {shown_time(trace['seen'])}" if trace["seen"] else ""
    return f"{trace['name']}{where}{when}"


def tell_of_abandonment(here: str, given_up: "Trace") -> str:
    """What it means to give a region up; what is to be asked."""
    tell(f"{given_up.name} never comes back. What it had and {here} lacks is lost: the schemas that it alone has")
    tell("acknowledged, and what records with their ids mean. Imports may give those ids another meaning here.")
    return f"Give up {shown_traces([given_up._asdict()])}?"


def tell_abandoned(here: str, given_up: "Trace | None") -> int:
    """0. given_up: None where nothing was changed."""
    if given_up is None:
        print("Nothing is left to be given up: nothing was changed.")
        return 0
    print(f"{given_up.name} is given up. Imports into {here} may bring its ids with another meaning from now on.")
    if given_up.url.startswith("dynamodb"):
        print("If its stack comes back, keep clients away from it: it takes writes until it reads of this, within a")
        print("minute, and what it takes until then stays there.")
    elif given_up.has_url:
        print(
            f"Do not start its server at {given_up.url} again: it would be closed, but what it takes until then stays."
        )
    return 0


def told_if_other_is_lost(url: str, role: "Role | None") -> list[str]:
    """What is to be done with the region at a URL if the other one, which does not answer, is lost for good."""
    from sigla.regions.nouns import RegionKind

    if role is None:
        return []
    if role.kind is RegionKind.FOLLOWER or (role.is_closed and role.reconciled and role.peer):
        words = ["sigla", "promote", url, "--force"]
    elif role.writes and role.is_followed:
        words = ["sigla", "regions", "dismiss", url]
    else:
        return []
    return [f"If that region is lost: {shlex.join(words)}"]


def tell_of_force(here: str, *, is_closed: bool = False) -> None:
    """What a forced promotion means, before it is asked for. is_closed: whether it is a primary that was closed."""
    becomes = "is a primary that was closed. It is to take writes again" if is_closed else "is to become the primary"
    tell(f"{here} {becomes} with what it has, and cannot go back then.")
    tell(f"Until the other region has rejoined this may be missing of what it acknowledged last: {MAY_BE_LOST}.")


def tell_how_it_comes_back(other: str, here: str) -> None:
    """Says what to run after a promotion by force. other: the URL of the other region; empty where it is not known."""
    print(f"When it is there again: {shlex.join(['sigla', 'rejoin', other or 'URL', '--primary', here])}")


def tell_of_an_older_copy() -> None:
    """Before a follower is promoted by force that cannot know whether it is one."""
    tell("It has not heard from its primary since it was started. If its directory is a copy, or was brought back from")
    tell("an earlier moment, it may give ids that mean something already: have it follow once more first.")


def tell_adopted(sentences: "Sequence[str]") -> None:
    """Which ids mean something though their versions did not come, the first of them by name."""
    for each in sentences[:ADOPTED_SHOWN]:
        print(each)
    if len(sentences) > ADOPTED_SHOWN:
        print(f"So do {len(sentences) - ADOPTED_SHOWN} more ids.")


def tell_without_ids(contexts: "Sequence[str]") -> None:
    if contexts:
        shown = ", ".join(contexts[:CONTEXTS_SHOWN])
        more = f" and {len(contexts) - CONTEXTS_SHOWN} more" if len(contexts) > CONTEXTS_SHOWN else ""
        print(
            f"No new id is given in context {shown}{more} until the other region has rejoined, or is given up by "
            "`sigla regions abandon`: it may have given all of this epoch's block there."
        )


def tell_of_dismissal(here: str, role: "Role", theirs: "Role | None") -> None:
    """What it means to give up the region that follows, before it is asked for.

    role: of the one at `here`. theirs: of the one that follows; None where it does not answer.
    """
    follower = _shown_trace({"name": str(role.peer), "url": role.at, "seen": 0})
    if theirs is None:
        tell(f"{follower}, which follows {here}, is lost for good: it is refused from then on, and another one may")
        tell(f"begin to follow. New ids of {here} begin higher, so that none is given twice should that region take")
        tell("writes.")
    else:
        tell(f"{follower}, which follows {here}, is not lost: it answers, as the {theirs.shown_kind} of epoch")
        tell(f"{theirs.epoch}. It is refused from then on: it answers reads with what it has by then, and sends on the")
        tell(f"rest. Another one may begin to follow. New ids of {here} begin higher.")


def tell_dismissed(here: str, role: "Role | None", theirs: "Role | None") -> int:
    """0. role: of the region at `here`, before; None where nothing was changed. theirs: as of `tell_of_dismissal`."""
    if role is None:
        print("No region follows: nothing was changed.")
        return 0
    if here.startswith("dynamodb"):
        print(f"{role.peer} is given up: another region may follow, by `regions.peer` of the stage file, or with")
        print("`sigla regions follow` and an empty store.")
    else:
        print(
            f"{role.peer} is given up: another region may follow, with `sigla serve --follow` and an empty directory."
        )
    if theirs is not None:
        back = shlex.join(["sigla", "rejoin", role.other_url, "--primary", here])
        print(f"It answers still. Stop it, or have it follow again: {back}")
    return 0


def check_report(report: "Path") -> None:
    """Whether a line can be put at its end, before anything is done that it is to tell of. Raises OSError."""
    is_new = not report.exists()
    report.open("a").close()
    if is_new:
        report.unlink()


def put_into_report(report: "Path", line: dict[str, Any]) -> None:
    """A line at the end of what a region that comes back is told of."""
    with report.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def tell_brought(commits: int, old: str, new: str) -> None:
    print(f"{commits} commits of {old} were missing at {new}{', and were brought' if commits else ''}.")


def tell_left(left: "Sequence[str]", report: "Path") -> None:
    """What was not brought as it was: the first of it by name, and where all of it stands."""
    for line in left[:LEFT_SHOWN]:
        print(f"  {line}")
    if len(left) > LEFT_SHOWN:
        print(f"  and {len(left) - LEFT_SHOWN} more.")
    if left:
        print(f"{len(left)} of them were not brought as they were: {report} has all of them by name, at its end.")
