"""Config and mode: patched, inherited, dropped; into IMPORT only where nothing lives (§7.4, §8)."""

from typing import Any

import pytest

from sigla.errors import (
    ForwardOnlyGlobal,
    ImportIntoExisting,
    InvalidLevel,
    InvalidMode,
    InvalidRuleSet,
    InvalidSubject,
    LevelNotConfigured,
    ModeImmutable,
    ModeNotConfigured,
    NotInReadWriteMode,
    ReadOnly,
    Referenced,
    SubjectNotFound,
)
from sigla.model import Config, Metadata, Rule, RuleSet, Version
from sigla.registry import Options, Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.unit.registry.tell import BASE, ONE, TWO, USING, register, registered, s, said, versions

RULES = RuleSet(domain=(Rule(name="r", type="CEL"),))


def put(registry: Registry, scope: str, **patch: Any) -> Config:
    return registry.change_config(s(scope), patch)


def test_a_patch_keeps_what_it_does_not_name(registry: Registry) -> None:
    """Absent keeps, None clears, a value replaces; the answer is the entry and nothing inherited (CFG-2, CFG-3)."""
    put(registry, "", level="FULL")
    assert put(registry, "a", alias="x", normalize=True) == Config(alias="x", normalize=True)
    assert put(registry, "a", level="none", alias=None) == Config(level="NONE", normalize=True)
    assert put(registry, "a") == Config(level="NONE", normalize=True)
    everything = Config(
        alias="a",
        alias_for_deks="b",
        normalize=False,
        validate_fields=True,
        validate_new_schemas=False,
        validate_rules=True,
        level="FORWARD",
        policy="LENIENT",
        group="g",
        default_metadata=said(k="v"),
        override_metadata=Metadata(tags={"x": ("PII",)}, sensitive=("k",)),
        default_rule_set=RULES,
        override_rule_set=RuleSet(),
    )
    fields = {name: getattr(everything, name) for name in Config.__dataclass_fields__}
    assert put(registry, "b", **fields) == everything
    assert registry.config(s("b")) == everything


def test_metadata_and_rules_are_replaced_whole(registry: Registry) -> None:
    """A patch does not merge into them (CFG-2)."""
    put(registry, "a", default_metadata=said(x="1"))
    assert put(registry, "a", default_metadata=said(y="2")).default_metadata == said(y="2")


def test_an_entry_shows_its_level_even_if_it_has_none(registry: Registry) -> None:
    """The server's default (CFG-8, INH-6); a subject without an entry is 40408 (CFG-7)."""
    put(registry, "", level="FULL")
    put(registry, "a", alias="x")
    assert registry.config(s("a")).level == "BACKWARD"
    with pytest.raises(LevelNotConfigured):
        registry.config(s("b"))
    assert registry.config(s("b"), default_to_global=True).level == "FULL"
    assert registry.config(s(":.c:b"), default_to_global=True).level == "BACKWARD"


def test_the_global_entries_always_answer(registry: Registry) -> None:
    """Also where nothing was ever set; the registry-wide one is behind the global one (INH-4, CFG-6)."""
    for scope in ("", ":.:", ":.__GLOBAL:"):
        assert registry.config(s(scope)) == Config(level="BACKWARD")
        assert registry.drop_config(s(scope)) == Config(level="BACKWARD")
        assert registry.mode(s(scope)) == "READWRITE"
    put(registry, ":.__GLOBAL:", level="NONE")
    assert registry.config(s("")).level == "BACKWARD"
    assert registry.config(s(""), default_to_global=True).level == "NONE"


def test_dropping_a_config(registry: Registry) -> None:
    """The entry that was; without one 40401, not 40408 (CFG-9, CFG-10)."""
    put(registry, "a", group="g")
    assert registry.drop_config(s("a")) == Config(group="g", level="BACKWARD")
    with pytest.raises(SubjectNotFound):
        registry.drop_config(s("a"))
    put(registry, "", level="FULL")
    assert registry.drop_config(s("")).level == "FULL"
    assert registry.config(s("")).level == "BACKWARD"


def test_the_checks_on_a_config_come_in_order(registry: Registry) -> None:
    """Level, rule sets, name, read-only; and an unknown policy counts as none (§7.4, COMPAT-8)."""
    bad = RuleSet(domain=(Rule(name="1", type="CEL"),))
    registry.change_mode(s("a"), "READONLY")
    with pytest.raises(InvalidLevel):
        put(registry, "__GLOBAL", level="sideways", override_rule_set=bad)
    with pytest.raises(InvalidRuleSet):
        put(registry, "__GLOBAL", override_rule_set=bad)
    with pytest.raises(InvalidSubject):
        put(registry, "__GLOBAL", level="FULL")
    with pytest.raises(ReadOnly):
        put(registry, "a", level="FULL")
    assert put(registry, "b", policy="lenient").policy == "LENIENT"
    assert put(registry, "b", policy="gentle").policy is None


def test_the_sentence_of_a_read_only_global_config(registry: Registry) -> None:
    """It speaks of a subject called null."""
    registry.change_mode(s(""), "READONLY")
    with pytest.raises(ReadOnly) as refused:
        put(registry, "", level="FULL")
    assert refused.value.message == "Subject null in context  is in read-only mode"
    with pytest.raises(ReadOnly):
        registry.drop_config(s(""))


def test_a_mode_is_set_read_and_removed(registry: Registry) -> None:
    """Names in any case; None removes the entry (MODE-1, MODE-2, MODE-9, MODE-10)."""
    registry.change_mode(s("a"), "readonly")
    assert registry.mode(s("a")) == "READONLY"
    registry.change_mode(s("a"), None)
    with pytest.raises(ModeNotConfigured):
        registry.mode(s("a"))
    assert registry.mode(s("a"), default_to_global=True) == "READWRITE"
    registry.change_mode(s(":.__GLOBAL:"), "FORWARD")
    assert registry.mode(s(":.c:a"), default_to_global=True) == "FORWARD"
    assert registry.drop_mode(s(":.__GLOBAL:")) == "FORWARD"
    assert registry.drop_mode(s("")) == "READWRITE"
    with pytest.raises(SubjectNotFound):
        registry.drop_mode(s("a"))
    assert registry.drop_mode(s("a"), recursive=True) is None


def test_the_checks_on_a_mode_come_in_order(store: EmbeddedStore, clock: FixedClock) -> None:
    """Name, mode, scope of FORWARD, mutability (§8.2)."""
    fixed = Registry(store.catalog, store.bodies, clock, Options(mode_mutability=False))
    for scope, mode, refusal in (
        ("__EMPTY", "SIDEWAYS", InvalidSubject),
        ("a", "SIDEWAYS", InvalidMode),
        ("a", "", InvalidMode),
        ("a", "FORWARD", ForwardOnlyGlobal),
        ("", "forward", ForwardOnlyGlobal),
        ("a", "READONLY", ModeImmutable),
    ):
        with pytest.raises(refusal):
            fixed.change_mode(s(scope), mode)
    with pytest.raises(ModeImmutable):
        fixed.drop_mode(s("a"))


def test_dropping_modes_below_a_context(registry: Registry) -> None:
    """Those of its subjects go with it, those of other contexts stay (MODE-11)."""
    for scope in (":.c:", ":.c:a", ":.c:b", "a", ":.d:a"):
        registry.change_mode(s(scope), "READONLY")
    assert registry.drop_mode(s(":.c:"), recursive=True) == "READONLY"
    assert [registry.mode(s(scope)) for scope in ("a", ":.d:a")] == ["READONLY"] * 2
    for scope in (":.c:", ":.c:a", ":.c:b"):
        with pytest.raises(ModeNotConfigured):
            registry.mode(s(scope))
    assert registry.drop_mode(s(""), recursive=True) is None
    with pytest.raises(ModeNotConfigured):
        registry.mode(s("a"))


@pytest.mark.parametrize("scope", ["a", "", ":.__GLOBAL:"])
def test_import_begins_only_where_nothing_is_active(registry: Registry, scope: str) -> None:
    """Then what is soft-deleted there is purged; the global scopes are all contexts (MODE-5, MODE-6)."""
    register(registry, "a", ONE)
    register(registry, "a", TWO)
    with pytest.raises(ImportIntoExisting) as refused:
        registry.change_mode(s(scope), "IMPORT")
    assert refused.value.message == "Cannot import since found existing subjects"
    registry.delete_subject(s("a"))
    registry.change_mode(s(scope), "IMPORT")
    with pytest.raises(SubjectNotFound):
        versions(registry, "a", deleted=True)
    assert registered(registry, "a", ONE, id=1) == (1, 1)


def test_import_into_one_context_minds_no_other(registry: Registry) -> None:
    """A context's scope is its subjects (MODE-5)."""
    register(registry, "a")
    register(registry, ":.c:a")
    registry.change_mode(s(":.d:"), "IMPORT")
    with pytest.raises(ImportIntoExisting):
        registry.change_mode(s(":.c:"), "IMPORT")
    with pytest.raises(ImportIntoExisting):
        registry.change_mode(s(":.__GLOBAL:"), "IMPORT")


def test_import_does_not_purge_what_is_referenced(registry: Registry) -> None:
    """By any stored schema: 42206, and nothing changes (MODE-6)."""
    register(registry, "base", BASE)
    register(registry, ":.c:x", ONE)
    register(registry, ":.c:base", BASE)
    register(registry, ":.d:using", USING, ":.c:base")
    for subject in (":.d:using", ":.c:base", ":.c:x"):
        registry.delete_subject(s(subject))
    with pytest.raises(Referenced):
        registry.change_mode(s(":.c:"), "IMPORT")
    assert versions(registry, ":.c:x", deleted=True) == [1]
    with pytest.raises(ModeNotConfigured):
        registry.mode(s(":.c:"))


def test_force_switches_without_looking(registry: Registry) -> None:
    """Existing data stays; and a scope that imports already asks nothing (MODE-5, MODE-7)."""
    register(registry, "a")
    registry.change_mode(s("a"), "IMPORT", force=True)
    registry.change_mode(s("a"), "IMPORT")
    assert versions(registry, "a") == [1]
    registry.change_mode(s("a"), "READWRITE")
    assert registered(registry, "a", TWO) == (2, 2)


def test_forward_takes_ids_everywhere(registry: Registry) -> None:
    """The registry-wide mode of a follower (MODE-3, §8.1)."""
    registry.change_mode(s(":.__GLOBAL:"), "FORWARD")
    assert registered(registry, ":.c:a", ONE, id=17) == (1, 17)
    with pytest.raises(NotInReadWriteMode):
        register(registry, "a")


def test_settings_are_changed_in_read_only_scopes_where_they_are_modes(registry: Registry) -> None:
    """READONLY stops configs, and never the mode that ends it (§8.1)."""
    register(registry, "a")
    registry.change_mode(s("a"), "READONLY")
    with pytest.raises(ReadOnly):
        registry.delete_version(s("a"), Version(1))
    registry.change_mode(s("a"), "READWRITE")
    assert registry.delete_version(s("a"), Version(1)) == 1


def test_an_alias_is_managed_under_its_own_name(registry: Registry) -> None:
    """Config and mode do not follow it (ALIAS-2)."""
    put(registry, "a", alias="b")
    assert put(registry, "a", level="NONE") == Config(alias="b", level="NONE")
    registry.change_mode(s("a"), "READONLY")
    with pytest.raises(ModeNotConfigured):
        registry.mode(s("b"))
    assert registered(registry, "a") == (1, 1)
