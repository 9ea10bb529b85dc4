"""Commands of two regions where these are served, by their URLs. Stores are asked by `cli.stored_regions`."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from sigla.cli.asking import asking
from sigla.cli.credentials import user_of
from sigla.cli.misuse import Misuse, Refused, check_has_effect
from sigla.cli.regions_told import (
    RegionsShown,
    check_report,
    form_of_role,
    put_into_report,
    shown_time,
    tell,
    tell_abandoned,
    tell_adopted,
    tell_brought,
    tell_dismissed,
    tell_how_it_comes_back,
    tell_left,
    tell_of_abandonment,
    tell_of_an_older_copy,
    tell_of_dismissal,
    tell_of_force,
    tell_without_ids,
    told_if_other_is_lost,
)

if TYPE_CHECKING:
    from sigla.ports.regions import RegionReport
    from sigla.regions.nouns import Role
    from sigla.remote.region import RemoteRegion


WhyNotLost = Callable[[str, "Role", "Role"], str]
"""Why a region is not lost that answers: from its URL, its role, and that of the region for which it would be."""
OF_SERVERS: Final = {"registry": "a server is found by its URL alone"}
"""Options of no effect where servers are asked, and why (`check_has_effect`)."""
_SCHEME: Final = re.compile(r"[a-z0-9+]+:(?!\d+(/|$))")
"""What a URL begins with; a host and its port do not."""


def are_served(urls: Sequence[str]) -> bool:
    """Whether they are those of servers. Raises Misuse where some are, and some are stores; where two are the same."""
    from sigla.remote.urls import shown_text

    for url in urls:
        if not _SCHEME.match(url):
            raise Misuse(
                f"Invalid URL {shown_text(url)}: that of a server is http://HOST:PORT, that of a store file:DIR or "
                "dynamodb+s3://TABLE/BUCKET?region=NAME."
            )
    if len({url.rstrip("/") for url in urls}) < len(urls):
        raise Misuse("Both URLs are the same: give those of two regions.")
    served = [url.partition("://")[0] in ("http", "https") for url in urls]
    if any(served) and not all(served):
        raise Misuse("Give the URLs of two servers, or those of two stores.")
    return all(served)


def check_url(url: str | None) -> None:
    """Whether --url names a server, where it is given. Raises Misuse."""
    from sigla.remote.urls import is_url

    if url and not is_url(url):
        raise Misuse(f"Invalid --url {url}: such a URL is http://HOST:PORT.")


def promote_served(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    check_has_effect(args, OF_SERVERS)
    check_url(args.url)
    here, primary = args.follower, args.primary or ""
    with asked_region(args, here) as region:
        seen = region.report()  # a server that stands still is noticed in a moment, and not after a whole course
        if args.undo:
            done = region.promote("undo", "", primary, seen.run)
            print(f"{done['other']} takes writes{' again' if done['changed'] else ': nothing to take back'}.")
            return 0
        # Where the region takes writes already, all that may be left is that the other one follows it.
        if seen.role is None or not seen.role.writes:
            _ask_before(args, here, seen)
        done = region.promote("force" if args.force else "planned", args.url or here, primary, seen.run)
        _print(here, done, region, forced=args.force)
    return 0


def _ask_before(args: argparse.Namespace, here: str, seen: "RegionReport") -> None:
    """Raises Misuse, Refused."""
    role = seen.role
    if args.force:
        _check_may_be_forced(role)
        tell_of_force(here, is_closed=role is not None and role.is_closed)
        if role is not None and not role.is_closed and seen.behind is None:
            tell_of_an_older_copy()
    else:
        tell(f"{here} is to become the primary, and its primary to follow it. No region takes writes for a moment.")
    if not asking(args)("Promote it by force?" if args.force else "Promote it?"):
        raise Refused("Nothing was changed.")


def _check_may_be_forced(role: "Role | None") -> None:
    """As far as its role says by itself that it may not, nothing is asked. Raises Misuse."""
    from sigla.regions.promotion import check_may_be_opened
    from sigla.regions.refusals import NoSecondRegion, NotPromoted

    try:
        if role is None:
            raise NoSecondRegion
        if role.is_closed:
            check_may_be_opened(role)
    except NotPromoted as refused:
        raise Misuse(f"{refused}.") from None


def _print(here: str, done: dict[str, Any], region: "RemoteRegion", *, forced: bool) -> None:
    epoch = done["role"]["epoch"]
    if not done["changed"]:
        print(f"{here} is the primary of epoch {epoch} already: nothing to do.")
        tell_adopted(done["adopted"])
        tell_without_ids(done["without_ids"])
    elif forced:
        print(f"{here} is the primary of epoch {epoch}, by force.")
        print(done["closed"])
        tell_adopted(done["adopted"])
        newest = shown_time(region.report().newest)
        print(f"The newest commit here: {newest}. Later ones of the other region may be missing.")
        if done["given_up"]:
            print(f"{done['other']} had given this region up, and takes writes of its own: when it is there again, it")
            print(f"closes this one. What only this one has: sigla rejoin {here} --primary {done['other']}")
        else:
            tell_how_it_comes_back(done["other"], here)
        tell_without_ids(done["without_ids"])
    else:
        print(f"{here} is the primary of epoch {epoch}. Brought at the end: {done['brought']} commits. Lost: none.")
        print(f"{done['other']} follows it.")


def show_served(args: argparse.Namespace) -> RegionsShown:
    """Raises Misuse."""
    from sigla.regions.lacking import lacking

    check_has_effect(args, OF_SERVERS)
    found, silent = [], []
    for url in args.urls:
        try:
            with asked_region(args, url, otherwise="") as region:
                found.append((url, region.report()))
        except Refused as silence:
            silent.append(str(silence))
    shown = [_form(url, report) for url, report in found]
    if silent:
        advice = [told for url, report in found for told in told_if_other_is_lost(url, report.role)]
        return RegionsShown(shown, silent=silent + advice)
    if len(found) == 1:
        return RegionsShown(shown)
    (_, here), (_, there) = found
    if here.run and here.run == there.run:
        raise Misuse("Both URLs lead to one server, perhaps through a load balancer: give the URL of each server.")
    if here.role is None or not here.role.is_of(there.role):
        return RegionsShown(shown, are_one=False)
    missing = lacking(here, there)
    return RegionsShown(shown, missing=lacking(there, here) if missing is None else missing)


def rejoin_served(args: argparse.Namespace) -> int:
    """0, 1 if something could not be brought. Raises Misuse, Refused."""
    check_has_effect(args, OF_SERVERS)
    check_url(args.url)
    old, new = args.old, args.primary
    tell(f"{old} is to be closed, what {new} lacks to be brought there, and {old} to begin anew with a copy of that.")
    if not asking(args)("Go on?"):
        raise Refused("Nothing was changed.")
    check_report(args.report)
    with asked_region(args, new) as region:
        done = _brought(region, old, args.url or new)
        if not done["changed"]:
            print(f"{old} joins or follows already: nothing to do.")
            return 0
        put_into_report(args.report, {"region": old} | {name: done[name] for name in ("commits", "report", "left")})
        tell_brought(done["commits"], old, new)
        joins = region.rejoin(old, args.url or new, done["end"])
    tell_left(done["left"], args.report)
    if joins["waits"]:
        print(f"What was brought is safe at {new}.")
        print(f"{old} takes no writes. It begins anew with a copy of {new} as soon as that has a place for it.")
        print(joins["waits"])
    else:
        print(f"{old} begins anew with a copy of {new}, and follows it. Its directory keeps what it had.")
    return int(bool(done["left"]))


def _brought(region: "RemoteRegion", old: str, follow: str) -> dict[str, Any]:
    """What was brought of the region at a URL, however long that takes. Raises StoreError."""
    from sigla.remote.region import NotInTime

    while True:
        region.role()  # as `promote_served`
        with suppress(NotInTime):
            return region.rejoin(old, follow, None)
        tell(f"What {old} has is still being brought.")


def abandon_served(args: argparse.Namespace, url: str, named: str) -> int:
    """0. named: which region; empty: the only one. Raises Misuse, Refused."""
    from sigla.regions.promotion import to_be_abandoned
    from sigla.regions.refusals import NotPromoted

    check_has_effect(args, OF_SERVERS)
    with asked_region(args, url) as region:
        report = region.report()
        try:
            given_up = to_be_abandoned(report.role, named) if report.role else None
        except NotPromoted as refused:
            raise Misuse(f"{refused}.") from None
        if given_up is not None:
            shown = next((each for each in report.out if each.name == given_up.name), given_up)
            if not asking(args)(tell_of_abandonment(url, shown)):
                raise Refused("Nothing was changed.")
        done = region.abandon(given_up.name if given_up else named)
    return tell_abandoned(url, given_up if done["changed"] else None)


def check_does_not_answer(args: argparse.Namespace, url: str, ours: "Role", why: "WhyNotLost") -> None:
    """Whether the server at a URL is lost, as `why_not_lost` says. Raises Misuse."""
    from sigla.remote.region import RemoteRegion, why_not_lost
    from sigla.remote.urls import is_url
    from sigla.stores.clock import SystemClock

    if is_url(url) and (told := why_not_lost(RemoteRegion(url, user_of(args, url), SystemClock()), ours, why)):
        raise Misuse(f"Nothing was changed. {told}")


def role_served_at(args: argparse.Namespace, url: str, ours: "Role") -> "Role | None":
    """The role of the server at a URL, as `role_if_it_answers` says."""
    from sigla.remote.region import RemoteRegion, role_if_it_answers
    from sigla.remote.urls import is_url
    from sigla.stores.clock import SystemClock

    return role_if_it_answers(RemoteRegion(url, user_of(args, url), SystemClock()), ours) if is_url(url) else None


def dismiss_served(args: argparse.Namespace, url: str) -> int:
    """0. Raises Misuse, Refused."""
    check_has_effect(args, OF_SERVERS)
    with asked_region(args, url) as region:
        role = region.role()
        follower, theirs = "", None
        if role and role.writes and role.is_followed:
            follower, theirs = str(role.peer), role_served_at(args, role.other_url, role)
            ask_before_dismissal(args, url, role, theirs)
        done = region.dismiss(follower)
    return tell_dismissed(url, role if done["changed"] else None, theirs)


def ask_before_dismissal(args: argparse.Namespace, here: str, role: "Role", theirs: "Role | None") -> None:
    """theirs: the role of the region that follows; None where it does not answer. Raises Misuse, Refused."""
    from sigla.regions.promotion import why_not_dismissed

    if theirs is not None and (why := why_not_dismissed(shlex.quote(role.other_url), theirs, role)):
        raise Misuse(f"Nothing was changed. {why}")
    tell_of_dismissal(here, role, theirs)
    if not asking(args)(f"Give up {role.peer}{', which answers' if theirs else ''}?"):
        raise Refused("Nothing was changed.")


@contextmanager
def asked_region(
    args: argparse.Namespace, url: str, otherwise: str = "Look at `sigla regions`, and run it again."
) -> "Iterator[RemoteRegion]":
    """The region that is served at a URL. Raises Misuse where nothing was changed, else Refused.

    otherwise: what to do where the server does not answer.
    """
    from sigla.errors import StoreError
    from sigla.remote.failures import RemoteMisused
    from sigla.remote.region import NotARegistry, RegionSaysNo, RemoteRegion
    from sigla.stores.clock import SystemClock

    user = user_of(args, url)
    try:
        yield RemoteRegion(url, user, SystemClock())
    except RemoteMisused as wrong:
        raise Misuse(str(wrong)) from None
    except NotARegistry as other:
        raise Misuse(f"{other}.") from None
    except RegionSaysNo as refused:
        advice = _of_key(user) if refused.status in (401, 403) else ""
        words = f"{str(refused).removesuffix('.')}{advice}."
        raise (Misuse(words) if refused.status < 500 else Refused(words)) from None
    except StoreError as silent:
        raise Refused(f"{silent}. {otherwise}".rstrip()) from None


def _of_key(user: str) -> str:
    """What to do where a key is refused. user: NAME:SECRET, which was sent, or nothing."""
    if user:
        return f", and that of {user.partition(':')[0]} is not, or its secret is another"
    return ": give --user NAME, or set SIGLA_USER and SIGLA_SECRET"


def _form(url: str, report: "RegionReport") -> dict[str, Any]:
    how_far = {"behind_ms": report.behind, "problem": report.problem, "installed": report.installed.compared}
    form = {
        "url": url,
        "newest": report.newest,
        "journal": report.journal.position,
        **form_of_role(report.role, report.out),
    }
    return form if report.role is None else form | {"at": report.role.at} | how_far
