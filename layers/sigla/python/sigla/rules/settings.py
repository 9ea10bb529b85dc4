"""Which config and which mode apply to a subject (INH-1 to INH-6)."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any, Final

from sigla.contract import FORWARD, IMPORT, READONLY, READONLY_OVERRIDE, READWRITE
from sigla.model import GLOBAL, REGISTRY_WIDE, Chain, Config, Subject

READ_ONLY_MODES = frozenset({READONLY, READONLY_OVERRIDE})
IMPORTING_MODES = frozenset({IMPORT, FORWARD})

MODE: Final = "mode"
"""What `origins` calls the mode, beside the fields of a config."""

FILLED_FROM_DEFAULT = (
    "normalize",
    "validate_fields",
    "validate_new_schemas",
    "validate_rules",
    "policy",
    "group",
)
"""What a subject's own entry takes from the global one where it is silent, whatever its context (INH-5).

Nothing else is filled in.
"""


def effective_config(chain: Chain, default_level: str) -> Config:
    """The first entry on the way up, whole.

    Entries are not merged, but for FILLED_FROM_DEFAULT. The level is always set.
    """
    own, default = chain.own.config, chain.default.config
    if own is not None and default is not None and (filled := _fillings(own, default)):
        own = replace(own, **filled)
    for entry in (own, chain.context.config, chain.registry_wide.config):
        if entry is not None:
            return with_level(entry, default_level)
    return _unset(default_level)


def _fillings(own: Config, default: Config) -> dict[str, Any]:
    return {
        name: said
        for name in FILLED_FROM_DEFAULT
        if getattr(own, name) is None and (said := getattr(default, name)) is not None
    }


@cache
def _unset(default_level: str) -> Config:
    """What applies where nothing is set, as in most registries: it is asked for with every request."""
    return Config(level=default_level)


def effective_mode(chain: Chain) -> str:
    """The first mode on the way up, else READWRITE."""
    for entry in (chain.own, chain.context, chain.registry_wide):
        if entry.mode is not None:
            return entry.mode
    return READWRITE


def origins(chain: Chain, scope: Subject) -> Mapping[str, Subject]:
    """Which scope each field of the config in force comes from, and `mode`.

    What is missing comes from none: it is the server's default, or not set at all. scope: whose chain it is.
    """
    above = ((scope, chain.own), (Subject(scope.context, ""), chain.context), (REGISTRY_WIDE, chain.registry_wide))
    found: dict[str, Subject] = {}
    own, default = chain.own.config, chain.default.config
    if own is not None and default is not None:
        found |= dict.fromkeys(_fillings(own, default), GLOBAL)
    for place, entry in above:
        if entry.config is not None:
            found |= {name: place for name in CONFIG_FIELDS if getattr(entry.config, name) is not None}
            break
    mode_from = next((place for place, entry in above if entry.mode is not None), None)
    return found if mode_from is None else {**found, MODE: mode_from}


def with_level(config: Config, default_level: str) -> Config:
    """An entry without a level behaves as if it had the server's default one, not an inherited one (INH-6)."""
    return config if config.level is not None else replace(config, level=default_level)


def fills_in(config: Config) -> bool:
    """Whether registrations get metadata or rules from the config."""
    return (
        config.default_metadata is not None
        or config.override_metadata is not None
        or config.default_rule_set is not None
        or config.override_rule_set is not None
    )


CONFIG_FIELDS: Sequence[str] = tuple(field.name for field in fields(Config))
