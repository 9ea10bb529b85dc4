"""What holds of two regions at any time, and once a run of the run book has come to its end."""

import re
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, Final

from sigla.cli.misuse import Misuse
from sigla.errors import Refusal, StoreError
from sigla.model import BodyKey, SchemaId, Subject
from sigla.regions.nouns import RegionKind, Role
from tests.attack.aws_replay import _items
from tests.attack.paused_land import CRASHED, OTHER, Function, Land, Outcome, unpaused
from tests.attack.paused_matrix import is_lost_for_good, is_well
from tests.attack.paused_stores import Client


def meaning(at: Function, key: BodyKey) -> str | None:
    """As clients of a region read an id; None where they are told nothing."""
    with suppress(Refusal, StoreError):
        return at.registry.schema_by_id(key.id, subject=Subject(key.context, "")).schema.text
    return None


def ids_with_two_meanings(land: Land) -> Iterator[str]:
    """What a region that joins has is asked of its primary."""
    meanings: dict[BodyKey, dict[str, str]] = {}
    for ack in land.known.acks:
        if ack.id:
            key = BodyKey(ack.subject.context, SchemaId(ack.id))
            meanings.setdefault(key, {})[ack.text] = f"acknowledged at {ack.site}"
    for which in OTHER:
        if land.role(which).kind is not RegionKind.JOINING:
            at = Function(land, which)
            for key in {*meanings, *at.here.inventory.bodies()}:
                if (told := meaning(at, key)) is not None:
                    meanings.setdefault(key, {}).setdefault(told, f"read at {which}")
    yield from (f"{key} means {sorted(found.values())}" for key, found in meanings.items() if len(found) > 1)


def not_at_its_end(land: Land) -> Iterator[str]:
    """Once the run book was followed."""
    if is_lost_for_good(land):
        return
    if not is_well(land):
        yield "no command of the run book goes on"
        return
    for which in OTHER:
        at = Function(land, which)
        yield from _lost_ids(land, at)
        yield from _lost_versions(land, at)
    yield from _unequal(land)


def _lost_ids(land: Land, at: Function) -> Iterator[str]:
    """But those of a table that was given up, as it was restored, or abandoned."""
    purged = {ack.subject for ack in land.known.acks if not ack.id}
    for ack in land.known.acks:
        if ack.id and ack.table not in land.known.given_up and ack.subject not in purged:
            told = meaning(at, BodyKey(ack.subject.context, SchemaId(ack.id)))
            if told != ack.text:
                yield f"id {ack.id} of {ack.site} in epoch {ack.epoch} means {told} at {at.which}"


def _lost_versions(land: Land, at: Function) -> Iterator[str]:
    """But those of subjects of which a promotion by force may have lost one."""
    wanted: dict[Subject, dict[int, int]] = {}
    excused: set[Subject] = set()
    for ack in land.known.acks:
        if ack.table in land.known.given_up or any(epoch > ack.epoch for epoch in land.known.forced):
            excused.add(ack.subject)
        wanted[ack.subject] = {**wanted.get(ack.subject, {}), ack.version: ack.id} if ack.id else {}
    for subject, versions in wanted.items():
        standing = {int(row.version): int(row.id) for row in at.here.catalog.history(subject)}
        if subject not in excused and standing != versions:
            yield f"{subject} has {standing} at {at.which}, and {versions} were acknowledged"


OWN: Final = ("#installed",)


def _unequal(land: Land) -> Iterator[str]:
    """Whatever either is asked is answered alike."""
    found = []
    for table, _ in land.known.sites.values():
        client = Client("dynamodb", land.account.dynamodb, unpaused, frozenset())
        of: Any = SimpleNamespace(dynamodb=client, table=table, registry="default")
        rows = {key: form for key, form in _items(of) if "brought" not in form and not key[0].startswith(OWN)}
        found.append(rows)
    mine, theirs = found
    yield from (f"{key} differs" for key in sorted({*mine, *theirs}) if mine.get(key) != theirs.get(key))


# --- what commands say -----------------------------------------------------------------------------------------------

_PRIMARY: Final = re.compile(r"table (\S+) is the primary of epoch (\d+)")
_FOLLOWS: Final = re.compile(r"table (\S+) follows it\.")
_WRITES: Final = re.compile(r"table (\S+) takes writes")
_JOINED: Final = re.compile(r"table (\S+) joins")


def untrue(land: Land, done: Outcome | None) -> Iterator[str]:
    """A command says what was so when it began, or has become so meanwhile. Asked when it has ended."""
    if done is None:
        return
    if done.status == CRASHED:
        yield f"{done.words[0]} ended with {done.said}"
    if done.status == Misuse.status and done.wrote:
        yield f"nothing was changed, it says, and {done.wrote} was: {done.said}"

    def was(table: str) -> list[Role]:
        return [role for each, role in done.roles if each == table]

    said = done.said
    for table, epoch in _PRIMARY.findall(said):
        if not any(role.kind is RegionKind.PRIMARY and role.epoch == int(epoch) for role in was(table)):
            yield said
    for pattern, is_so in (
        (_FOLLOWS, lambda role: role.kind is RegionKind.FOLLOWER),
        (_WRITES, lambda role: role.writes),
        (_JOINED, lambda role: role.kind is not RegionKind.PRIMARY),
    ):
        for table in pattern.findall(said):
            if not any(map(is_so, was(table))):
                yield said
    if done.words[0] == "rejoin" and done.status == 0 and "already" not in said:
        yield from _left(land, done)


def _left(land: Land, done: Outcome) -> Iterator[str]:
    """A rejoin that says that nothing is left to be brought, of what it was for.

    What the old region acknowledges in a later epoch than that of the new one, it does as its primary once more.
    """
    old, new = (re.findall(r"//([^/]+)/", url)[0] for url in (done.words[1], done.words[3]))
    purged = {ack.subject for ack in land.known.acks if not ack.id}
    for which, (table, _) in land.known.sites.items():
        if table == new and land.role(which).writes:
            at = Function(land, which)
            for ack in land.known.acks:
                is_before = ack.epoch <= land.role(which).epoch
                if ack.table == old and is_before and ack.id and ack.subject not in purged:
                    told = meaning(at, BodyKey(ack.subject.context, SchemaId(ack.id)))
                    if told != ack.text:
                        yield f"it has brought all, it says, and id {ack.id} means {told}"
