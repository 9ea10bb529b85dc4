"""`sigla regions follow`: a registry in AWS gets a second region, which is kept in step from here."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from sigla.cli.asking import asking
from sigla.cli.misuse import Misuse, Refused, check_has_effect
from sigla.cli.regions_told import SHOWN_ALONE, shown_time, tell
from sigla.cli.stored_regions import OF_STORES, address_of_region, opened_region, refusals

if TYPE_CHECKING:
    from sigla.settings import Address
    from sigla.stores.dynamodb.store import AwsStore

PERIOD_S: Final = 60
PATIENCE_MS: Final = 60_000
"""A commit that waits for longer is told by the exit status."""


def follow(args: argparse.Namespace, urls: list[str]) -> int:
    """0; 1 where something waits or diverges after one turn. Raises Misuse, Refused."""
    if len(urls) != 2:
        raise Misuse("Give the store of the follower and that of the primary: sigla regions follow FOLLOWER PRIMARY.")
    check_has_effect(args, OF_STORES | {"json": SHOWN_ALONE})
    here, there = (address_of_region(url, args.registry) for url in urls)
    for address in (here, there):
        if address.scheme != "dynamodb+s3":
            raise Misuse(f"{address} is a directory, and this command is for tables of DynamoDB.")
    with refusals(), opened_region(here) as one, opened_region(there) as other:
        target, source = cast("AwsStore", one), cast("AwsStore", other)
        _check_or_arm(args, (here, target), (there, source))
        while True:
            turn = _turn(target, source)
            if args.once:
                return 0 if turn.is_well else 1
            try:
                if not turn.copies:
                    target.clock.sleep(PERIOD_S)
            except KeyboardInterrupt:
                return 0


def _check_or_arm(
    args: argparse.Namespace, here: "tuple[Address, AwsStore]", there: "tuple[Address, AwsStore]"
) -> None:
    """Raises Misuse, Refused, NotPromoted."""
    from sigla.regions.arming import check_may_be_armed
    from sigla.regions.nouns import RegionKind
    from sigla.regions.refusals import GivenUp
    from sigla.stores.dynamodb.arming import give_second_region

    (follower, target), (primary, source) = here, there
    role, theirs = target.region.role(), source.region.role()
    if role is not None and role.kind is RegionKind.PRIMARY:
        raise Misuse(f"{follower} is the primary of epoch {role.epoch}: name the stores the other way round.")
    if role is not None and theirs is not None and not theirs.is_alone:
        return
    if theirs is not None:
        check_may_be_armed(theirs)
        if role is not None and (role.epoch or role.name in theirs.given_up):
            raise GivenUp(epoch=role.epoch, theirs=theirs.epoch)
    if role is None and not target.catalog.is_empty():
        raise Misuse(f"{follower} has schemas of its own: only an empty store joins a registry.")
    tell(f"{primary} gets a second region, {follower}: a copy of all that it has, kept in step as long as this runs.")
    if theirs is None:
        tell("It goes on as before, but each commit looks at the role, and a second region cannot be taken away again.")
    if not asking(args)("Give it one?"):
        raise Refused("Nothing was changed.")
    give_second_region(source, target)


class _Turn(NamedTuple):
    """is_well: nothing has to be looked into. copies: the next one is to go on at once."""

    is_well: bool
    copies: bool = False


def _turn(here: "AwsStore", there: "AwsStore") -> _Turn:
    from sigla.errors import StoreError
    from sigla.stores.dynamodb.region_turns import STOPS, RegionTurns

    turns = RegionTurns(there, here), RegionTurns(here, there)
    try:
        led, followed = (dict[str, Any](turn()) for turn in turns)
    except StoreError as silent:
        print(f"{shown_time(here.clock.now())}  {silent}", flush=True)
        return _Turn(is_well=False)
    print(f"{shown_time(here.clock.now())}  {_line(led, followed)}", flush=True)
    stopped = any(followed.get(what) for what in ("apart", "unread"))
    stopped = stopped or any(did.get(why) for did in (led, followed) for why in STOPS)
    waits = followed.get("waiting_ms", 0) >= PATIENCE_MS
    return _Turn(is_well=not (stopped or waits), copies="subjects" in followed)


def _line(led: Mapping[str, Any], followed: Mapping[str, Any]) -> str:
    """What became of the turns of both."""
    if led.get("closed"):
        return "The other region was promoted, and this one is closed."
    if led.get("elsewhere"):
        return "The primary knows another second region than this one."
    if led.get("restored") or followed.get("restored"):
        return "A table was restored to an earlier moment: `sigla rejoin` brings it back."
    if followed.get("given_up"):
        return "The follower was given up: `sigla rejoin` has it follow again."
    if followed.get("lapsed"):
        return "The follower was not kept in step for too long: `sigla regions dismiss`, then `sigla rejoin` for it."
    if followed["role"] == "joining":
        if followed["copied"]:
            return "The copy is complete."
        if "subjects" in followed:
            return f"Copying: {followed['subjects']:,} subjects and {followed['objects']:,} objects are here so far."
        return "Copying. It begins 20 minutes after the first role."
    if followed["role"] != "follower" or "behind_ms" not in followed:
        return f"The follower is {followed['role']} of epoch {followed['epoch']} now."
    said = f"{followed['carry_out']} commits brought; complete up to {followed['behind_ms'] / 1000:.0f} s ago."
    for what, kept in (
        ("wait", followed["waiting"]),
        ("diverge", followed["apart"]),
        ("cannot be read", followed.get("unread", 0)),
    ):
        said += f" {kept} {what}." * bool(kept)
    return said
