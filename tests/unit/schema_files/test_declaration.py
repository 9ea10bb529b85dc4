"""`sigla.yaml`: what it says, and how what is wrong with it is told."""

import pytest

from sigla.model import GLOBAL, Subject, Version
from sigla.schema_files.declaration import NamedVersion, config_fields, read_declaration
from sigla.schema_files.yaml_parts import InvalidDeclaration


def test_an_entry_says_all_that_a_client_can_send() -> None:
    """In the words of the API, so that there are no others to learn."""
    told = read_declaration(
        b"""
schemas:
  - files: [a.avsc, 'b/*.avsc']
    subject: ":.eu:{stem}-value"
    type: avro
    compatibility: full
    normalize: true
    references: {acme.Money: money, acme.Time: {subject: time, version: 3}}
    metadata: {properties: {owner: us, on: 3}, tags: {'**.ssn': [PII]}, sensitive: [owner]}
    ruleSet: {domainRules: [{name: a, kind: CONDITION, expr: 'true', disabled: true}]}
    mode: READONLY
"""
    )
    (entry,) = told.entries
    assert (entry.files, entry.subject, entry.type) == (("a.avsc", "b/*.avsc"), ":.eu:{stem}-value", "AVRO")
    assert entry.references == {"acme.Money": NamedVersion("money"), "acme.Time": NamedVersion("time", Version(3))}
    assert (entry.config, entry.mode, entry.normalize) == ({"compatibility": "FULL"}, "READONLY", True)
    assert entry.draft.metadata is not None
    assert entry.draft.metadata.properties == {"owner": "us", "on": "3"}
    assert entry.draft.rule_set is not None
    assert entry.draft.rule_set.domain[0].disabled


def test_settings_are_of_every_scope_that_the_api_has() -> None:
    """What is not said is not touched; what is null is cleared."""
    told = read_declaration(
        b"config: {compatibility: NONE, normalize: true}\nmode: READWRITE\n"
        b"settings:\n  ':.eu:': {config: {alias: null}}"
    )
    first, second = told.settings
    assert (first.scope, first.mode, config_fields(first.config)) == (
        GLOBAL,
        "READWRITE",
        {"level": "NONE", "normalize": True},
    )
    assert (second.scope, second.mode, config_fields(second.config)) == (Subject(".eu", ""), None, {"alias": None})


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("", "sigla.yaml:1: it is empty, and needs `schemas`"),
        ("[", "sigla.yaml:1: it cannot be read: while parsing a flow node"),
        ("a", "sigla.yaml:1: expected a mapping"),
        ("schemas: []\nschema: 1", "sigla.yaml:2: `schema`: unknown key. Valid keys: schemas, config, mode,"),
        ("owns: ['a-*', '*-value']", "sigla.yaml:1: `owns`: *-value: a * stands only at the end, as in payments-*."),
        ("schemas: {}", "sigla.yaml:1: `schemas`: expected a list"),
        ("schemas:\n- files: a", "sigla.yaml:2: `schemas.0`: `subject` is missing"),
        ("schemas:\n- files: []\n  subject: a", "sigla.yaml:2: `schemas.0.files`: is empty"),
        ("schemas:\n- files: ../a\n  subject: a", "`schemas.0.files`: ../a leads out of the folder of sigla.yaml"),
        ("schemas:\n- files: a\n  subject: 1", "sigla.yaml:3: `schemas.0.subject`: expected a text: put it in quotes"),
        (
            "schemas:\n- files: a\n  subject: a\n  type: XML",
            ":4: `schemas.0.type`: expected one of JSON, PROTOBUF, AVRO",
        ),
        ("schemas:\n- files: a\n  subject: a\n  normalize: 1", ":4: `schemas.0.normalize`: expected true or false"),
        (
            "schemas:\n- files: a\n  subject: a\n  references:\n    b: {subjet: c}",
            ":5: `schemas.0.references.b.subjet`: unknown key. Valid keys: subject, version.",
        ),
        (
            "schemas:\n- files: a\n  subject: a\n  references: {b: {subject: c, version: 0}}",
            "`schemas.0.references.b.version`: expected a number from 1",
        ),
        (
            "schemas:\n- files: a\n  subject: a\n  compatibility: FULL\n  config: {compatibility: FULL}",
            ":4: `schemas.0.compatibility`: `config` says it, too",
        ),
        ("config:\n  compatibilityLevel: FULL", ":2: `config.compatibilityLevel`: unknown key. Valid keys: alias,"),
        ("config: {compatibility: SOME}", "`config.compatibility`: expected one of NONE, BACKWARD"),
        ("config: {normalize: maybe}", "`config`: Cannot deserialize"),
        ("config: {defaultMetadata: {props: {}}}", "`config.defaultMetadata.props`: unknown key"),
        ("mode: OFF", "sigla.yaml:1: `mode`: expected one of READWRITE, READONLY"),
        (
            "schemas:\n- files: a\n  subject: a\n  ruleSet:\n    domainRules:\n    - nam: a",
            ":6: `schemas.0.ruleSet.domainRules.0.nam`: unknown key. Valid keys: name, doc, kind",
        ),
        ("settings:\n  ':.e:u:x':\n    level: FULL", "unknown key. Valid keys: config, mode"),
        ("mode: READONLY\nmode: READONLY", "`mode` occurs twice (line 2)"),
        ("1: 2", "`1`: expected a text: put it in quotes"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_would_be_right(content: str, sentence: str) -> None:
    """A key that is misspelt would else be a setting without effect."""
    with pytest.raises(InvalidDeclaration) as found:
        read_declaration(content.encode())
    assert sentence in str(found.value)
    assert "\n" not in str(found.value)
