"""`sigla zone-url`: which URLs to give to the clients on this machine, the nearest one first."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sigla.cli.misuse import Misuse
from sigla.ports.zones import Zone

if TYPE_CHECKING:
    from sigla.aws.zone import Where

DESCRIPTION = """\
Prints a list of URLs for `schema.registry.url`, which Confluent's clients fail over along: first the endpoint of the
availability zone that this machine is in, then those of the other zones, then the URL that was asked. Endpoints that
are not healthy come last.

The zone is found out from Lambda, ECS or EC2, or said with --zone or SIGLA_ZONE.
"""

PATIENCE_S = 5.0
"""For a connection, and for each piece of the answer: a function may have to start first."""
PAUSES_S = (0.5, 1.5)
"""Between tries."""
LONGEST = 2**20
"""Bytes of a directory."""

UNKNOWN = "The zone of this machine is unknown, so no endpoint is its own: set --zone."
NO_ZONES = "The registry has no endpoints for zones, only its own URL."
NO_CREDENTIALS = "The list is without the credentials of the URL: give them to clients as basic.auth.user.info."


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "zone-url",
        help="print the URLs of a registry in AWS for the clients on this machine",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--registry", default="", metavar="URL", help="a URL of the registry (SCHEMA_REGISTRY_URL)")
    parser.add_argument(
        "--zone", default="", metavar="ID", help="the zone of this machine, as in use1-az1 (SIGLA_ZONE)"
    )
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0. Raises Misuse."""
    import socket

    from sigla import wiring

    given = args.registry or wiring.registry_url()
    if not given:
        raise Misuse("The registry is missing: give --registry URL, or set SCHEMA_REGISTRY_URL.")
    registry = _bare(given)
    zones, where = directory(registry), wiring.own_zone(args.zone)
    own = _own(zones, where)
    urls = in_order(registry, zones, own, machine=socket.gethostname())
    if args.json:
        found = asdict(where) if where else None
        print(json.dumps({"here": found, "urls": urls, "zones": [asdict(zone) for zone in zones]}))
    else:
        print(",".join(urls))
    for remark in _remarks(zones, where, own):
        print(f"sigla: {remark}", file=sys.stderr)
    if "@" in urlsplit(given).netloc:
        print(f"sigla: {NO_CREDENTIALS}", file=sys.stderr)
    return 0


def in_order(registry: str, zones: Sequence[Zone], own: Zone | None, *, machine: str) -> list[str]:
    """URLs, each once: the own zone's, the other zones', the registry's; then those that are not healthy.

    machine: its name. Each has an order of its own for the other zones, so that clients who lose theirs spread.
    """

    def rank(zone: Zone) -> tuple[bool, bytes]:
        return zone != own, blake2b(f"{machine} {zone.id}".encode(), digest_size=8).digest()

    ranked = sorted(zones, key=rank)
    healthy = [zone.url for zone in ranked if zone.healthy]
    return list(dict.fromkeys([*healthy, registry, *(zone.url for zone in ranked if not zone.healthy)]))


def directory(registry: str) -> tuple[Zone, ...]:
    """What the registry tells of its zones. Raises Misuse."""
    answer = _fetched(f"{registry}/zones")
    try:
        return tuple(map(_zone, _list(json.loads(answer))))
    except (ValueError, LookupError, TypeError):
        raise Misuse(f"{registry} answers, but not with a list of zones: give the URL of a Sigla registry.") from None


def _list(told: Any) -> list[Any]:
    if not isinstance(told, list):
        raise TypeError(told)
    return told


def _zone(told: Any) -> Zone:
    """Raises ValueError, LookupError, TypeError."""
    url = str(told["url"]).rstrip("/")
    if "," in url or not _is_url(url):
        raise ValueError(url)
    return Zone(told["id"], told.get("name", ""), url, told["healthy"], told["checked"], told.get("reason", ""))


def _own(zones: Sequence[Zone], where: "Where | None") -> Zone | None:
    return next((zone for zone in zones if where and where.known_as in (zone.id, zone.name)), None)


def _remarks(zones: Sequence[Zone], where: "Where | None", own: Zone | None) -> Iterator[str]:
    """Why the first URL is not that of the own zone."""
    if not zones:
        yield NO_ZONES
    elif where is None:
        yield UNKNOWN
    elif own is None:
        yield f"The registry has no endpoint in {where.known_as}: these are all the others."
    elif not own.healthy:
        yield f"The endpoint of {own.id} is not healthy ({own.reason}): the others come first."


# --- asking ----------------------------------------------------------------------------------------------------------


def _fetched(url: str) -> bytes:
    """The body. A server that fails, or does not answer, is asked again. Raises Misuse."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    from sigla.stores.clock import SystemClock

    clock = SystemClock()
    for pause_s in (*PAUSES_S, None):
        try:
            request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - only HTTP gets past `_bare`
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
        if pause_s is not None:
            clock.sleep(pause_s)
    raise Misuse(problem)


def _bare(url: str) -> str:
    """Without credentials, and without a slash at the end. Raises Misuse."""
    if not _is_url(url):
        shown = url.rpartition("@")[2]
        raise Misuse(f"Invalid URL of a registry {shown}: expected https:// or http://.")
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
