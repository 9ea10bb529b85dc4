"""Records of the topic `_dek_registry_keys`, read: one record, one event."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sigla.journal.replay.events import DekSet, KekSet
from sigla.keks import records
from sigla.keks.nouns import FIRST_VERSION, HIGHEST_VERSION, Algorithm, DekName, named
from sigla.keks.rules import check_kek_name, check_material, check_subject, storable

Json = Mapping[str, Any]

NOT_STORABLE: Final = "this registry would not store such a key"


def kek_event(offset: int, ts: int, key: Json, value: Json | None) -> KekSet:
    """Raises ValueError, LookupError, TypeError, InvalidKeyField."""
    name = check_kek_name(key["name"])
    if value is None:
        return KekSet(offset, name, None)
    # A null is as if it were not there, but for a setting of a driver.
    told = {member: said for member, said in value.items() if said is not None}
    return KekSet(offset, name, storable(records.kek({**told, "name": name, "ts": ts, "revision": ""})))


def dek_event(offset: int, ts: int, key: Json, value: Json | None) -> DekSet:
    """Raises ValueError, LookupError, TypeError, InvalidKeyField."""
    kek, subject = check_kek_name(key["kekName"]), check_subject(key["subject"])
    name, version = DekName(kek, named(subject), Algorithm(key["algorithm"])), key["version"]
    if version.__class__ is not int or not FIRST_VERSION <= version <= HIGHEST_VERSION:
        raise ValueError(version)
    if value is None:
        return DekSet(offset, name, version, None)
    told = {member: said for member, said in value.items() if said is not None}
    about = {"kekName": kek, "subject": subject, "algorithm": name.algorithm.value, "version": version}
    dek = records.dek({**told, **about, "ts": ts, "revision": ""})
    check_material(dek.material)
    return DekSet(offset, name, version, dek)


READERS: Final[Mapping[str, Callable[[int, int, Json, Json | None], KekSet | DekSet]]] = {
    records.KEK: kek_event,
    records.DEK: dek_event,
}
"""By the `type` of a record's key; there is no `keytype` in it. Unknown members are passed by."""
