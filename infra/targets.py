"""Where the data of a deployment is and where its clients find it: what no change of settings may move unseen.

CloudFormation updates a stack in place, in a minute and without an error, to another registry, another table, or fewer
zones. So a stack tells what it was deployed with as outputs, and `make deploy` compares them with the stage file first.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from infra.accounts import Stack
from infra.choices.rules import listed
from infra.settings import Settings

GIVEN = "GivenStorage"
"""The output that says which of bucket and table the stack was given, and did not make."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a deployment points at. bucket, table: their names; empty: the stack's own."""

    stack: str
    identity: str
    registry: str
    bucket: str
    table: str
    zones: tuple[str, ...]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            stack=settings.stack_name,
            identity=settings.identity,
            registry=settings.registry_name,
            bucket=settings.bucket_name,
            table=settings.table_name,
            zones=settings.zone_ids,
        )

    @property
    def outputs(self) -> dict[str, tuple[str, str]]:
        """What the stack tells of it, besides the names of bucket and table: values, and what they are."""
        given = [name for name, value in (("bucket_name", self.bucket), ("table_name", self.table)) if value]
        told = {
            "Identity": (self.identity, "Which registry this is, among all that there were and will be"),
            "RegistryName": (self.registry, "The metadata space that is served"),
            "Zones": (",".join(self.zones), "Availability zones with a URL each"),
            GIVEN: (",".join(given), "What the stack was given, and did not make"),
        }
        return {name: (value, what) for name, (value, what) in told.items() if value}


def moved(outputs: Mapping[str, str], target: Target, promised: Collection[str] | None = None) -> list[str]:
    """What a deployment of the target would move of a stack with these outputs, a sentence each.

    promised: names of the outputs that the stack would have afterwards; None: unknown, and no URL is missed.
    """
    if not outputs.get("Identity"):
        return [f"The stack {target.stack} is there and has no identity: something else deployed it."]
    return [
        *_changed("identity", outputs["Identity"], target.identity),
        *_changed("registry_name", outputs.get("RegistryName", ""), target.registry),
        *_stored(outputs, "bucket_name", "BucketName", target.bucket),
        *_stored(outputs, "table_name", "TableName", target.table),
        *_fewer(listed(outputs.get("Zones", "")), target.zones),
        *([] if promised is None else _gone(outputs, promised)),
    ]


def elsewhere(bearing: Iterable[Stack], target: Target) -> list[str]:
    """What a stack that is not there yet would leave behind, a sentence each: a name that changed, or forgotten data.

    bearing: stacks that have the target's identity, or had it.
    """
    return [sentence for stack in bearing for sentence in _left(stack, target)]


def _left(stack: Stack, target: Target) -> Iterator[str]:
    if not stack.is_deleted:
        yield f"The stack {stack.name} has this identity and stays; {target.stack} would begin beside it, empty."
        return
    bucket, table = stack.outputs.get("BucketName", ""), stack.outputs.get("TableName", "")
    if (bucket, table) != (target.bucket, target.table):
        yield (
            f"The stack {stack.name} was deleted, and what it stored was kept: bucket_name was {bucket!r}, "
            f"table_name {table!r}."
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
        yield f"{name} would change from {old!r} to one that is new and empty, since none is given."


def _fewer(old: Collection[str], new: Collection[str]) -> Iterator[str]:
    if lost := [zone for zone in old if zone not in new]:
        yield f"zones would change from {','.join(old)!r} to {','.join(new)!r}: {', '.join(lost)} would go."


def _gone(outputs: Mapping[str, str], promised: Collection[str]) -> Iterator[str]:
    for name, url in outputs.items():
        if "Url" in name and name not in promised:
            yield f"{name} would go: {url} answers nobody any more."
