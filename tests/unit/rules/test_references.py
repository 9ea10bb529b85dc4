"""What a list of references resolves to, and in which order (VR-5)."""

from collections.abc import Mapping

import pytest

from sigla.errors import Malformed
from sigla.model import (
    Body,
    BodyKey,
    Guid,
    Reference,
    Resolved,
    Schema,
    SchemaId,
    Subject,
    Target,
    Version,
)
from sigla.rules import references

Uses = Mapping[str, tuple[str, ...]]
"""Each schema's name with the names of those it references; a schema's text is its name."""


def resolved(uses: Uses, *wanted: str, strict: bool = False) -> list[str]:
    """The names in resolution order."""
    found = references.resolve(*of(uses, wanted), Store(uses).get, strict_versions=strict)
    assert all(isinstance(each, Resolved) for each in found)
    return [each.text for each in found]


def of(uses: Uses, wanted: tuple[str, ...]) -> tuple[tuple[Reference, ...], tuple[Target, ...]]:
    """References and targets; `name@subject` uses another subject than the name's own."""
    refs, targets = [], []
    for each in wanted:
        name, _, subject = each.partition("@")
        refs.append(Reference(name, subject or name, Version(1)))
        targets.append(Target(".", subject or name, Version(1), SchemaId(list(uses).index(subject or name) + 1)))
    return tuple(refs), tuple(targets)


class Store:
    """Bodies by id, in the order of the names; it counts what it is asked."""

    def __init__(self, uses: Uses) -> None:
        self.uses = uses
        self.asked: list[SchemaId] = []

    def get(self, key: BodyKey) -> Body:
        self.asked.append(key.id)
        name = list(self.uses)[key.id - 1]
        refs, targets = of(self.uses, self.uses[name])
        return Body(Schema("AVRO", name, refs), Guid(""), targets, Subject(".", name), Version(1), 0, "")


def test_what_a_schema_uses_comes_before_it() -> None:
    """Depth first: a parser that reads the list from the front always knows what a text mentions."""
    assert resolved({"a": ("b",), "b": ("c",), "c": ()}, "a") == ["c", "b", "a"]


def test_a_list_keeps_its_order() -> None:
    """Siblings are resolved as they are listed."""
    assert resolved({"a": (), "b": (), "c": ()}, "b", "a", "c") == ["b", "a", "c"]


def test_a_diamond_is_resolved_once() -> None:
    """Both sides use one base, which is read and listed only once."""
    uses: Uses = {"left": ("base",), "right": ("base",), "base": ()}
    store = Store(uses)
    found = references.resolve(*of(uses, ("left", "right")), store.get)
    assert [each.text for each in found] == ["base", "left", "right"]
    assert len(store.asked) == 3


def test_of_one_name_the_first_wins() -> None:
    """A reference name met again is skipped, whatever it leads to."""
    uses: Uses = {"a": ("x@one",), "one": (), "two": ()}
    assert resolved(uses, "a", "x@two") == ["one", "a"]
    assert resolved(uses, "x@two", "a") == ["two", "a"]


def test_strictly_one_name_means_one_version() -> None:
    """With the strict setting two subjects behind one name are an error; the same one twice is not."""
    uses: Uses = {"a": ("x@one",), "one": (), "two": ()}
    with pytest.raises(Malformed) as refused:
        resolved(uses, "a", "x@two", strict=True)
    assert refused.value.reason == 'Conflicting reference versions for "x": version 1 and version 1'
    assert resolved(uses, "a", "x@one", strict=True) == ["one", "a"]


def test_a_chain_may_be_long_but_not_endless() -> None:
    """A thousand schemas are resolved without recursion; beyond it a sentence refuses."""
    count = references.MOST_SCHEMAS
    uses = {f"s{n}": (f"s{n + 1}",) if n < count else () for n in range(count + 1)}
    assert len(resolved(uses, "s1")) == count
    with pytest.raises(Malformed) as refused:
        resolved(uses, "s0")
    assert "referenced, directly or indirectly" in refused.value.reason


def test_nothing_referenced_is_nothing_read() -> None:
    """Most schemas stand alone."""
    assert references.resolve((), (), Store({}).get) == ()
