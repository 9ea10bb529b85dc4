"""`sigla zone-url`: which URLs to give to the clients on this machine, the nearest one first."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sigla.cli.misuse import Misuse, reading_remote
from sigla.ports.zones import Zone

if TYPE_CHECKING:
    from sigla.aws.zone import Where

DESCRIPTION = """\
Prints a list of URLs for `schema.registry.url`, which Confluent's clients fail over along: first the endpoint of the
availability zone that this machine is in, then those of the other zones, then the URL that was asked. Endpoints that
are not healthy come last.

The zone is found out from Lambda, ECS or EC2, or said with --zone or SIGLA_ZONE.
"""

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
    from sigla.remote.zones import bare_url, directory
    from sigla.stores.clock import SystemClock
    from sigla.terminal.environment import of_another_registry

    given = args.registry or of_another_registry("SCHEMA_REGISTRY_URL")
    if not given:
        raise Misuse("The registry is missing: give --registry URL, or set SCHEMA_REGISTRY_URL.")
    with reading_remote():
        registry = bare_url(given)
        zones = directory(registry, SystemClock())
    where = wiring.own_zone(args.zone)
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
