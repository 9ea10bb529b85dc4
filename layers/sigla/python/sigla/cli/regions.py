"""`sigla regions`: who takes writes, who follows, what is missing; `sigla regions abandon`, `dismiss` and `follow`."""

import argparse
import json
import shlex
from typing import TYPE_CHECKING, Any

from sigla.cli.asking import add_yes_option, asking
from sigla.cli.credentials import add_user_option
from sigla.cli.misuse import Misuse, Refused, check_has_effect
from sigla.cli.regions_told import (
    SHOWN_ALONE,
    RegionsShown,
    form_of_role,
    shown_time,
    shown_traces,
    tell_abandoned,
    tell_dismissed,
    tell_of_abandonment,
    told_if_other_is_lost,
)
from sigla.cli.served_regions import abandon_served, are_served, ask_before_dismissal, dismiss_served, show_served
from sigla.cli.stored_regions import (
    OF_STORES,
    address_of_region,
    adopt_keys,
    are_one_registry,
    check_is_lost,
    opened_pair,
    opened_region,
    refusals,
    role_there,
)
from sigla.terminal.addresses import add_registry_option
from sigla.terminal.arguments import name_argument

if TYPE_CHECKING:
    from sigla.ports.store import Store
    from sigla.regions.nouns import Role
    from sigla.settings import Address

DESCRIPTION = """\
Shows which of two regions takes writes, which follows, in which epoch, and when the newest commit of each was made.
With two URLs it also says what a forced promotion would lose at this moment.

  sigla regions URL              one region: http://HOST:PORT of a server, or a store
  sigla regions FOLLOWER PRIMARY both
  sigla regions abandon URL [NAME]
                                 a region that may have what the primary at the URL lacks never comes back: imports may
                                 then give its ids another meaning. NAME, or its URL, says which, where several are out
  sigla regions dismiss URL      the region that follows the primary at the URL is lost for good: another one may
                                 begin to follow it
  sigla regions follow FOLLOWER PRIMARY
                                 the registry in AWS at the second URL has a second region at the first one, which is
                                 kept in step each minute until Ctrl-C; with --once it is brought up to now. Also in
                                 the place of one that was given up
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "regions",
        help="show which region takes writes, and what the other one lacks",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "urls",
        type=name_argument,
        nargs="+",
        metavar="URL",
        help="http://HOST:PORT, file:DIR or dynamodb+s3://TABLE/BUCKET?region=NAME",
    )
    add_user_option(parser)
    add_registry_option(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--once", action="store_true", help="with follow: one turn, then end")
    add_yes_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused: also where regions were shown of two registries, or of which one is silent."""
    command, *urls = args.urls
    if command != "follow":
        check_has_effect(args, {"once": "it is for `sigla regions follow`"})
    if command in ("abandon", "dismiss"):
        check_has_effect(args, {"json": SHOWN_ALONE})
    if command == "abandon":
        return _abandon(args, urls)
    if command == "dismiss":
        return _dismiss(args, urls)
    if command == "follow":
        from sigla.cli.following import follow

        return follow(args, urls)
    if len(args.urls) > 2:
        raise Misuse("A registry has two regions: give one URL, or that of the follower and that of the primary.")
    shown = show_served(args) if are_served(args.urls) else _stores_shown(args)
    _show(args, shown)
    if shown.silent:
        raise Refused(" ".join(shown.silent))
    if not shown.are_one:
        raise Misuse("These are not regions of one registry, and nothing is compared: look at the URLs.")
    return 0


def _stores_shown(args: argparse.Namespace) -> RegionsShown:
    """Raises Misuse."""
    from sigla.regions.nouns import RegionKind

    check_has_effect(args, OF_STORES)
    addresses = [address_of_region(url, args.registry) for url in args.urls]
    shown: list[dict[str, Any]] = []
    silent, advice = [], []
    for url, address in zip(args.urls, addresses, strict=True):
        try:
            with opened_region(address) as store:
                role = store.region.role()
                shown.append(_region_report(address, store, role))
        except Refused as silence:
            silent.append(str(silence))
        else:
            advice += told_if_other_is_lost(url, role)
    if silent:
        return RegionsShown(shown, silent=silent + advice)
    if len(shown) == 1:
        return RegionsShown(shown)
    kinds = [each["role"] for each in shown]
    if None in kinds:
        return RegionsShown(shown, are_one=False)
    primary = RegionKind.PRIMARY.value
    follower_first = addresses[::-1] if kinds[0] == primary else addresses
    with refusals(), opened_pair(*follower_first) as regions:
        if not are_one_registry(regions):
            return RegionsShown(shown, are_one=False)
        neither_follows = kinds == [primary, primary]
        if neither_follows:
            return RegionsShown(shown)
        return RegionsShown(shown, [*regions.pair.would_be_lost()], [*regions.pair.held_up()])


def _show(args: argparse.Namespace, shown: RegionsShown) -> None:
    differing = None if shown.missing is None else _differing(shown.regions)
    if args.json:
        compared = {} if shown.missing is None else {"missing": shown.missing, "differing": differing}
        refused = {"held_up": shown.held_up} if shown.held_up else {}
        apart = {} if shown.are_one else {"one_registry": False}
        print(json.dumps({"regions": shown.regions} | compared | refused | apart))
        return
    _print(shown.regions, shown.missing)
    for sentence in shown.held_up:
        print(f"The primary refuses all changes under {sentence}")
    if differing:
        print("They do not run the same, and a planned promotion is refused until they do:")
        for sentence in differing:
            print(f"  {sentence}")


def _differing(shown: list[dict[str, Any]]) -> list[str] | None:
    """What a planned promotion would be refused for; None where one of the two does not say what it runs."""
    from sigla.regions.installed import Installed, unlike

    runs = [Installed(**region["installed"]) for region in shown if "installed" in region]
    return [*unlike(*runs)] if len(runs) == len(shown) else None


def _region_report(address: "Address", store: "Store", role: "Role | None") -> dict[str, Any]:
    from sigla.regions.installed import names_another

    form: dict[str, Any] = {"store": str(address), "newest": store.journal.newest(), **form_of_role(role)}
    if role is None:
        return form
    installed = store.region.installed()
    runs = {"installed": installed.compared, "setting": installed.peer} if installed else {}
    form |= {"at": role.at, "restored": role.is_restored, "kept": store.region.kept()} | runs
    is_stale = installed is not None and names_another(role, installed.peer)
    return form | ({"elsewhere": role.other_url} if is_stale else {})


def _print(shown: list[dict[str, Any]], missing: list[str] | None) -> None:
    from sigla.regions.installed import told_of_setting

    for region in shown:
        print(_name_of(region))
        print(f"  role     {_role_of(region)}")
        print(f"  newest   {shown_time(region['newest'])}")
        if "installed" in region:
            print(f"  runs     release {region['installed']['release']}")
        if "elsewhere" in region:
            print(f"  setting  {told_of_setting(region['setting'], region['elsewhere'])}")
        if region.get("behind_ms") is not None:
            print(f"  behind   {region['behind_ms'] / 1000:.1f} s at most")
        if region.get("problem"):
            print(f"  stopped  {region['problem']}")
        for what, number in region.get("kept", {}).items():
            if number:
                print(f"  waits    {number} commits {what}")
        if region.get("restored"):
            print("  stopped  its table was restored to an earlier moment: `sigla rejoin` brings it back")
        if not region.get("reconciled", True):
            _print_out(region)
    joining = [region for region in shown if region["role"] == "joining"]
    if missing is not None and joining:
        print(f"{_name_of(joining[0])} joins the other one: it can be promoted once its copy is complete.")
    elif missing is not None:
        print("A forced promotion would lose nothing now." if not missing else "A forced promotion would lose now:")
        for sentence in missing:
            print(f"  {sentence}")


def _print_out(region: dict[str, Any]) -> None:
    """What is to be brought before it is reconciled; where it takes writes, the command for each way that may go on."""
    here, out = _name_of(region), region["out"]
    if region["role"] == "primary" and not region["open"]:
        print("  closed   it takes no writes again before `sigla rejoin` has brought it back")
        return
    print(f"  out      {shown_traces(out)}: what is missing here may be there")
    if region["open"]:
        back = [["sigla", "rejoin", each["url"] or "URL", "--primary", here] for each in out]
        lost = ["sigla", "regions", "abandon", here, *(["NAME"] if len(out) > 1 else [])]
        for words in back:
            print(f"           if it comes back: {shlex.join(words)}")
        print(f"           if it never does: {shlex.join(lost)}")


def _name_of(region: dict[str, Any]) -> str:
    return str(region.get("store") or region["url"])


def _role_of(region: dict[str, Any]) -> str:
    if region["role"] is None:
        return "none, as of a registry without a second region"
    writes = "takes writes" if region["open"] else "takes no writes"
    where = f" at {region['at']}" if region.get("at") and "://" not in region["peer"] else ""
    peer = f"; the other region is {region['peer']}{where}" if region["peer"] else ""
    return f"{region['role']} of epoch {region['epoch']}, {writes}{peer}"


def _primary_at(args: argparse.Namespace, url: str) -> "Address":
    """The store of a primary that gives another region up: that of a directory is a server. Raises Misuse."""
    address = address_of_region(url, args.registry)
    if address.scheme != "file":
        check_has_effect(args, OF_STORES)
    return address


def _abandon(args: argparse.Namespace, urls: list[str]) -> int:
    from sigla.regions import promotion
    from sigla.regions.giving import carried_out

    def why_not(shown: str, theirs: "Role", ours: "Role") -> str:
        is_table = shown.startswith("dynamodb")
        otherwise = "delete its stack with its table" if is_table else "stop its server"
        return promotion.why_not_abandoned(shlex.quote(shown), theirs, ours, otherwise=otherwise)

    if len(urls) not in (1, 2):
        raise Misuse(
            "Give the URL of the primary, and the region that never comes back: sigla regions abandon URL NAME."
        )
    here, named = urls[0], urls[1] if len(urls) == 2 else ""
    if are_served([here]):
        return abandon_served(args, here, named)
    address = _primary_at(args, here)
    with refusals(), opened_region(address) as store:
        role = store.region.role()
        given_up = promotion.to_be_abandoned(role, named) if role else None
        if given_up is not None and role is not None:
            check_is_lost(args, given_up.url, role, why_not)
            if not asking(args)(tell_of_abandonment(str(address), given_up)):
                raise Refused("Nothing was changed.")
        name = given_up.name if given_up else ""
        adopt_keys(address, store)
        done = carried_out(promotion.abandoned(store.region, name, forgets=address.scheme != "file"))
    return tell_abandoned(str(address), given_up if done.changed else None)


def _dismiss(args: argparse.Namespace, urls: list[str]) -> int:
    from sigla.regions import promotion
    from sigla.regions.giving import carried_out

    if len(urls) != 1:
        raise Misuse("Give the URL of the primary: sigla regions dismiss URL.")
    if are_served(urls):
        return dismiss_served(args, urls[0])
    address = _primary_at(args, urls[0])
    with refusals(), opened_region(address) as store:
        role = store.region.role()
        follower, theirs = "", None
        if role and role.writes and role.is_followed:
            follower, theirs = str(role.peer), role_there(args, role.other_url, role)
            ask_before_dismissal(args, str(address), role, theirs)
        done = carried_out(promotion.dismissed(store.region, follower))
    return tell_dismissed(urls[0], role if done.changed else None, theirs)
