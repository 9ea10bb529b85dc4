"""The source of a copy, page by page: a thousand rows, and the subjects of which the last row is among them.

A page is read twice, and then the heads of its subjects, a hundred at a time. A subject whose head had moved as often
in the first reading as it has behind the second one stood still in between, so that its rows are of one moment. One
that moved, or that goes beyond the page, is read by itself (`copied_subjects.partition`).
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from sigla import keys
from sigla.model import Subject
from sigla.stores.dynamodb.actions import Key
from sigla.stores.dynamodb.copied_subjects import Rows, moved
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import MOST_READ
from sigla.stores.dynamodb.values import Item

_NUMBER: Final = "revision"


@dataclass(frozen=True, slots=True)
class CopiedPage:
    """rows: of the registry; of subjects their settings alone. last: after which the next page begins, if any.

    subjects: each with its rows, or None where it is to be read by itself.
    """

    rows: list[Item]
    subjects: Mapping[Subject, Rows | None]
    last: Key | None


def read_page(source: Tools, readers: Executor, after: Key | None) -> CopiedPage:
    own = f"{keys.component(source.places.registry)}#"
    of_subjects = f"{own}s#"
    looked, looked_last = source.table.scan(after, only=[_NUMBER])
    found, last = source.table.scan(after)
    seen = {item["pk"]: 0 for item in looked if not looked_last or item["pk"] != looked_last[0]}
    seen |= {item["pk"]: moved(item) for item in looked if item["sk"] == keys.HEAD and item["pk"] in seen}
    partitions: dict[str, dict[str, Item]] = {}
    if after and after[0].startswith(of_subjects):
        partitions[after[0]] = {}
        seen.pop(after[0], None)
    for item in found:
        if item["pk"].startswith(of_subjects):
            partitions.setdefault(item["pk"], {})[item["sk"]] = item
    if last:
        partitions.pop(last[0], None)  # it is the next page's, whether it goes on there or not
    heads = heads_of(source, readers, (pk for pk in partitions if pk in seen))
    subjects: dict[Subject, Rows | None] = {}
    for pk, rows in partitions.items():
        head = heads.get(pk)
        is_still = pk in seen and moved(head) == seen[pk]
        subjects[keys.subject_of(pk)] = _as_of(rows, head) if is_still else None
    others = [
        item
        for item in found
        if item["pk"].startswith(own) and (item["sk"] == keys.SETTINGS or not item["pk"].startswith(of_subjects))
    ]
    return CopiedPage(others, subjects, last)


def heads_of(tools: Tools, readers: Executor, partitions: Iterable[str]) -> dict[str, Item]:
    """Those that are there, by the partitions of their subjects."""
    found = items_at(tools, readers, ((pk, keys.HEAD) for pk in partitions))
    return {pk: head for (pk, _), head in found.items()}


def items_at(tools: Tools, readers: Executor, places: Iterable[Key]) -> dict[Key, Item]:
    """Those that are there: a question for each hundred places, side by side."""
    wanted = list(dict.fromkeys(places))
    asked = [wanted[at : at + MOST_READ] for at in range(0, len(wanted), MOST_READ)]
    return {key: item for some in readers.map(tools.table.get_many, asked) for key, item in some.items()}


def _as_of(rows: Rows, head: Item | None) -> Rows:
    kept = {sk: item for sk, item in rows.items() if sk not in (keys.HEAD, keys.SETTINGS)}
    return {**kept, keys.HEAD: head} if head else kept
