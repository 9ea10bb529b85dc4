"""Keys of field encryption that another registry has, read through its API as records of `_dek_registry_keys`."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import orjson

from sigla.journal.replay import TopicRecord
from sigla.keks import records
from sigla.keks.nouns import Algorithm, named
from sigla.ports.progress import Progress
from sigla.remote.client import Remote
from sigla.remote.failures import Withheld

KEKS: Final = "/dek-registry/v1/keks"
NOT_UNWRAPPED: Final = (40370, 42271, 50070)
"""What a registry answers about a DEK that its key service does not unwrap, however often it is asked."""
NOT_BASE64: Final = 500
"""What Confluent's answers about a DEK under a shared KEK whose material is anything but base64."""

Json = dict[str, Any]


def read(remote: Remote, progress: Progress) -> list[TopicRecord]:
    """KEKs, then DEKs, soft-deleted ones included; none where the registry keeps no keys.

    To whom it does not tell credentials of key services, these are missing. A DEK that it cannot unwrap has a record
    that says nothing, and so is skipped by name; likewise the DEKs of a subject whose alias leads elsewhere.
    """
    names: list[str] = list(remote.find(KEKS, deleted="true") or ())
    if not names:
        return []
    found = list(remote.many(_kek_record, names, "KEKs", progress))
    under = zip(names, remote.many(_subjects, names, "KEKs", progress), strict=True)
    shared = {name for name, kek in zip(names, found, strict=True) if orjson.loads(kek.value or b"{}").get("shared")}
    places = [(name, subject, name in shared) for name, subjects in under for subject in subjects]
    for some in remote.many(_dek_records, places, "DEKs", progress):
        found += some
    return found


def _kek_record(remote: Remote, name: str) -> TopicRecord:
    answer: Json = remote.get(_path(name), deleted="true")
    return _record(records.kek_key(name), answer)


def _subjects(remote: Remote, name: str) -> list[str]:
    return list(remote.get(f"{_path(name)}/deks", deleted="true") or ())


def _dek_records(remote: Remote, place: tuple[str, str, bool]) -> list[TopicRecord]:
    return list(_deks_of(remote, *place))


def _deks_of(remote: Remote, kek: str, subject: str, shared: bool) -> Iterator[TopicRecord]:  # noqa: FBT001 - one of a place
    """Those of the subject itself: where it has an alias, the API answers with those of another one (KEY-10)."""
    hopeless = (*NOT_UNWRAPPED, NOT_BASE64) if shared else NOT_UNWRAPPED
    ask = partial(remote.get, deleted="true")
    path = f"{_path(kek)}/deks/{quote(subject, safe='')}/versions"
    is_found = False
    for algorithm in (each.value for each in Algorithm):
        for version in ask(path, algorithm=algorithm) or ():
            key = {"kekName": kek, "subject": subject, "algorithm": algorithm, "version": version, "type": records.DEK}
            try:
                answer: Json = remote.get_unless(hopeless, f"{path}/{version}", deleted="true", algorithm=algorithm)
            except Withheld:
                yield TopicRecord(orjson.dumps(key), b"", 0, 0)
                is_found = True
                continue
            if named(answer["subject"]) != named(subject):
                continue
            is_found = True
            # The answer has a raw key under a shared KEK; a record never has one.
            yield _record(key, {name: said for name, said in answer.items() if name != "keyMaterial"})
    if not is_found and subject in _subjects(remote, kek):  # else they were deleted meanwhile
        key = {"kekName": kek, "subject": subject, "type": records.DEK}
        yield TopicRecord(orjson.dumps(key), b"", 0, 0)


def _record(key: Json, answer: Json) -> TopicRecord:
    return TopicRecord(orjson.dumps(key), orjson.dumps(answer), answer["ts"], 0)


def _path(name: str) -> str:
    return f"{KEKS}/{quote(name, safe='')}"
