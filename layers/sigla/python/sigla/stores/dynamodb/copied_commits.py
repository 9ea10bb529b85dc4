"""Which commits of the source a copy has: by the numbers that a commit moves, each part of the copy says it.

Those of the last hour before the copy began, and since: what is older is in every part. The journal is read a few
rows at a time, and as often as it takes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from sigla import keys
from sigla.journal import UnknownCommit
from sigla.ports.inventory import UNFIT
from sigla.stores.dynamodb import histories, places
from sigla.stores.dynamodb.actions import Action, Condition, Key, put
from sigla.stores.dynamodb.copied_subjects import attributes
from sigla.stores.dynamodb.copy_steps import CopyStep
from sigla.stores.dynamodb.journal import BROUGHT
from sigla.stores.dynamodb.numbers import MOVES, named_key
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.told_commits import ToldCommit
from sigla.stores.dynamodb.values import Item, unpacked

AT_ONCE: Final = 500
"""Rows of the journal."""


@dataclass(frozen=True, slots=True)
class _CommitPart:
    """A part of a commit, and whether the copy has it. key: of the row that tells."""

    key: Key
    is_copied: bool


class CopiedCommits:
    """since: when they were made. write: takes groups of actions, in no order."""

    def __init__(
        self, source: Tools, target: Tools, since: int, write: Callable[[Iterable[Sequence[Action]]], None]
    ) -> None:
        self._source = source
        self._target = target
        self._since = since
        self._write = write

    def chase(self, step: CopyStep, copy_rows: Callable[[Iterable[Key]], None]) -> None:
        """Until each is in all of its parts, or in none: nothing was copied while all of them were looked at.

        It takes along whether something was, which is noted before that is written. Raises TimeIsUp.
        """
        while True:
            for rows in self._recent(step):
                behind = self._behind(rows)
                if behind and not step.carried:
                    step.carried = True
                    step.go_on_behind(step.after)
                copy_rows(behind)
            if not step.carried:
                return
            step.carried = None
            step.go_on_behind(None)

    def mark(self, step: CopyStep) -> None:
        """Those that the copy has are known from now on, and stand in the history of each subject. Raises TimeIsUp."""
        for rows in self._recent(step):
            parts = self._parts(rows)
            self._write(
                [*histories.items_of(self._target.places, unpacked(row["form"]), time_in(row)), journal_row(row)]
                for row in rows
                if _is_copied(parts[place_of(row)])
            )

    def _behind(self, rows: Sequence[Item]) -> dict[Key, None]:
        """Parts that the copy lacks, of commits of which it has others."""
        parts = [found for found in self._parts(rows).values() if found and any(part.is_copied for part in found)]
        return {part.key: None for found in parts for part in found if not part.is_copied}

    def _recent(self, step: CopyStep) -> Iterator[list[Item]]:
        registry = self._source.places.registry
        partitions = [keys.journal_pk(registry, shard) for shard in range(places.JOURNAL_SHARDS)]
        begun = step.after
        for pk in partitions[partitions.index(begun[0]) if begun else 0 :]:
            behind = begun[1] if begun and pk == begun[0] else keys.journal_sk(self._since, "")
            rows = self._source.table.query(pk, Condition("#sk > :sk", {"sk": behind}))
            while some := list(islice(rows, AT_ONCE)):
                # A commit of a region that rejoined was carried out nowhere else: what came of it came as another one.
                # One that cannot be read holds up no copy: comparisons of the journals meet it, and tell of it.
                yield [row for row in some if BROUGHT not in row and _can_be_read(row)]
                step.go_on_behind(place_of(some[-1]))

    def _parts(self, rows: Iterable[Item]) -> Mapping[Key, list[_CommitPart] | None]:
        """Those of each row; None where it was written before the registry had a role, and so before the copy began."""
        told = {place_of(row): _commit_in(row) for row in rows}
        needs = {key: _numbers_of(self._target, commit) for key, commit in told.items() if commit}
        wanted = {key for each in needs.values() for key, _, _ in each}
        standing = self._target.table.get_many(list(wanted))
        return {
            key: None
            if commit is None
            else [_CommitPart(row, standing.get(row, {}).get(name, 0) >= least) for row, name, least in needs[key]]
            for key, commit in told.items()
        }


def journal_row(item: Item) -> Action:
    """As another one: which segment tells it is of each side."""
    form = {name: value for name, value in attributes(item).items() if name not in ("segment", "aside")}
    return put(place_of(item), form)


def place_of(item: Item) -> Key:
    return item["pk"], item["sk"]


def time_in(row: Item) -> int:
    """When the commit of a row of the journal was made."""
    return keys.journal_at(row["sk"])


def _is_copied(parts: list[_CommitPart] | None) -> bool:
    return parts is None or (bool(parts) and all(part.is_copied for part in parts))


def _can_be_read(row: Item) -> bool:
    try:
        _commit_in(row)
    except (UnknownCommit, *UNFIT):
        return False
    return True


def _commit_in(row: Item) -> ToldCommit | None:
    """What a row of the journal tells another region; None where it was written before the registry had a role."""
    form = unpacked(row["form"])
    return ToldCommit.of_row(time_in(row), form) if "commit" in form else None


def _numbers_of(target: Tools, told: ToldCommit) -> list[tuple[Key, str, int]]:
    """What a commit moves: the row, the name of its number, and what that is at least once the commit is in it."""
    places = target.places
    moved = [(places.head(subject), "revision", revision + 1) for subject, revision, _ in told.heads]
    moved += [(named_key(places, name), MOVES, number) for name, number in told.effects.moved.items()]
    # Whoever is referenced has the time of that; nothing of its own has moved.
    own = {subject for subject, _, _ in told.heads}
    return moved + [(places.head(each), "at", told.at) for each in told.targets if each not in own]
