"""Keys, on every store: what is written is found, and a key is written over by whoever has seen it."""

from dataclasses import replace
from typing import Any

import pytest

from sigla.changes import DeksChanged, DekWrite, KekChanged
from sigla.errors import Conflict
from sigla.journal import key_records_of
from sigla.keks.nouns import Algorithm, Dek, DekName, Kek, ListedDek, named
from sigla.ports.catalog import Catalog
from sigla.ports.journal import Journal
from tests.build import NOW, a_nonce

GCM, SIV = Algorithm.AES256_GCM, Algorithm.AES256_SIV


def a_kek(name: str = "k", **fields: Any) -> Kek:
    return replace(Kek(name, "local-kms", "id", ts=NOW, revision=a_nonce()), **fields)


def a_dek(subject: str = "s", version: int = 1, **fields: Any) -> Dek:
    return replace(Dek("k", subject, GCM, version, "AAA=", ts=NOW, revision=a_nonce()), **fields)


def write_kek(catalog: Catalog, kek: Kek | None, seen: Kek | None = None, *, unused: bool = False) -> None:
    name = (kek or seen or a_kek()).name
    catalog.commit(KekChanged(name, seen, kek, NOW, kek.revision if kek else a_nonce(), unused=unused))


def write_deks(catalog: Catalog, kek: Kek, *writes: tuple[Dek | None, Dek | None]) -> None:
    catalog.commit(DeksChanged(kek, tuple(DekWrite(*write) for write in writes), NOW, a_nonce()))


def name_of(subject: str = "s", algorithm: Algorithm = GCM) -> DekName:
    return DekName("k", named(subject), algorithm)


def test_a_key_is_found_as_it_was_written(catalog: Catalog) -> None:
    """Clients encrypt with what they read."""
    kek = a_kek("é_1", kms_props={"b": None, "a": "1"}, doc="", shared=True, deleted=True)
    write_kek(catalog, kek)
    assert catalog.kek("é_1") == kek
    under = a_kek()
    dek = a_dek(":.c:s", 7, algorithm=SIV, material="", deleted=True)
    write_kek(catalog, under)
    write_deks(catalog, under, (None, dek))
    found = catalog.deks_of(name_of(":.c:s", SIV), 7)
    assert found == (under, (dek,))
    assert catalog.kek("nothing") is None
    assert catalog.deks_of(name_of(":.c:s", GCM), 7).deks == ()


def test_versions_are_told_in_order_and_lists_are_whole(catalog: Catalog) -> None:
    """The latest is the last of them; a tool that rotates keys walks through the lists."""
    keks = [a_kek(name) for name in ("k", "a", "\ue000", "\U00010000")]
    for kek in keks:
        write_kek(catalog, kek)
    deks = [a_dek(version=version) for version in (10, 2, 1)] + [a_dek("sx"), a_dek(":.c:s", deleted=True)]
    for dek in deks:
        write_deks(catalog, keks[0], (None, dek))
    assert [dek.version for dek in catalog.deks_of(name_of()).deks] == [1, 2, 10]
    assert [kek.name for kek in catalog.keks()] == ["a", "k", "\U00010000", "\ue000"]
    assert catalog.deks_counted("k") == (5, 4)
    assert catalog.deks_counted("a") == catalog.deks_counted("nothing") == (0, 0)
    assert {dek.revision for dek in catalog.deks("k")} == {dek.revision for dek in deks}
    assert set(catalog.deks_listed("s")) == {ListedDek("k", "s", False), ListedDek("k", "sx", False)}
    assert set(catalog.deks_listed()) == {*catalog.deks_listed("s"), ListedDek("k", ":.c:s", True)}


def test_a_subject_has_one_key_however_it_is_spelled(catalog: Catalog) -> None:
    """Two spellings of one subject would be two keys for one topic."""
    kek = a_kek()
    write_kek(catalog, kek)
    write_deks(catalog, kek, (None, a_dek("s")))
    assert [dek.subject for dek in catalog.deks_of(name_of(":.:s"), 1).deks] == ["s"]
    with pytest.raises(Conflict):
        write_deks(catalog, kek, (None, a_dek(":.:s")))


def test_whoever_has_seen_another_key_writes_nothing(catalog: Catalog) -> None:
    """One of two writers wins; the other looks again."""
    first = a_kek()
    write_kek(catalog, first)
    with pytest.raises(Conflict):
        write_kek(catalog, a_kek(doc="other"))
    second = a_kek(doc="second")
    write_kek(catalog, second, first)
    with pytest.raises(Conflict):
        write_kek(catalog, a_kek(doc="late"), first)
    with pytest.raises(Conflict):
        write_deks(catalog, first, (None, a_dek()))
    dek = a_dek()
    write_deks(catalog, second, (None, dek))
    with pytest.raises(Conflict):
        write_deks(catalog, second, (None, a_dek("other")), (None, a_dek()))
    with pytest.raises(Conflict):
        write_deks(catalog, second, (a_dek(), None))
    assert catalog.kek("k") == second
    assert list(catalog.deks("k")) == [dek]


def test_a_kek_goes_where_no_dek_stands(catalog: Catalog) -> None:
    """A data key without its KEK can never be unwrapped again."""
    kek, dek = a_kek(), a_dek()
    hidden = replace(dek, deleted=True, revision=a_nonce())
    write_kek(catalog, kek)
    write_deks(catalog, kek, (None, dek))
    deleted = a_kek(deleted=True)
    with pytest.raises(Conflict):
        write_kek(catalog, deleted, kek, unused=True)
    write_deks(catalog, kek, (dek, hidden))
    write_kek(catalog, deleted, kek, unused=True)
    with pytest.raises(Conflict):
        write_kek(catalog, None, deleted)
    write_deks(catalog, deleted, (hidden, None))
    write_kek(catalog, None, deleted)
    assert catalog.kek("k") is None
    assert list(catalog.keks()) == []
    assert list(catalog.deks_listed()) == []
    with pytest.raises(Conflict):
        write_deks(catalog, deleted, (None, a_dek()))
    again = a_kek(doc="again")
    write_kek(catalog, again)
    assert catalog.kek("k") == again


def test_the_journal_tells_keys_as_their_topic_has_them(catalog: Catalog, journal: Journal) -> None:
    """A registry that reads them elsewhere has the same keys."""
    kek, dek = a_kek(), a_dek()
    write_kek(catalog, kek)
    write_deks(catalog, kek, (None, dek))
    write_deks(catalog, kek, (dek, None))
    write_kek(catalog, None, kek)
    kek_key = b'{"tenant":"default","name":"k","type":"KEK"}'
    dek_key = b'{"tenant":"default","kekName":"k","subject":"s","algorithm":"AES256_GCM","version":1,"type":"DEK"}'
    told = list(key_records_of(row for _, row in journal.read()))
    assert told == [
        (
            kek_key,
            (
                b'{"name":"k","kmsType":"local-kms","kmsKeyId":"id","kmsProps":{},"shared":false,"deleted":false,'
                b'"type":"KEK"}'
            ),
            NOW,
        ),
        (
            dek_key,
            (
                b'{"kekName":"k","subject":"s","algorithm":"AES256_GCM","version":1,"encryptedKeyMaterial":"AAA=",'
                b'"deleted":false,"type":"DEK"}'
            ),
            NOW,
        ),
        (dek_key, None, NOW),
        (kek_key, None, NOW),
    ]
