"""Associations that another registry has, read through its API as records of `_schemas`."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from sigla.associations import records
from sigla.associations.nouns import TOPIC
from sigla.journal.replay import TopicRecord
from sigla.model import Subject
from sigla.ports.progress import Progress
from sigla.records import pair
from sigla.remote.client import Remote

EVERYWHERE: Final = "/associations/resources/-/-"
"""A `-` stands for every namespace, and for every name."""
PAGE: Final = 1000
"""Associations of an answer: the reference's most."""

Json = dict[str, Any]


def read(remote: Remote, progress: Progress, *, page: int = PAGE) -> list[TopicRecord]:
    """All of them, page by page, until one has nothing new; none where the registry has no associations."""
    found: dict[str, Json] = {}
    known = -1
    while known < len(found):
        known = len(found)
        answer = remote.find(EVERYWHERE, offset=known, limit=page)
        found |= {each["guid"]: each for each in answer or ()}
        if found:
            progress("associations", len(found))
    return [record for each in found.values() for record in _records_of(each)]


def of_subject(remote: Remote, subject: Subject) -> list[TopicRecord]:
    """Those of one subject; none where the registry has no associations."""
    answer = remote.find(f"/associations/subjects/{quote(subject.qualified, safe='')}", limit=PAGE)
    return [record for each in answer or () for record in _records_of(each)]


def _records_of(answer: Json) -> Iterator[TopicRecord]:
    """One at each of its times: an association that was written again was created when it was written first."""
    one = records.from_value({"resourceType": TOPIC, **answer}, answer["createTs"], answer["updateTs"])
    written = pair(records.key(one), records.value(one))
    for ts in dict.fromkeys((one.created, one.updated)):
        yield TopicRecord(*written, ts, 0)
