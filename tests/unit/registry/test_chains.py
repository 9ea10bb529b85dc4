"""Chains of references, as long as they may be: what registers can be read, compared, looked up and decoded."""

import json

import pytest

from sigla.decoding import avro, json_schema, protobuf
from sigla.decoding.decoder import Source
from sigla.errors import InvalidSchema
from sigla.languages import LANGUAGES
from sigla.languages.avro.limits import MAX_DEPTH
from sigla.model import BodyKey, Draft, OfferedReference, Record, Resolved
from sigla.registry import Registry
from sigla.rules import references
from sigla.stores.sqlite.store import EmbeddedStore
from tests.unit.registry.tell import register, s

NAMES = {"AVRO": "R{}", "JSON": "r{}.json", "PROTOBUF": "r{}.proto"}
NOTHING = {"AVRO": b"\0", "JSON": b"{}", "PROTOBUF": b""}
LEVELS = 10
"""How many types one link of Avro has."""
LONGEST = MAX_DEPTH // LEVELS
"""A chain of so many links is as deep as one text may be."""
DECODERS = {"AVRO": avro.decoder, "JSON": json_schema.decoder, "PROTOBUF": protobuf.decoder}


def text(kind: str, n: int) -> str:
    """The link of this number, which uses the one before."""
    used = NAMES[kind].format(n - 1)
    if kind == "AVRO":
        lists = '{"type":"array","items":' * (LEVELS - 1) + f'"{used if n else "int"}"' + "}" * (LEVELS - 1)
        return f'{{"type":"record","name":"R{n}","fields":[{{"name":"f","type":{lists}}}]}}'
    if kind == "JSON":
        return json.dumps({"type": "object", "properties": {"f": {"$ref": used} if n else {"type": "integer"}}})
    field = f'import "{used}"; message R{n} {{ R{n - 1} f = 1; }}' if n else "message R0 { int32 f = 1; }"
    return f'syntax = "proto3"; {field}'


def draft(kind: str, n: int) -> Draft:
    uses = (OfferedReference(NAMES[kind].format(n - 1), f"s{n - 1}", 1),) if n else ()
    return Draft(text(kind, n), type=kind, references=uses)


def chain(registry: Registry, kind: str, links: int) -> Record:
    """Registers so many links; the last one's record."""
    for n in range(links - 1):
        registry.register(s(f"s{n}"), draft(kind, n))
    return registry.register(s(f"s{links - 1}"), draft(kind, links - 1))


@pytest.mark.parametrize("kind, links", [("AVRO", LONGEST), ("JSON", 40), ("PROTOBUF", 40)])
def test_a_chain_that_registers_passes_every_door(
    registry: Registry, store: EmbeddedStore, kind: str, links: int
) -> None:
    """A schema that can be written and not be read would be found out by consumers, in production."""
    last = chain(registry, kind, links)
    subject, offered = s(f"s{links - 1}"), draft(kind, links - 1)
    assert registry.check(subject, offered) == ()
    assert registry.lookup(subject, offered).id == last.id
    assert last.id is not None
    for form in ("", "resolved", "serialized"):
        assert registry.schema_by_id(last.id, form=form).schema.text
    body = store.bodies.get(BodyKey(subject.context, last.id))
    texts = references.resolve(body.schema.references, body.targets, store.bodies.get)
    assert DECODERS[kind](Source(kind, body.schema.text, texts, body.compiled)) is not None


def test_a_chain_that_could_not_be_printed_as_one_is_refused(registry: Registry) -> None:
    """In every form, the link too many is: registered, looked up, checked. Those before stay what they are."""
    links = LONGEST
    chain(registry, "AVRO", links)
    for verb in (registry.register, registry.lookup, registry.check):
        with pytest.raises(InvalidSchema, match="more than 250 levels") as refused:
            verb(s(f"s{links}"), draft("AVRO", links))
        assert refused.value.code == 42201
    register(registry, f"s{links}", text("AVRO", 0))


@pytest.mark.parametrize("kind", NAMES)
def test_as_many_schemas_as_may_be_referred_to_can_be_understood(kind: str) -> None:
    """Without the registry, which takes its time for a thousand registrations."""
    links = LONGEST - 1 if kind == "AVRO" else references.MOST_SCHEMAS
    uses = tuple(Resolved(NAMES[kind].format(n), text(kind, n)) for n in range(links))
    language = LANGUAGES[kind]
    schema = language.parse(text(kind, links), uses, True)
    language.validate(schema, True)
    assert language.compare(schema, language.parse(text(kind, links), uses, False)) == ()
    assert language.normalise(schema).canonical
    source = Source(kind, schema.canonical, uses, language.compiled(schema))
    assert DECODERS[kind](source) is not None
