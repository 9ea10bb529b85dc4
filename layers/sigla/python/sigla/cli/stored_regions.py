"""Regions by their stores, for the commands of regions: how they are opened, and what is looked at before a change."""

import argparse
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sigla.cli import place
from sigla.cli.misuse import Misuse, Refused
from sigla.cli.served_regions import WhyNotLost, check_does_not_answer, role_served_at

if TYPE_CHECKING:
    from sigla.opening import TwoRegions
    from sigla.ports.store import Store
    from sigla.regions.nouns import Role
    from sigla.settings import Address

OF_STORES = {"user": "a store is reached without a key of the registry"}
"""Options of no effect where stores are opened and no server is asked, and why (`check_has_effect`)."""
ANSWERS_S = 5.0
"""For so long a region that is said to be lost is asked."""


def address_of_region(url: str, registry: str) -> "Address":
    """Raises Misuse."""
    from sigla.settings import Address, InvalidSetting

    try:
        address = Address.read(url, registry)
    except InvalidSetting as wrong:
        raise Misuse(str(wrong)) from None
    if address.scheme == "memory":
        raise Misuse("Nothing is kept in memory that a command could use.")
    return address


@contextmanager
def opened_region(address: "Address") -> "Iterator[Store]":
    """Raises Misuse, Refused."""
    from sigla import opening

    with place.explained(address), opening.region(address) as store:
        yield store


@contextmanager
def opened_pair(here: "Address", there: "Address") -> "Iterator[TwoRegions]":
    """Raises Misuse, Refused."""
    from sigla import opening

    with place.explained(f"{here} or {there}"), opening.regions(here, there) as regions:
        yield regions


def are_one_registry(regions: "TwoRegions") -> bool:
    """Whether it may be; tables know each other by their URLs besides. Raises StoreError."""
    ours, theirs = regions.here.region.role(), regions.there.region.role()
    urls = regions.pair.urls or ("", "")
    return ours is None or theirs is None or not ours.is_of_another_registry(theirs, urls)


def check_one_registry(regions: "TwoRegions") -> None:
    """Raises NotOneRegistry, StoreError."""
    from sigla.regions.refusals import NotOneRegistry

    if not are_one_registry(regions):
        raise NotOneRegistry


@contextmanager
def refusals() -> Iterator[None]:
    """A role that does not allow it. Raises Misuse where nothing was changed, else Refused."""
    from sigla.regions.refusals import NotPromoted, RegionsApart, RoleChanged

    try:
        yield
    except (RegionsApart, RoleChanged) as refused:
        raise Refused(f"{refused}.") from None
    except NotPromoted as refused:
        raise Misuse(str(refused) + "." * (not str(refused).endswith("."))) from None


def check_is_lost(args: argparse.Namespace, url: str, ours: "Role", why_not: WhyNotLost) -> None:
    """Whether the region at a URL is lost: a table or a server that does not answer. Raises Misuse."""
    from sigla.errors import StoreError, Unusable

    if not url.startswith("dynamodb"):
        check_does_not_answer(args, url, ours, why_not)
        return
    try:
        theirs = _role_at(address_of_region(url, args.registry))
    except TimeoutError:
        return
    except Unusable as no:
        if no.gone:
            return
        raise Misuse(
            f"Nothing was changed. Whether {url} can come back is not known ({no}): see to that first."
        ) from None
    except StoreError:
        return
    if theirs is not None and theirs.is_known_to(ours) and (told := why_not(url, theirs, ours)):
        raise Misuse(f"Nothing was changed. {told}")


def role_there(args: argparse.Namespace, url: str, ours: "Role") -> "Role | None":
    """The role of the table or the server at a URL; None where it does not answer, or another registry does."""
    from sigla.errors import StoreError

    if not url.startswith("dynamodb"):
        return role_served_at(args, url, ours)
    try:
        theirs = _role_at(address_of_region(url, args.registry))
    except (TimeoutError, StoreError):
        return None
    return theirs if theirs is not None and theirs.is_known_to(ours) else None


def _role_at(address: "Address") -> "Role | None":
    """Raises StoreError, TimeoutError."""
    from sigla import opening

    def role() -> "Role | None":
        with opening.region(address) as store:
            return store.region.role()

    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(role).result(ANSWERS_S)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def adopt_keys(address: "Address", store: "Store") -> int:
    """How many commits of keys were carried out, in AWS and after a promotion by force. Raises StoreError."""
    from sigla import opening

    adopted = opening.adopt_keys(address, store)
    if adopted:
        print(f"{adopted} commits of keys for field encryption that had not come were carried out.")
    return adopted


def tell_to_follow(follower: str, primary: str) -> None:
    """What to run from now on, for tables."""
    if follower.startswith("dynamodb"):
        print("Two stacks with `regions.peer` are kept in step by themselves from now on; others by")
        print(f"  {shlex.join(['sigla', 'regions', 'follow', follower, primary])}")
