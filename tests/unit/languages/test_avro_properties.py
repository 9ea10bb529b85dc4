"""What holds for every Avro schema, whatever it is."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import LANGUAGES
from sigla.model import Finding, Parsed
from tests.unit.languages import avro_schemas

AVRO = LANGUAGES["AVRO"]
TEXTS = avro_schemas.texts()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "name", "fields", "items", "values", "symbols", "size", "default", "aliases"]),
            inside | st.sampled_from(["record", "enum", "fixed", "array", "map", "int", "a.b"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


def new(text: str) -> Parsed:
    return AVRO.parse(text, (), True)


def verdict(reader: Parsed, writer: Parsed) -> tuple[Finding, ...] | str:
    try:
        return AVRO.compare(reader, writer)
    except CheckAbandoned as abandoned:
        return abandoned.message[:60]


@given(TEXTS)
def test_the_canonical_text_is_its_own_canonical_text(text: str) -> None:
    """What is stored can be read again, strictly too, and means the same."""
    schema = new(text)
    again = new(schema.canonical)
    assert again.canonical == schema.canonical
    assert AVRO.equivalent(schema, again)


@given(TEXTS)
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    """Normalising twice is normalising once."""
    normal = AVRO.normalise(new(text))
    assert AVRO.normalise(normal).canonical == normal.canonical
    assert AVRO.normalise(new(normal.canonical)).canonical == normal.canonical


@given(TEXTS)
def test_normalising_leaves_the_schema_as_it_was(text: str) -> None:
    """Values are not changed after they were made."""
    schema = new(text)
    AVRO.normalise(schema)
    AVRO.retag(schema, (), ())
    assert AVRO.render(schema, "resolved") == schema.canonical


@given(TEXTS)
def test_every_schema_reads_its_own_data(text: str) -> None:
    """A schema is compatible with itself, under all levels."""
    assert AVRO.compare(new(text), new(text)) == ()


@given(TEXTS, TEXTS)
def test_normalising_changes_no_verdict(reader: str, writer: str) -> None:
    """Normal form is a matter of spelling."""
    plain = verdict(new(reader), new(writer))
    assert verdict(AVRO.normalise(new(reader)), AVRO.normalise(new(writer))) == plain


@given(avro_schemas.schemas())
def test_equivalent_schemas_have_one_digest(schema: Any) -> None:
    """The digest finds the candidates, so it must not miss one: here, attributes and properties the other way round."""
    one, other = new(json.dumps(schema)), new(json.dumps(turned(schema)))
    assert AVRO.equivalent(one, other)
    assert AVRO.digest(one) == AVRO.digest(other)


def turned(json_: Any) -> Any:
    if isinstance(json_, dict):
        return {key: turned(value) for key, value in reversed(json_.items())}
    return [turned(value) for value in json_] if isinstance(json_, list) else json_


@given(TEXTS, TEXTS)
def test_a_digest_tells_schemas_apart_as_equivalence_does(one: str, other: str) -> None:
    """Both look at the same structure."""
    a, b = new(one), new(other)
    assert AVRO.equivalent(a, b) is (AVRO.digest(a) == AVRO.digest(b))


@given(st.text() | JSON.map(json.dumps), st.booleans())
def test_any_text_is_read_or_refused(text: str, strict: bool) -> None:
    """Whatever a client sends, there is no other outcome."""
    with suppress(Malformed):
        schema = AVRO.parse(text, (), strict)
        assert AVRO.parse(schema.canonical, (), False).canonical == schema.canonical
