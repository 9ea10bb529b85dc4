"""The history of each subject, in its partition: an item for each commit, written by the transaction of that.

The journal's rows expire, and segments are in the order of all subjects: neither can be asked for one of them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sigla import keys
from sigla.journal.subject_histories import entry_about, entry_form, entry_in, subjects_of
from sigla.model import Subject
from sigla.ports.log import LogEntry
from sigla.stores.dynamodb.actions import Action, Condition, put
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item, packed, unpacked

FIRST_PAGE: Final = 24
"""Items of the first page; of the next ones there are more."""

_BEGINS = Condition("begins_with(#sk, :sk)", {"sk": keys.COMMIT})


def items_of(places: Places, row: Mapping[str, Any], at: int) -> list[Action]:
    """What the commit of a journal row writes into histories. at: its hybrid time."""
    return [put_entry(places, subject, entry_about(row, subject, at)) for subject in subjects_of(row)]


def put_entry(places: Places, subject: Subject, entry: LogEntry, *, carried: bool = False) -> Action:
    """carried: it is of another journal."""
    item: Item = {"commit": packed(entry_form(entry)), "carried": carried or None}
    return put(places.commit(subject, entry.at, entry.nonce), item)


def commits_about(tools: Tools, subject: Subject) -> Iterator[LogEntry]:
    pk = keys.subject_pk(tools.places.registry, subject)
    for item in tools.table.query(pk, _BEGINS, descending=True, page=FIRST_PAGE):
        yield entry_in(unpacked(item["commit"]), subject, *keys.commit_of(item["sk"]))
