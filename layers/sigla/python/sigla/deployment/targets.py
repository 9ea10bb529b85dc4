"""Where the data of a deployment is and where its clients find it: what no change of settings may move unseen.

CloudFormation updates a stack in place, in a minute and without an error, to another registry, another table, fewer
zones, or another name. So a stack tells what it was deployed with as outputs, and `make deploy` compares them with the
stage file first.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Self

from sigla.deployment.choices.ring import NONE
from sigla.deployment.choices.rules import by_zone, listed, titled
from sigla.deployment.settings import Settings

GIVEN = "GivenStorage"
"""The output that says which of bucket and table the stack was given, and did not make."""
RINGS = "RingNetworks"
"""The output that says in which network the ring of each zone is."""
DELETED = "DELETE_COMPLETE"
"""The status of a stack that was deleted, as CloudFormation has it."""
UNKNOWN = "*"
"""A URL, or the part of one, that AWS chooses."""
is_url = re.compile("(Rest|Domain|Function|Zone|ZonePrivate)Url").match
"""Whether an output is a URL, by its name; behind that stands whose it is, of which a registry may be called `url`."""


@dataclass(frozen=True, slots=True)
class Stack:
    """One that is there, or was. status: as CloudFormation has it."""

    status: str
    outputs: Mapping[str, str]
    name: str = ""

    @property
    def is_deleted(self) -> bool:
        return self.status == DELETED


@dataclass(frozen=True, slots=True)
class Target:
    """What a deployment points at.

    bucket, table: their names; empty: the stack's own. urls: by the names of their outputs, as patterns in which `*`
    stands for what AWS chooses. rings: the network that the ring of each zone is in, where zones have one. peer: the
    stores of the registry's other region, as `regions.peer` has them.
    """

    stack: str
    identity: str
    registry: str
    registries: tuple[str, ...]
    pool: tuple[str, ...]
    bucket: str
    table: str
    zones: tuple[str, ...]
    urls: Mapping[str, str]
    rings: Mapping[str, str]
    peer: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            stack=settings.stack_name,
            identity=settings.identity,
            registry=settings.registry_name,
            registries=settings.more_registries,
            pool=settings.pooled,
            bucket=settings.bucket_name,
            table=settings.table_name,
            zones=settings.zone_ids,
            urls=dict(_urls(settings)),
            rings={} if settings.ring.kind == NONE else {zone: _network(settings, zone) for zone in settings.zone_ids},
            peer=settings.regions.peer,
        )

    @property
    def outputs(self) -> dict[str, tuple[str, str]]:
        """What the stack tells of it, besides URLs and the names of bucket and table: values, and what they are."""
        given = [name for name, value in (("bucket_name", self.bucket), ("table_name", self.table)) if value]
        rings = ",".join(f"{zone}:{network}" for zone, network in self.rings.items())
        told = {
            "Identity": (self.identity, "The identity of this registry; it is never used again"),
            "RegistryName": (self.registry, "The name of the registry"),
            "Registries": (",".join(self.registries), "Further registries in the same table and bucket"),
            "Pool": (",".join(self.pool), "Further registries that the same function serves"),
            "Zones": (",".join(self.zones), "Availability zones with a URL each"),
            "RegionPeer": (self.peer, "The stores of the registry in its other region"),
            GIVEN: (",".join(given), "Stores that the stack was given and did not make"),
            RINGS: (rings, "The network that the ring of each zone is in, which it cannot leave"),
        }
        return {name: (value, what) for name, (value, what) in told.items() if value}


def _urls(settings: Settings) -> Iterator[tuple[str, str]]:
    """Each URL that clients may be given."""
    door = settings.front_door
    if settings.public_doors:
        yield "RestUrl", UNKNOWN
    if settings.public_doors and door.domain_name:
        yield "DomainUrl", f"https://{door.domain_name}"
    if settings.public_doors and door.function_url:
        yield "FunctionUrl", UNKNOWN
    for zone in settings.zone_ids:
        if settings.zone_urls:
            yield f"ZoneUrl{titled(zone)}", UNKNOWN
        if settings.private_doors:
            endpoint = door.endpoint_ids.get(zone)
            named = f"https://{zone}.{door.private_domain}"
            yield f"ZonePrivateUrl{titled(zone)}", f"https://*-{endpoint}.execute-api.*" if endpoint else named
    for registry in settings.more_registries:
        if settings.public_doors:
            yield f"RestUrl{titled(registry)}", UNKNOWN
        if settings.public_doors and door.function_url:
            yield f"FunctionUrl{titled(registry)}", UNKNOWN


def _network(settings: Settings, zone: str) -> str:
    """In words, as a sentence has them."""
    chosen = settings.network
    addresses = chosen.subnet_ids.get(zone) or settings.cidr_of(zone)
    return f"{addresses} in {chosen.vpc_id or 'a VPC of its own'}"


def moved(outputs: Mapping[str, str], target: Target) -> list[str]:
    """What a deployment of the target would move of a stack with these outputs, a sentence each."""
    if not outputs.get("Identity"):
        return [f"The stack {target.stack} exists, but has no identity: something else deployed it."]
    return [
        *_changed("identity", outputs["Identity"], target.identity),
        *_changed("registry_name", outputs.get("RegistryName", ""), target.registry),
        *(_changed("regions.peer", before, target.peer) if (before := outputs.get("RegionPeer", "")) else ()),
        *_stored(outputs, "bucket_name", "BucketName", target.bucket),
        *_stored(outputs, "table_name", "TableName", target.table),
        *_fewer("registries", listed(outputs.get("Registries", "")), target.registries),
        *_fewer("pool", listed(outputs.get("Pool", "")), target.pool),
        *_pooled(listed(outputs.get("Pool", "")), target),
        *_fewer("zones", listed(outputs.get("Zones", "")), target.zones),
        *_lost(outputs, target.urls),
    ]


def stuck(outputs: Mapping[str, str], target: Target) -> list[str]:
    """What CloudFormation would fail at, halfway, a sentence each: caches cannot leave the subnets that they are in."""
    before = by_zone(outputs.get(RINGS, ""))
    return [
        f"The ring of {zone} cannot move from {before[zone]} to {network}: take {zone} out of zones, deploy, and add "
        "it again."
        for zone, network in target.rings.items()
        if before.get(zone, network) != network
    ]


def elsewhere(bearing: Iterable[Stack], target: Target) -> list[str]:
    """What a stack that is not there yet would leave behind, a sentence each: a name that changed, or forgotten data.

    bearing: stacks that have the target's identity, or had it.
    """
    return [sentence for stack in bearing for sentence in _left(stack, target)]


def _left(stack: Stack, target: Target) -> Iterator[str]:
    if not stack.is_deleted:
        yield f"The stack {stack.name} has this identity already; {target.stack} would be a second, empty one."
        return
    bucket, table = stack.outputs.get("BucketName", ""), stack.outputs.get("TableName", "")
    if (bucket, table) != (target.bucket, target.table):
        yield (
            f"The stack {stack.name} was deleted, but its data was kept: bucket_name was {bucket!r}, table_name "
            f"{table!r}."
        )


def _changed(name: str, old: str, new: str) -> Iterator[str]:
    if old != new:
        yield f"{name} would change from {old!r} to {new!r}."


def _stored(outputs: Mapping[str, str], name: str, output: str, new: str) -> Iterator[str]:
    """A stack goes on with what it made; once it was given something else, none given means a new one."""
    old, own = outputs.get(output, ""), name not in listed(outputs.get(GIVEN, ""))
    if new and new != old:
        yield f"{name} would change from {old!r} to {new!r}."
    elif not new and not own:
        yield f"{name} would change from {old!r} to a new and empty one, because it is not set."


def _fewer(name: str, old: Collection[str], new: Collection[str]) -> Iterator[str]:
    if lost := [each for each in old if each not in new]:
        yield f"{name} would change from {','.join(old)!r} to {','.join(new)!r}: {', '.join(lost)} would be removed."


def _pooled(before: Collection[str], target: Target) -> Iterator[str]:
    """From then on a function serves several registries, and no client is let in that does not name one."""
    if target.pool and not before:
        own = f"NAME@{target.registry}"
        yield f"Clients of {target.registry} would have to name it, as {own} in the user, which they may do already."


def _lost(outputs: Mapping[str, str], urls: Mapping[str, str]) -> Iterator[str]:
    """A URL that stays is the one that was promised, and one that AWS has chosen stays as it is."""
    for name, url in outputs.items():
        if not is_url(name):
            continue
        if name not in urls:
            yield f"{name} would be removed: {url} would no longer answer."
        elif not fnmatchcase(url, urls[name]):
            yield f"{name} would change: {url} would no longer answer, and {urls[name]} would."
