"""What the last audit found in data lies beside a registry, whole, and is told of the ids that are asked for."""

import pytest

from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId
from sigla.ports.audits import FoundRecords, Occurrence
from sigla.registry.audits import packed, unpacked
from tests.build import NOW
from tests.contract.conftest import Stores

ONE, TWO, ABROAD = BodyKey(".", SchemaId(1)), BodyKey(".", SchemaId(2)), BodyKey(".eu", SchemaId(1))
FOUND = FoundRecords(
    NOW,
    ("/lake", "s3://lake/tables"),
    (Occurrence(ONE, "orders", 3, NOW), Occurrence(ONE, "größe", 1, None), Occurrence(TWO, "orders", 7, -1)),
    {"orders": 604_800_000},
)


def test_what_an_audit_found_is_told_of_the_ids_that_are_asked_for(stores: Stores) -> None:
    assert stores.audits.get() is None
    stores.audits.put(packed(FOUND))
    content = stores.audits.get()
    assert content is not None
    assert unpacked(content, [ONE, TWO]) == FOUND
    assert unpacked(content, [TWO, ABROAD]).occurrences == FOUND.occurrences[2:]


def test_the_last_audit_stands_in_the_place_of_the_one_before(stores: Stores) -> None:
    """The same bytes twice, too."""
    first, second = packed(FOUND), packed(FoundRecords(NOW + 1, (), ()))
    for content in (first, second, second, first):
        stores.audits.put(content)
        assert stores.audits.get() == content


@pytest.mark.parametrize("content", [b"", b"not packed", packed(FOUND)[:-9], packed(FOUND)[:20]])
def test_a_damaged_audit_is_a_sentence(content: bytes) -> None:
    with pytest.raises(StoreError, match="is damaged: run the audit again"):
        unpacked(content, [ONE])


def test_an_audit_of_a_newer_release_is_not_misread(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        newer.setattr("sigla.registry.audits.AUDIT", 2)
        content = packed(FOUND)
    with pytest.raises(StoreError, match="written by a newer release of Sigla"):
        unpacked(content, [ONE])


def test_an_audit_of_many_ids_is_small() -> None:
    """It is read whole at each question, and at each delete."""
    many = [Occurrence(BodyKey(".", SchemaId(number)), "orders", 1, NOW) for number in range(1, 100_001)]
    content = packed(FoundRecords(NOW, (), many))
    assert len(content) < 1_000_000
    assert [each.key for each in unpacked(content, [TWO]).occurrences] == [TWO]
