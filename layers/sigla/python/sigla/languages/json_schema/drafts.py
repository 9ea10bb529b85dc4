"""The drafts of JSON Schema as values (contract C.1, C.4.1, C.4.2): what one loader must know to read each of them."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from sigla.errors import Malformed
from sigla.languages.json_schema import keywords
from sigla.languages.json_schema.keywords import Family, Load, flag, listed, text
from sigla.languages.json_schema.nodes import Combined, Conditional, Const, Enum, Not, Schema
from sigla.languages.json_schema.text import Json

Make: TypeAlias = Callable[[str, Json, Load], Schema]
Check: TypeAlias = Callable[[str, Json], object]


def _enum(keyword: str, value: Json, _load: Load) -> Schema:
    return Enum(listed(keyword, value))


def _combined(keyword: str, value: Json, load: Load) -> Schema:
    return Combined(keyword, [load(member) for member in listed(keyword, value)])


def _not(_keyword: str, value: Json, load: Load) -> Schema:
    return Not(load(value))


def _const(_keyword: str, value: Json, _load: Load) -> Schema:
    return Const(value)


def conditional(schema: Mapping[str, Json], load: Load) -> Conditional:
    condition, then, otherwise = (load(schema[word]) if word in schema else None for word in ("if", "then", "else"))
    return Conditional(condition, then, otherwise)


NEVER_COMPARED: Final = frozenset(("contains", "propertyNames", "format"))
"""Read, and never compared (C.4.3); but two members of a oneOf that differ in them are two (C.7.5, step 2)."""


class Draft:
    """How a draft is read.

    id: the keyword of a schema's id. recorded: the node remembers it (JN-7). alone: `$ref` rules out its neighbours
    (JR-19). conjuncts: keywords that make a node each. families: in the order in which their nodes follow. shared: of
    several types in a list, each has the keywords of its family, not only the first (JN-2). conditions: keywords that
    make a Conditional. checked: annotations that must be readable. shaped: keywords that must be so, too, and stay as
    they are in the node. null_default: whether null is a default (JN-8).
    lazy: what no reference reaches need not load (JX-4). known: the keywords that a node does not keep as they are;
    those of a family that are never compared tell schemas apart all the same, and are kept.
    """

    __slots__ = (
        "alone",
        "checked",
        "conditions",
        "conjuncts",
        "families",
        "id",
        "known",
        "lazy",
        "null_default",
        "recorded",
        "shared",
    )

    def __init__(
        self,
        *,
        id: str = "$id",
        conjuncts: Mapping[str, Make],
        families: Sequence[Family],
        conditions: Sequence[str] = (),
        checked: Mapping[str, Check],
        shaped: Mapping[str, Check] = MappingProxyType({}),
        modern: bool = False,
    ) -> None:
        self.id = id
        self.recorded = self.alone = self.shared = self.null_default = self.lazy = not modern
        self.conjuncts = conjuncts
        self.families = {family.type: family for family in families}
        self.conditions = conditions
        self.checked = {**checked, **shaped}
        self.known = frozenset(
            ("$ref", "type", "default", id, *conjuncts, *checked, *(("if", "then", "else") if conditions else ()))
        ).union(*(family.keywords.keys() - NEVER_COMPARED for family in families))


_LOGIC: Final[Mapping[str, Make]] = {
    "enum": _enum,
    "allOf": _combined,
    "anyOf": _combined,
    "oneOf": _combined,
    "not": _not,
}
_LOGIC_6: Final[Mapping[str, Make]] = {**_LOGIC, "const": _const}
_WORDS: Final[Mapping[str, Check]] = {"title": text, "description": text}
_WORDS_7: Final[Mapping[str, Check]] = {**_WORDS, "readOnly": flag, "writeOnly": flag}
_FAMILIES_6: Final = (keywords.ARRAY_6, keywords.OBJECT_6, keywords.NUMBER_6, keywords.STRING)

DRAFT_4: Final = Draft(
    id="id",
    conjuncts=_LOGIC,
    families=(keywords.ARRAY_4, keywords.OBJECT_4, keywords.NUMBER_4, keywords.STRING),
    checked=_WORDS,
)
DRAFT_6: Final = Draft(conjuncts=_LOGIC_6, families=_FAMILIES_6, checked=_WORDS)
DRAFT_7: Final = Draft(conjuncts=_LOGIC_6, families=_FAMILIES_6, conditions=("if", "then", "else"), checked=_WORDS_7)
DRAFT_2020: Final = Draft(
    conjuncts=_LOGIC_6,
    families=(keywords.MODERN_ARRAY, keywords.MODERN_OBJECT, keywords.MODERN_NUMBER, keywords.MODERN_STRING),
    conditions=("if",),
    checked={**_WORDS_7, "format": text, "$schema": text},
    shaped={"deprecated": flag, "$dynamicAnchor": text, "$dynamicRef": text},
    modern=True,
)

_DRAFTS: Final = {
    "schema": DRAFT_4,
    "draft-04/schema": DRAFT_4,
    "draft-06/schema": DRAFT_6,
    "draft-07/schema": DRAFT_7,
    "draft/2019-09/schema": DRAFT_2020,
    "draft/2020-12/schema": DRAFT_2020,
}


def draft_of(root: Json) -> Draft:
    """By the root's `$schema`; draft 7 if it is missing or unknown (C.1). Raises Malformed."""
    name = root.get("$schema", "") if isinstance(root, dict) else ""
    if not isinstance(name, str):
        raise Malformed("'$schema' must be a string")
    for scheme in ("http://json-schema.org/", "https://json-schema.org/"):
        if name.startswith(scheme):
            return _DRAFTS.get(name[len(scheme) :].removesuffix("#"), DRAFT_7)
    return DRAFT_7
