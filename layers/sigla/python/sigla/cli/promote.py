"""`sigla promote`: the follower of two regions becomes the primary."""

import argparse
import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from sigla.cli import progress
from sigla.cli.asking import add_yes_option, asking
from sigla.cli.credentials import add_user_option
from sigla.cli.misuse import Misuse, Refused, check_has_effect
from sigla.cli.regions_told import (
    shown_time,
    tell,
    tell_adopted,
    tell_how_it_comes_back,
    tell_of_force,
    tell_without_ids,
)
from sigla.cli.served_regions import are_served, check_url, promote_served
from sigla.cli.stored_regions import (
    OF_STORES,
    address_of_region,
    adopt_keys,
    check_is_lost,
    check_one_registry,
    opened_pair,
    opened_region,
    refusals,
    tell_to_follow,
)
from sigla.terminal.addresses import add_registry_option
from sigla.terminal.arguments import name_argument

if TYPE_CHECKING:
    from sigla.opening import TwoRegions
    from sigla.ports.regions import Roles
    from sigla.ports.store import Store
    from sigla.regions.nouns import Role
    from sigla.settings import Address

DESCRIPTION = """\
The follower of two regions becomes the primary, and the primary its follower. No write is lost: the primary is closed,
what it has committed is brought, both are compared, and only then does the follower take writes. For these
seconds no region takes any. Clients need no new configuration.

  sigla promote http://second.example:8081
  sigla promote 'dynamodb+s3://TABLE/BUCKET?region=eu-central-1' \\
        --primary 'dynamodb+s3://TABLE/BUCKET?region=eu-west-1'

It may be cut off anywhere: run it again, or take it back with --undo as long as the follower is not the primary.
--force is for a primary that is lost. Servers, and stores in AWS, are promoted while they run; the directories of
stopped servers by file:DIR.
"""

EPILOG = """\
Exit status: 0 done, or nothing to do. 1: it could not be done now, and the sentence says what is so and what to do.
2: nothing was changed. docs/regions.md is the run book.
"""

CLOSING_S = 5.0
"""For so long a primary that is passed over is tried to be closed."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "promote",
        help="make the follower of two regions the primary",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "follower", type=name_argument, metavar="URL", help="the follower: http://HOST:PORT, or its store"
    )
    parser.add_argument(
        "--primary",
        type=name_argument,
        metavar="URL",
        help="the store of the primary; --force goes without it, and so does a server, which knows it",
    )
    parser.add_argument(
        "--url",
        type=name_argument,
        metavar="URL",
        help="where the old primary reaches the new one, which it follows from then on (a server: the URL above)",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--force", action="store_true", help="the primary is lost: go on with what the follower has")
    how.add_argument("--undo", action="store_true", help="take back a promotion that was cut off")
    add_user_option(parser)
    add_registry_option(parser)
    add_yes_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    from sigla.errors import StoreError

    if args.force or args.undo:
        check_has_effect(args, {"url": "it is for a planned promotion, after which the old primary follows"})
    if are_served([args.follower, *([args.primary] if args.primary else [])]):
        return promote_served(args)
    here = address_of_region(args.follower, args.registry)
    if here.scheme != "file":
        check_has_effect(args, {"url": "tables know each other by the URLs of their stores"})
    if here.scheme != "file" or not args.force:  # by force, the server of the other directory may be asked
        check_has_effect(args, OF_STORES)
    if args.primary is None:
        if not args.force:
            raise Misuse("--primary is missing: name the store of the region that takes writes now.")
        with refusals(), opened_region(here) as store:
            return _force(args, here, store, None)
    there = address_of_region(args.primary, args.registry)
    if here.scheme == there.scheme == "file" and not (args.force or args.undo):
        if not args.url:
            raise Misuse("--url is missing: say where the new primary will be served, as http://HOST:PORT.")
        check_url(args.url)
    with refusals(), opened_pair(here, there) as regions:
        with suppress(StoreError) if args.force else nullcontext():
            check_one_registry(regions)
        if args.undo:
            return _undo(regions, there)
        if args.force:
            return _force(args, here, regions.here, regions.there.region)
        return _planned(args, here, there, regions)


def _planned(args: argparse.Namespace, here: "Address", there: "Address", regions: "TwoRegions") -> int:
    from sigla.errors import StoreError
    from sigla.regions import promotion
    from sigla.regions.giving import carried_out

    role = regions.here.region.role()
    if role is None or not role.writes:  # else all that may be left is that the other one follows it
        _tell_what_is_not_compared(regions, here, there)
        tell(
            f"{here} is to become the primary, and {there} to follow it. No region takes writes for some seconds then."
        )
        if not asking(args)("Promote it?"):
            raise Refused("Nothing was changed.")
    url, at = regions.pair.urls or (args.url, "")
    done = carried_out(
        promotion.planned(
            regions.here.region,
            regions.there.region,
            regions.pair.drain,
            rehearse=regions.pair.rehearse,
            token=secrets.token_hex(8),
            now=regions.here.clock.now(),
            url=url or "",
            at=at,
        )
    )
    if not done.changed:
        print(f"{here} is the primary of epoch {done.role.epoch} already: nothing to do.")
        return 0
    print(f"{here} is the primary of epoch {done.role.epoch}. Brought at the end: {done.brought} commits. Lost: none.")
    print(f"{there} follows it.")
    tell_to_follow(args.primary, args.follower)
    with suppress(StoreError):  # the next turn brings it
        regions.pair.bring_back()
    return 0


def _tell_what_is_not_compared(regions: "TwoRegions", here: "Address", there: "Address") -> None:
    """Only tables tell: a directory that no server has open runs nothing."""
    if regions.pair.urls:
        for address, store in ((here, regions.here), (there, regions.there)):
            if store.region.installed() is None:
                tell(f"{address} has not said of late what its stack runs: see to it that both run the same.")


def _undo(regions: "TwoRegions", there: "Address") -> int:
    from sigla.regions import promotion
    from sigla.regions.giving import carried_out

    done = carried_out(promotion.undone(regions.here.region, regions.there.region))
    print(f"{there} takes writes again." if done.changed else f"{there} takes writes: nothing to take back.")
    return 0


def _force(args: argparse.Namespace, here: "Address", store: "Store", primary: "Roles | None") -> int:
    from sigla import opening
    from sigla.regions import promotion

    role = store.region.role()
    if role is not None and role.writes:
        # One that was cut off has left this, perhaps.
        nothing = "" if adopt_keys(here, store) else ": nothing to do"
        print(f"{here} is the primary of epoch {role.epoch} already{nothing}.")
        if role.adopts and not role.reconciled:
            _tell_of_ids(here, store)
        return 0
    role = promotion.check_may_be_forced(role, store.clock.now())
    if role.is_closed:
        _check_other_is_lost(args, role, primary)
        primary = None  # what answers all the same is not in the way
    else:
        _check_not_left_behind(role, primary)
    tell_of_force(str(here), is_closed=role.is_closed)
    if not asking(args)("Promote it by force?"):
        raise Refused("Nothing was changed.")
    was_closed = _close(primary, role) if primary else ""
    done = opening.promote_by_force(here, store)
    print(f"{here} is the primary of epoch {done.role.epoch}, by force.")
    print(was_closed or "The other region was not asked to close: it may take writes until it is told of this epoch.")
    print(
        f"The newest commit here: {shown_time(store.journal.newest())}. Later ones of the other region may be missing."
    )
    known = role.other_url if role.other_url.startswith("dynamodb") else ""  # servers rejoin servers
    tell_how_it_comes_back(args.primary or known, args.follower)
    adopt_keys(here, store)
    for kept, number in store.region.kept().items():
        if number:
            print(f"{number} commits {kept}.")
    _tell_of_ids(here, store)
    return 0


def _tell_of_ids(here: "Address", store: "Store") -> None:
    """The promotion is done: this may fail, or be cut off, and be run again."""
    from sigla import opening
    from sigla.errors import StoreError
    from sigla.regions.giving import without_ids

    try:
        with progress.shown() as told:
            found = [*opening.adopted_ids(here, store, told)]
        waiting = without_ids(store.region)
    except StoreError as failed:
        print(f"Ids whose versions are missing could not be looked for ({failed}): run the command again to see them.")
        return
    tell_adopted(found)
    tell_without_ids(waiting)


def _check_not_left_behind(ours: "Role", primary: "Roles | None") -> None:
    """A primary that answers and is of a later epoch would close this region at once. Raises GivenUp."""
    from sigla.errors import StoreError
    from sigla.regions.refusals import GivenUp

    try:
        theirs = primary.role() if primary else None
    except StoreError:
        return
    if theirs is not None and theirs.epoch > ours.epoch:
        raise GivenUp(epoch=ours.epoch, theirs=theirs.epoch)


def _check_other_is_lost(args: argparse.Namespace, ours: "Role", other: "Roles | None") -> None:
    """Whether a primary that was closed may be opened. other: as `args` names it. Raises Misuse."""
    from sigla.errors import StoreError
    from sigla.regions.promotion import why_not_opened

    try:
        theirs = other.role() if other else None
    except StoreError:
        theirs = None
    if theirs is not None and (why := why_not_opened(args.primary, theirs, ours)):
        raise Misuse(f"Nothing was changed. {why}")
    check_is_lost(args, ours.other_url, ours, why_not_opened)


def _close(primary: "Roles", ours: "Role") -> str:
    """What became of it, a sentence. Raises NotOneRegistry."""
    from sigla.errors import StoreError
    from sigla.regions import promotion
    from sigla.regions.giving import carried_out
    from sigla.regions.refusals import RoleChanged

    pool = ThreadPoolExecutor(1)
    try:
        closed = pool.submit(carried_out, promotion.passed_over(ours, primary)).result(CLOSING_S)
    except (StoreError, RoleChanged, TimeoutError) as silent:
        why = f" ({silent})" if str(silent) else ""
        return f"The other region could not be closed{why}: it may take writes until it is told of this epoch."
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return "The other region is closed." if closed else "The other region still takes writes."
