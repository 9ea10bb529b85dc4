"""Each way in which keys and associations can come apart is found, told once, and put right where that can be done."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import RowUnreadable
from sigla.keks.nouns import Kek
from sigla.keks.verbs import keks
from sigla.ports.progress import unseen
from sigla.upkeep import exporting
from sigla.upkeep.flaws import FIXABLE, KINDS
from sigla.upkeep.mending import fix
from tests.attack.associations import ended
from tests.attack.keys import kek
from tests.attack.ports import Call, watched
from tests.contract.aws import Account, moto
from tests.unit.registry.breaking_keys import (
    BREAKS,
    VERBS,
    T,
    deks_purged_softly,
    garbled_beside_scattered,
    no_kek_ever,
    told_garbled,
)
from tests.unit.registry.scrubbing import Broken, in_a_directory, in_aws, registry_of
from tests.unit.registry.test_scrub import found_in

__all__ = ["moto"]


@pytest.fixture(params=["directory", "aws-moto"])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broken]:
    """A registry with keys and associations."""
    account: Account | None = None if request.param == "directory" else request.getfixturevalue("moto")
    with in_a_directory(tmp_path / "data") if account is None else in_aws(account) as made:
        registry = registry_of(made.store)
        for verb in VERBS:
            verb(registry)
        keks.delete_kek(registry, "gone")
        keks.delete_kek(registry, "gone", permanent=True)
        yield made


OF_RECORDS = {name for name, kind in KINDS.items() if "{about}" in kind.sentence}
OF_A_TABLE = {
    name
    for name in BREAKS
    if name.startswith("ASSOCIATION_SCATTERED") or (name.startswith("KEK_MISCOUNTED") and "in the list" not in name)
}
"""A directory has one row for each, which is counted where it is asked for."""
QUICK = {
    "ROW_UNREADABLE, another DEK",
    "JOURNAL_UNREADABLE, no JSON",
    "KEK_MISCOUNTED, a DEK too many",
    "ASSOCIATION_SCATTERED, of the subject",
}
CASES = [
    *(pytest.param("directory", name) for name in BREAKS if name not in OF_A_TABLE),
    *(
        pytest.param("aws-moto", name, marks=[] if name in QUICK else pytest.mark.soak)
        for name in BREAKS
        if name != "KEK_MISSING for good"
    ),
]


def kind_of(name: str) -> str:
    return name.replace(",", " ").partition(" ")[0]


def test_keys_and_associations_of_a_healthy_registry_have_no_flaws(broken: Broken) -> None:
    """Deleted DEKs, a KEK that is gone, and subjects that are shared are all as they should be."""
    assert found_in(broken.store) == []
    deks_purged_softly(broken)
    ended("t", cascade=True)(registry_of(broken.store))
    ended("u")(registry_of(broken.store))
    assert found_in(broken.store) == []


@pytest.mark.parametrize("broken,name", CASES, indirect=["broken"])
def test_what_came_apart_is_found_out_and_put_right(broken: Broken, name: str) -> None:
    """That, and what follows from it, and nothing else; what can be put right is told no more afterwards."""
    act, expected = BREAKS[name]
    act(broken)
    found = found_in(broken.store)
    assert {flaw.kind for flaw in found} - {"JOURNAL_GAP", "VERSION_GAP", "HISTORY_AHEAD"} == set(expected)
    for kind, told in expected.items():
        assert len([flaw for flaw in found if flaw.kind == kind]) == len(told)
        assert all(any(words in flaw.sentence for flaw in found) for words in told)
    assert not any("s3cr3t" in str(flaw) + flaw.sentence for flaw in found)
    if name == "KEK_MISSING, told otherwise":
        assert not any(fix(broken.store, flaw) for flaw in found if flaw.kind in FIXABLE)
    elif kind_of(name) in FIXABLE and name != "KEK_MISSING for good":
        assert all(fix(broken.store, flaw) for flaw in [*found, *found] if flaw.kind in FIXABLE)
        assert found_in(broken.store) == []
    check_sound(broken)


def check_sound(broken: Broken) -> None:
    """Whatever was put right, a KEK with DEKs is not deleted, nor is a subject of a topic."""
    rows = list(broken.store.inventory.key_rows())
    under = [row for row in rows if not isinstance(row, Kek)]  # all of them are of one KEK
    if any(isinstance(row, Kek) and row.name == "k" for row in rows):
        assert broken.store.catalog.deks_counted("k").stored in (0, len(under))


@pytest.mark.parametrize(
    "broken, of_the_other", [("directory", {}), ("aws-moto", {"doc": "other"})], indirect=["broken"]
)
def test_a_kek_that_another_writer_puts_back_at_that_moment_is_that_writers(
    broken: Broken, of_the_other: dict[str, Any]
) -> None:
    """The command goes on with the next flaw, and says that this one is left: the next scrub looks at it again."""
    BREAKS["KEK_MISSING"][0](broken)
    (flaw,) = (each for each in found_in(broken.store) if each.kind == "KEK_MISSING")
    others: list[Any] = []

    def just_before(call: Call, carry_out: Callable[[], Any]) -> Any:
        if call.is_commit and not others:
            others.append(kek("k", **of_the_other)(registry_of(broken.store)))
        return carry_out()

    catalog, _ = watched(broken.store.catalog, broken.store.bodies, just_before)
    assert not fix(replace(broken.store, catalog=catalog), flaw)
    assert others
    standing = broken.store.catalog.kek("k")
    assert standing is not None
    assert standing.doc == of_the_other.get("doc")
    assert "KEK_MISSING" not in {each.kind for each in found_in(broken.store)}


def test_a_kek_that_the_journal_does_not_know_is_left_to_a_person(tmp_path: Path) -> None:
    """Its settings cannot be guessed."""
    with in_a_directory(tmp_path / "data") as broken:
        registry = registry_of(broken.store)
        for verb in VERBS[:2]:
            verb(registry)
        no_kek_ever(broken)
        (flaw,) = (flaw for flaw in found_in(broken.store) if flaw.kind == "KEK_MISSING")
        assert not fix(broken.store, flaw)
        assert "create the KEK again" in KINDS[flaw.kind].remedy


def test_an_association_that_cannot_be_read_hides_no_flaw_of_another(moto: Account) -> None:
    """The other one is told, and put right; its neighbour is told too, as questions that meet the row fail."""
    with in_aws(moto) as broken:
        for verb in VERBS:
            verb(registry_of(broken.store))
        garbled_beside_scattered(broken)
        found = found_in(broken.store)
        assert "ROW_UNREADABLE" in {flaw.kind for flaw in found}
        assert "RECORD_AHEAD" not in {flaw.kind for flaw in found}
        scattered = [flaw for flaw in found if flaw.kind == "ASSOCIATION_SCATTERED"]
        (flaw,) = (flaw for flaw in scattered if T in flaw.sentence)
        assert fix(broken.store, flaw)
        assert not any(fix(broken.store, other) for other in scattered if other != flaw)
        assert flaw not in found_in(broken.store)


@pytest.mark.parametrize("topic", [exporting.topic, exporting.key_topic])
def test_an_export_names_the_row_of_the_journal_that_it_cannot_read(topic: Any, tmp_path: Path) -> None:
    """One sentence, with the place and the command that goes on; what stands can be exported without the journal."""
    with in_a_directory(tmp_path / "data") as broken:
        for verb in VERBS[:3]:
            verb(registry_of(broken.store))
        told_garbled(b"{")(broken)
        with pytest.raises(RowUnreadable, match=r"row at position [0-9]+ cannot be read: sigla scrub names the remedy"):
            list(topic(broken.store, unseen))
        list(topic(broken.store, unseen, compacted=True))


def test_every_kind_about_keys_and_associations_is_tried() -> None:
    tried = {kind_of(name) for name in BREAKS}
    assert tried == OF_RECORDS
