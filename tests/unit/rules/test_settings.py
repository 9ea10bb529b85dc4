"""Which config and which mode apply: the first entry on the way up, whole (§3.8)."""

from dataclasses import replace
from typing import Any

import pytest

from sigla.model import Chain, Config, Metadata, Rule, RuleSet, Settings
from sigla.rules.settings import effective_config, effective_mode, fills_in, with_level


def chain(
    own: Config | str | None = None,
    context: Config | str | None = None,
    default: Config | str | None = None,
    registry_wide: Config | str | None = None,
) -> Chain:
    """A subject of a named context; each entry a config or a mode."""

    def entry(value: Config | str | None) -> Settings:
        return Settings(mode=value) if isinstance(value, str) else Settings(config=value)

    return Chain(entry(own), entry(context), entry(default), entry(registry_wide))


def test_the_nearest_entry_wins() -> None:
    """Subject, then context, then registry-wide, then the server's default; a shadowed entry adds nothing."""
    own, context, wide = Config(level="FULL"), Config(level="NONE", alias="x"), Config(level="FORWARD")
    assert effective_config(chain(own, context, None, wide), "BACKWARD") == own
    assert effective_config(chain(None, context, None, wide), "BACKWARD") == context
    assert effective_config(chain(None, None, None, wide), "BACKWARD") == wide
    assert effective_config(chain(), "BACKWARD") == Config(level="BACKWARD")


def test_a_named_context_does_not_inherit_the_global_entry() -> None:
    """`PUT /config` is the entry of the default context only (INH-1)."""
    assert effective_config(chain(default=Config(level="NONE")), "BACKWARD") == Config(level="BACKWARD")
    assert effective_mode(chain(default="READONLY")) == "READWRITE"


def test_the_registry_wide_entry_is_for_every_context() -> None:
    """…and anything nearer shadows it (INH-2)."""
    assert effective_mode(chain(registry_wide="READONLY")) == "READONLY"
    assert effective_mode(chain(context="IMPORT", registry_wide="READONLY")) == "IMPORT"
    assert effective_mode(chain(own="READWRITE", context="IMPORT", registry_wide="READONLY")) == "READWRITE"


def test_with_nothing_set_the_servers_default_holds() -> None:
    """BACKWARD unless the operator says otherwise, and READWRITE (INH-3)."""
    assert effective_config(chain(), "FULL").level == "FULL"
    assert effective_mode(chain()) == "READWRITE"


def test_six_fields_are_filled_in_from_the_global_entry() -> None:
    """Where a subject's own entry is silent, even in a named context (INH-5). Nothing else is."""
    everything = Config(
        alias="a",
        alias_for_deks="b",
        normalize=True,
        validate_fields=True,
        validate_new_schemas=False,
        validate_rules=True,
        level="FULL",
        policy="LENIENT",
        group="g",
        default_metadata=Metadata(),
        override_metadata=Metadata(),
        default_rule_set=RuleSet(),
        override_rule_set=RuleSet(),
    )
    assert effective_config(chain(own=Config(level="NONE"), default=everything), "BACKWARD") == Config(
        normalize=True,
        validate_fields=True,
        validate_new_schemas=False,
        validate_rules=True,
        level="NONE",
        policy="LENIENT",
        group="g",
    )


def test_what_the_subject_says_itself_is_not_filled_in() -> None:
    """False is something said."""
    own, default = Config(level="NONE", normalize=False), Config(normalize=True)
    assert effective_config(chain(own=own, default=default), "BACKWARD").normalize is False


def test_a_context_entry_is_not_filled_in() -> None:
    """Only the subject's own entry is (INH-5)."""
    found = effective_config(chain(context=Config(group="g"), default=Config(normalize=True)), "BACKWARD")
    assert found == Config(group="g", level="BACKWARD")


def test_an_entry_without_a_level_has_the_servers_default_one() -> None:
    """`PUT /config/foo {"alias": "bar"}` turns a level inherited so far into BACKWARD (INH-6)."""
    found = effective_config(chain(own=Config(alias="bar"), context=Config(level="FULL")), "BACKWARD")
    assert found.level == "BACKWARD"
    assert with_level(Config(), "FORWARD") == Config(level="FORWARD")
    assert with_level(Config(level="NONE"), "FORWARD") == Config(level="NONE")


@pytest.mark.parametrize("field", ["default_metadata", "override_metadata", "default_rule_set", "override_rule_set"])
def test_a_config_may_give_schemas_metadata_and_rules(field: str) -> None:
    """Also one that is empty: it makes metadata where a request has none (REG-1)."""
    value: Any = Metadata() if "metadata" in field else RuleSet(domain=(Rule(name="r", type="CEL"),))
    assert fills_in(replace(Config(), **{field: value}))
    assert not fills_in(Config(alias="x", level="FULL", normalize=True))
