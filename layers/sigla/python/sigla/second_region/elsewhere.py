"""Other regions of a registry that is served: which of them takes writes, and where this one is for them."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from socket import SOCK_DGRAM, getaddrinfo, socket
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sigla.errors import StoreError
from sigla.regions.nouns import Role
from sigla.remote.failures import RemoteMisused
from sigla.remote.region import RemoteRegion
from sigla.remote.urls import is_url, shown_url
from sigla.web.http.guard import in_authority

MOST_ASKED: Final = 8


class RegionThatWrites(NamedTuple):
    """url: of the region that takes writes; empty where none is known, and then why, a sentence."""

    url: str
    why: str = ""


def writer_of(role: Role, starts: Iterable[str], other: Callable[[str], RemoteRegion]) -> RegionThatWrites:
    """Which region takes writes in the place of this one, or of the one that it follows.

    Each region that answers is asked for those that it knows. starts: those that this one knows. other: asks the region
    at a URL.
    """
    known, said = [*starts], list[str]()
    for url in known:  # which grows
        if len(said) == MOST_ASKED:
            break
        try:
            found = other(url).role()
        except (StoreError, RemoteMisused) as silence:
            said.append(str(silence).removesuffix("."))
            continue
        if found is None or not found.is_of(role):
            said.append(f"another registry answers at {shown_url(url)}")
        elif found.writes and found.epoch >= role.epoch:
            return RegionThatWrites(url)
        else:
            said.append(f"{shown_url(url)} is the {found.shown_kind} of epoch {found.epoch}")
            known += [each for each in found.elsewhere if each not in known and is_url(each)]
    why = "; ".join(said) or "none has said where it is"
    return RegionThatWrites("", f"no region that takes writes is known here: {why}")


def url_there(served: str, url: str) -> str:
    """By which URL the region at a URL reaches this one. served: of this one, perhaps without a host.

    Empty where that is not known.
    """
    scheme, nowhere, number = served.partition("://:")
    if not nowhere:
        return served
    there = urlsplit(url)
    with suppress(OSError):
        family, kind, protocol, _, address = getaddrinfo(there.hostname, there.port or 443, type=SOCK_DGRAM)[0]
        with socket(family, kind, protocol) as towards:
            towards.connect(address)  # of UDP: nothing is sent
            return f"{scheme}://{in_authority(str(towards.getsockname()[0]))}:{number}"
    return ""
