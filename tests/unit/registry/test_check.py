"""Would it be accepted? Nothing is written (COMPAT-1 to COMPAT-9)."""

from typing import Any

import pytest

from sigla.errors import EmptySchema, InvalidSchema, VersionNotFound
from sigla.model import LATEST, Draft, Version
from sigla.registry import Registry
from tests.unit.registry.tell import ALL, BASE, ONE, STRING, TWO, USING, refer, register, s, said, versions

LONG = ONE.replace("int", "long")


def fits(registry: Registry, text: str | None, subject: str = "a", version: int | None = None, **fields: Any) -> bool:
    number = None if version is None else Version(version)
    return not registry.check(s(subject), Draft(text, **fields), version=number)


def test_one_version_is_compared_by_direction_alone(registry: Registry) -> None:
    """Transitivity has no effect, NONE allows everything (COMPAT-3)."""
    register(registry, "a", ONE)
    register(registry, "a", STRING, force=True)
    assert not fits(registry, LONG)
    assert fits(registry, LONG, version=1)
    assert not fits(registry, LONG, version=LATEST)
    registry.change_config(s("a"), {"level": "BACKWARD_TRANSITIVE"})
    assert fits(registry, STRING, version=2)
    assert not fits(registry, STRING)
    registry.change_config(s("a"), {"level": "NONE"})
    assert fits(registry, BASE, version=1)


def test_what_is_not_there_to_compare_with(registry: Registry) -> None:
    """A number is 40402 even for an unknown subject; latest and all are compatible (COMPAT-1, COMPAT-2)."""
    for subject in ("nobody", "a"):
        with pytest.raises(VersionNotFound):
            fits(registry, ONE, subject, 1)
        assert fits(registry, ONE, subject, LATEST)
        assert fits(registry, ONE, subject)
        register(registry, "a")
        registry.delete_subject(s("a"))
    register(registry, ":.c:b")
    with pytest.raises(VersionNotFound):
        fits(registry, ONE, "b", 1)


def test_a_schema_is_understood_before_it_is_compared(registry: Registry) -> None:
    """Also at NONE; blank is invalid; references must be active (COMPAT-4)."""
    registry.change_config(s("a"), {"level": "NONE"})
    with pytest.raises(InvalidSchema):
        fits(registry, "{")
    with pytest.raises(EmptySchema):
        fits(registry, " ")
    register(registry, "base", BASE)
    assert fits(registry, USING, references=(refer("base"),))
    registry.delete_subject(s("base"))
    with pytest.raises(InvalidSchema):
        fits(registry, USING, references=(refer("base"),))


def test_a_check_writes_nothing_in_any_mode(registry: Registry) -> None:
    """COMPAT-5."""
    register(registry, "a")
    registry.change_mode(s("a"), "READONLY")
    assert fits(registry, TWO)
    assert versions(registry, "a") == [1]
    assert registry.contexts(page=ALL) == ["."]


def test_a_group_is_compared_within_itself(registry: Registry) -> None:
    """Metadata is not inherited here (COMPAT-5, COMPAT-7)."""
    registry.change_config(s("a"), {"group": "major"})
    register(registry, "a", ONE, metadata=said(major="1"))
    register(registry, "a", STRING, metadata=said(major="2"))
    assert fits(registry, LONG, metadata=said(major="1"))
    assert not fits(registry, LONG, metadata=said(major="2"))
    assert fits(registry, BASE)


def test_soft_deleted_versions_are_not_compared(registry: Registry) -> None:
    """Table 6.3: the subject looks empty."""
    register(registry, "a", ONE)
    register(registry, "a", STRING, force=True)
    registry.delete_version(s("a"), Version(2))
    assert fits(registry, LONG)
    registry.change_config(s("a"), {"level": "FULL_TRANSITIVE"})
    registry.delete_version(s("a"), Version(1))
    assert fits(registry, BASE)


def test_references_are_compared_by_what_they_mean(registry: Registry) -> None:
    """Each side with its own (LV-10)."""
    register(registry, "base", BASE)
    register(registry, "base", BASE.replace("int", "long"))
    register(registry, "a", USING, references=(refer("base", 2),))
    assert not fits(registry, USING, references=(refer("base", 1),))
    assert fits(registry, USING, references=(refer("base", 2),))
