"""`sigla rejoin`: a region comes back that was passed over by a forced promotion."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sigla.cli.asking import add_yes_option, asking
from sigla.cli.credentials import add_user_option
from sigla.cli.misuse import Refused, check_has_effect
from sigla.cli.regions_told import check_report, put_into_report, shown_time, tell, tell_brought, tell_left
from sigla.cli.served_regions import are_served, rejoin_served
from sigla.cli.stored_regions import (
    OF_STORES,
    address_of_region,
    adopt_keys,
    check_one_registry,
    opened_pair,
    refusals,
    tell_to_follow,
)
from sigla.terminal.addresses import add_registry_option
from sigla.terminal.arguments import name_argument, path_argument

if TYPE_CHECKING:
    from sigla.opening import TwoRegions
    from sigla.settings import Address

DESCRIPTION = """\
A region comes back that was passed over by `sigla promote --force`. It is closed. What it has committed and the primary
lacks is brought there: versions whose number is free, with their ids; of all others the id, so that records stay
readable; keys, contexts and associations where nothing is in their way. Deletes, config, modes and exporters are not:
the report names each. Then the region forgets its catalog, and follows the primary from the beginning.

  sigla rejoin http://first.example:8081 --primary http://second.example:8081
  sigla rejoin 'dynamodb+s3://TABLE/BUCKET?region=eu-west-1' \\
        --primary 'dynamodb+s3://TABLE/BUCKET?region=eu-central-1'

It may be cut off anywhere: run it again.
"""

HEARD_S: Final = 90.0
"""After so long every environment of a function knows that its region joins: what it remembers for a minute
(`regions.standing`), and half a minute more for the requests that are under way. Until then it answers from its rows.
"""

EPILOG = """\
Exit status: 0 all that was missing is at the primary, 1 something could not be brought, or a store does not answer,
2 nothing was changed. docs/regions.md is the run book.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "rejoin",
        help="bring a region back that was passed over by a forced promotion",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "old", type=name_argument, metavar="URL", help="the region that comes back: http://HOST:PORT, or its store"
    )
    parser.add_argument(
        "--primary",
        type=name_argument,
        required=True,
        metavar="URL",
        help="http://HOST:PORT, or a store",
    )
    parser.add_argument(
        "--url", type=name_argument, metavar="URL", help="of servers: where the old one reaches the primary"
    )
    parser.add_argument(
        "--report",
        type=path_argument,
        default=Path("rejoin.jsonl"),
        metavar="FILE",
        help="a line of JSON is put at its end, which tells what was not brought (default: ./rejoin.jsonl)",
    )
    add_user_option(parser)
    add_registry_option(parser)
    add_yes_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0, 1 if something could not be brought. Raises Misuse, Refused."""
    if are_served([args.old, args.primary]):
        return rejoin_served(args)
    check_has_effect(args, OF_STORES | {"url": "stores are named by their URLs, and no server is asked"})
    old, new = address_of_region(args.old, args.registry), address_of_region(args.primary, args.registry)
    with refusals(), opened_pair(new, old) as regions:
        check_one_registry(regions)
        return _rejoin(args, old, new, regions)


def _rejoin(args: argparse.Namespace, old: "Address", new: "Address", regions: "TwoRegions") -> int:
    from sigla.regions.giving import carried_out
    from sigla.regions.rejoining import rejoined

    pair, left = regions.pair, list[str]()
    then = "" if pair.forget is None else f" Then the catalog in {old} is forgotten, and it begins anew."
    tell(f"{old} is to be closed, and what {new} lacks to be brought there.{then}")
    if not asking(args)("Go on?"):
        raise Refused("Nothing was changed.")
    check_report(args.report)

    def bring() -> None:
        left.extend(_bring_missing(args.report, old, new, regions))

    def forget() -> None:
        tell(f"The catalog in {old} is forgotten in {HEARD_S:.0f} s, when all who answer from it know that it joins.")
        regions.here.clock.sleep(HEARD_S)
        if pair.forget is not None:
            pair.forget()

    forgets = pair.forget is not None
    here, there, urls = regions.here.region, regions.there.region, pair.urls
    if not carried_out(rejoined(here, there, bring=bring, forget=forget if forgets else None, tables=urls)):
        print(f"{old} joins or follows already: nothing to do.")
        return 0
    tell_left(left, args.report)
    if not forgets:
        print(f"{old} stays closed, and is not needed any more: a directory that follows begins with nothing.")
    else:
        print(f"{old} joins {new} with nothing in its catalog.")
        tell_to_follow(args.old, args.primary)
    return int(bool(left))


def _bring_missing(report: Path, old: "Address", new: "Address", regions: "TwoRegions") -> list[str]:
    """What could not be brought, a line each.

    The report is written before anything is marked: whoever is cut off in between has it twice.
    """
    from sigla.registry import Resources
    from sigla.upkeep.rejoining import merge

    pair, here = regions.pair, regions.here
    adopt_keys(new, here)
    missing = [*pair.missing()]
    pair.make_way(missing)
    done = merge(missing, regions.there.bodies, Resources(here.catalog, here.bodies, here.clock), group=here.group)
    unread = (f"a commit of {shown_time(at)} cannot be read: what it did there is not here" for at in pair.unread())
    left = [*done.left, *unread, *_lapsed_told(pair.lapsed_since())]
    put_into_report(report, {"region": str(old), "commits": done.commits, "report": done.report.form(), "left": left})
    pair.mark_brought(missing)
    tell_brought(done.commits, str(old), str(new))
    return left


def _lapsed_told(since: int) -> Iterator[str]:
    """since: as of `RegionPair.lapsed_since`."""
    if since:
        yield (
            f"commits after {shown_time(since)} may have gone from the journal of its table, where they are for 35 "
            "days, and are not here then: the segments in its bucket have them"
        )
