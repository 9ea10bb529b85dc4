"""A look through a list, for a person: a page of each shard, then the newest versions of what was found there.

Two trips, whatever is in the registry. A page of a shard is read for half a unit, as are a head and a version: 8 units
for the names, and half of one for each subject that is told, so long as names have up to a hundred letters.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Final

from sigla import keys
from sigla.model import Row, Search, Subject
from sigla.ports.lists import Looked
from sigla.stores.dynamodb import items, reading
from sigla.stores.dynamodb.actions import Condition
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item

NAMES: Final = 28
"""Read of each shard: some 4 KB, the least that is paid for. Two at least: a look begins where one ended."""

_VERSIONS = Condition("begins_with(#sk, :sk)", {"sk": "V#"})


def look(
    tools: Tools, executor: Executor, ranges: Sequence[tuple[str, str]], search: Search, *, deleted: bool, most: int
) -> Looked:
    """ranges: of sort keys, ascending, within which all is that the search may find.

    They are read as one: what lies between them does not match, and is passed over.
    """
    if not ranges:
        return Looked()
    where = Condition("#sk BETWEEN :low AND :high", {"low": ranges[0][0], "high": ranges[-1][1]})
    shards = list(executor.map(lambda shard: _page_of(tools, shard, where), range(keys.LIST_SHARDS)))
    # Beyond the last name of a page the next name may be one that was not read.
    ends = [page[-1]["sk"] for page in shards if len(page) == NAMES]
    end = min(ends, default=None)
    searched, active, gone = 0, list[Subject](), list[Subject]()
    through: Subject | None = None
    for item in merge(*shards, key=itemgetter("sk")):
        if end is not None and item["sk"] > end:
            break
        subject = items.subject_of(item)
        if end is not None:
            through = subject
        if not search.matches(subject) or subject == search.after:
            continue
        searched += 1
        if (item["active"] or deleted) and search.part in subject.name.casefold():
            (active if item["active"] else gone).append(subject)
            if len(active) + len(gone) == most:
                through = subject
                break
    return Looked(tuple(_newest(tools, executor, active, gone)), searched, through)


def _page_of(tools: Tools, shard: int, where: Condition) -> list[Item]:
    pk = keys.list_pk(tools.places.registry, shard)
    return list(islice(tools.table.query(pk, where, page=NAMES, consistent=False), NAMES))


def _newest(
    tools: Tools, executor: Executor, active: Sequence[Subject], gone: Sequence[Subject]
) -> Iterator[tuple[Subject, Row]]:
    """In the order of names. A subject without an active version has its highest one, soft-deleted as it is."""
    asked = [executor.submit(_highest, tools, subject) for subject in gone]
    states = reading.states(tools.table, tools.places, active, consistent=False) if active else {}
    rows = {subject: states[subject].head.newest for subject in active}
    rows |= {subject: each.result() for subject, each in zip(gone, asked, strict=True)}
    for subject in sorted(rows, key=keys.list_sk):
        if (row := rows[subject]) is not None:
            yield subject, row


def _highest(tools: Tools, subject: Subject) -> Row | None:
    pk, _ = tools.places.head(subject)
    found = next(tools.table.query(pk, _VERSIONS, descending=True, page=1, consistent=False), None)
    return None if found is None else replace(items.version(found).row, deleted=True)
