"""The directory of zones that a registry publishes."""

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from sigla.backoff import Backoff
from sigla.ports.clock import Clock
from sigla.ports.zones import Zone
from sigla.remote.failures import RemoteMisused
from sigla.remote.urls import MISREAD, is_misread, is_url, shown_url

PATIENCE_S = 5.0
"""For a connection, and for each piece of the answer: a function may have to start first."""
TRIES = 3
FIRST_PAUSE_S = 1.5
"""At most, and the second twice as long."""
LONGEST = 2**20
"""Bytes of a directory."""


def bare_url(url: str) -> str:
    """A registry's, without credentials and without a slash at the end. Raises RemoteMisused."""
    if not is_url(url):
        shown = url.rpartition("@")[2]
        raise RemoteMisused(f"Invalid URL of a registry {shown}: expected https:// or http://.")
    if is_misread(url):
        raise RemoteMisused(f"Invalid URL of a registry {shown_url(url)}: {MISREAD}.")
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/")


def directory(registry: str, clock: Clock) -> tuple[Zone, ...]:
    """What the registry tells of its zones. Raises RemoteMisused."""
    answer = _fetched(f"{registry}/zones", clock)
    try:
        return tuple(map(_zone, _list(json.loads(answer))))
    except (ValueError, LookupError, TypeError):
        raise RemoteMisused(
            f"{registry} answers, but not with a list of zones: give the URL of a Sigla registry."
        ) from None


def _list(told: Any) -> list[Any]:
    if not isinstance(told, list):
        raise TypeError(told)
    return told


def _zone(told: Any) -> Zone:
    """Raises ValueError, LookupError, TypeError."""
    url = str(told["url"]).rstrip("/")
    if "," in url or not is_url(url):
        raise ValueError(url)
    return Zone(told["id"], told.get("name", ""), url, told["healthy"], told["checked"], told.get("reason", ""))


def _fetched(url: str, clock: Clock) -> bytes:
    """The body. A server that fails, or does not answer, is asked again. Raises RemoteMisused."""
    for _ in Backoff(clock, FIRST_PAUSE_S, tries=TRIES):
        try:
            request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - only HTTP gets past `bare_url`
            with urlopen(request, timeout=PATIENCE_S) as answer:  # noqa: S310 - as above
                body: bytes = answer.read(LONGEST)
                return body
        except HTTPError as refused:
            refused.close()
            problem = f"{url} answers with status {refused.code}; is it the URL of a Sigla?"
            if refused.code < 500 and refused.code != 429:
                break
        except (OSError, HTTPException) as silence:
            reason = getattr(silence, "reason", silence)
            problem = f"{url} does not answer ({getattr(reason, 'strerror', None) or reason})."
    raise RemoteMisused(problem)
