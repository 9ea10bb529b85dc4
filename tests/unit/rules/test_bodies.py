"""What stands under a key is believed only as the body of that key."""

from contextlib import suppress
from dataclasses import replace

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sigla import records
from sigla.errors import BodyDamaged, FormTooNew
from sigla.model import BodyKey, Metadata, Reference, SchemaId, Target, Version
from sigla.rules.bodies import believed
from tests.build import a_body, a_guid, a_schema, in_the_former_form

ONE, TWO, ELSEWHERE = BodyKey(".", SchemaId(1)), BodyKey(".", SchemaId(2)), BodyKey(".eu", SchemaId(1))
BODY = a_body(
    schema=a_schema('"string"', references=(Reference("m", "money", Version(1)),), metadata=Metadata({}, {"a": "b"})),
    targets=(Target(".", "money", Version(1), SchemaId(7)),),
    compiled=b"compiled",
)
STORED = records.body_bytes(ONE, BODY)
FORMER = in_the_former_form(BODY)


def test_a_body_is_believed_under_its_own_key() -> None:
    """That is what every read rests on; one that an older release stored has less to say for itself, and is read."""
    assert believed(ONE, STORED) == BODY
    assert believed(ONE, FORMER) == BODY


@pytest.mark.parametrize("key", [TWO, ELSEWHERE], ids=str)
def test_the_body_of_another_key_is_not(key: BodyKey) -> None:
    """Two files that were swapped are both sound JSON, and each would answer for the other's records."""
    with pytest.raises(BodyDamaged) as told:
        believed(key, STORED)
    assert told.value.key == key


@pytest.mark.parametrize("stored", [records.body_bytes(ONE, replace(BODY, guid=a_guid("x"))), FORMER])
def test_content_with_another_guid_is_not(stored: bytes) -> None:
    """The guid is a hash of the content. What stands there is handed on, for who looks into it."""
    form = orjson.loads(stored) | {"guid": a_guid("x")}
    form.pop("digest", None)
    stored = records.sealed(orjson.dumps(form))
    with pytest.raises(BodyDamaged) as told:
        believed(ONE, stored)
    assert told.value.body == replace(BODY, guid=a_guid("x"))


def test_the_guid_of_encrypted_metadata_is_believed() -> None:
    """A Confluent registry hashed them before it encrypted them: that hash cannot be made again."""
    schema = replace(BODY.schema, metadata=Metadata({}, {"owner": "bWU=", "__enc__": "true"}, ("owner",)))
    body = replace(BODY, schema=schema, guid=a_guid("plain"))
    assert believed(ONE, records.body_bytes(ONE, body)) == body


@given(st.binary(max_size=60) | st.sampled_from([b"", b"{}", b"[]", b"null", STORED[:-1], STORED[1:], STORED * 2]))
def test_bytes_of_any_kind_are_the_body_or_none(content: bytes) -> None:
    """A torn write, a file of zeroes, an object of another program."""
    with pytest.raises(BodyDamaged):
        believed(ONE, content)


@given(st.integers(0, len(STORED) - 1), st.integers(1, 255))
@example(at=STORED.index(b'"form":1') + len(b'"form":'), change=2)
def test_one_changed_byte_is_noticed_wherever_it_is(at: int, change: int) -> None:
    """In the text, in the type, in what a reference resolved to, in the compiled form: no other is ever answered.

    Where it is the number of its form, this is a body that a newer release wrote.
    """
    changed = bytearray(STORED)
    changed[at] ^= change
    with suppress(BodyDamaged, FormTooNew):
        assert believed(ONE, bytes(changed)) == BODY


@given(st.integers(0, len(FORMER) - 1), st.integers(1, 255))
@example(at=FORMER.index(b'"form":1') + len(b'"form":'), change=2)
def test_in_the_former_form_the_content_is_held_by_its_guid(at: int, change: int) -> None:
    """What it does not cover is the type, the targets, the birth and the compiled form.

    Where the number of its form is changed, this is a body that a newer release wrote.
    """
    changed = bytearray(FORMER)
    changed[at] ^= change
    with suppress(BodyDamaged, FormTooNew):
        found = believed(ONE, bytes(changed)).schema
        assert replace(found, type=BODY.schema.type) == BODY.schema
