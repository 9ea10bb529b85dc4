"""Files of a set: for which subject each is, and which others it needs."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from sigla.schema_files.declaration import read_declaration
from sigla.schema_files.file_sets import DeclaredFile, declared_files, selected
from sigla.schema_files.trees import Folder
from sigla.schema_files.yaml_parts import InvalidDeclaration


def record(name: str, *types: str) -> str:
    fields = ", ".join(f'{{"name": "f{at}", "type": "{each}"}}' for at, each in enumerate(types))
    return f'{{"type": "record", "name": "{name}", "fields": [{fields}]}}'


def found(root: Path, declaration: str, files: Mapping[str, str]) -> list[DeclaredFile]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return declared_files(read_declaration(declaration.encode()), Folder(root))


def needs(each: DeclaredFile) -> list[tuple[str, str, str | None]]:
    return [(need.name, need.named.subject, need.path) for need in each.needs]


@pytest.mark.parametrize(
    "template, subject",
    [
        ("{stem}-value", "order-value"),
        ("{record}", "acme.Order"),
        ("{folder}-{record}", "eu-acme.Order"),
        ("{path}", "topics/eu/order"),
        (":.eu:{stem}", ":.eu:order"),
        ("{{{stem}}}-{{stem}}", "{order}-{stem}"),
    ],
)
def test_naming_strategies_are_templates(template: str, subject: str, tmp_path: Path) -> None:
    """A file is for the subject that a serializer would use."""
    declaration = f"schemas: [{{files: '**/*.avsc', subject: '{template}'}}]"
    (each,) = found(tmp_path, declaration, {"topics/eu/order.avsc": record("acme.Order")})
    assert each.subject.qualified == subject


@pytest.mark.parametrize(
    "path, text, name",
    [
        ("a.proto", 'syntax = "proto3"; package acme; message A { message B {} }', "acme.A"),
        ("a.proto", "message A {}", "A"),
        ("a.json", '{"title": "Customer"}', "Customer"),
    ],
)
def test_each_language_has_a_name_of_the_record(path: str, text: str, name: str, tmp_path: Path) -> None:
    """As RecordNameStrategy has it."""
    (each,) = found(tmp_path, f"schemas: [{{files: {path}, subject: '{{record}}'}}]", {path: text})
    assert each.subject.name == name


def test_files_that_use_each_other_come_behind_what_they_use(tmp_path: Path) -> None:
    """As they would have to be registered: the order need not be written down."""
    files = {
        "a.avsc": record("acme.A", "B", "string", "other.C"),
        "b.avsc": record("acme.B", "acme.D"),
        "c.avsc": record("other.C"),
        "d.avsc": record("acme.D"),
    }
    told = found(tmp_path, "schemas: [{files: '*.avsc', subject: '{stem}-value'}]", files)
    order = [each.path for each in told]
    assert order.index("d.avsc") < order.index("b.avsc") < order.index("a.avsc") > order.index("c.avsc")
    assert needs(told[-1]) == [("acme.B", "b-value", "b.avsc"), ("other.C", "c-value", "c.avsc")]
    assert [each.path for each in selected(told, [told[order.index("b.avsc")].subject])] == ["d.avsc", "b.avsc"]


def test_imports_and_refs_are_found_by_where_files_are(tmp_path: Path) -> None:
    """By the whole path, by its end, and from the folder of the file that uses it."""
    files = {
        "protos/common/money.proto": "message Money {}",
        "protos/pay.proto": 'import "common/money.proto"; import public "google/protobuf/any.proto"; message P {}',
        "json/address.json": '{"$id": "http://acme/address"}',
        "json/customer.json": '{"properties": {"a": {"$ref": "address.json#/x"}, "b": {"$ref": "#/properties/a"}}}',
        "json/other.json": '{"$ref": "http://acme/address"}',
    }
    told = found(tmp_path, "schemas: [{files: ['**/*.proto', '**/*.json'], subject: '{stem}'}]", files)
    by_path = {each.path: needs(each) for each in told}
    assert by_path["protos/pay.proto"] == [("common/money.proto", "money", "protos/common/money.proto")]
    assert by_path["json/customer.json"] == [("address.json", "address", "json/address.json")]
    assert by_path["json/other.json"] == [("http://acme/address", "address", "json/address.json")]


def test_what_only_the_registry_has_is_named(tmp_path: Path) -> None:
    """For a pattern each file takes what it uses; for one file it is taken as it stands."""
    files = {"a.avsc": record("A", "acme.Money"), "b.avsc": record("B"), "c.avsc": record("C")}
    declaration = """
schemas:
- {files: [a.avsc, b.avsc], subject: '{stem}', references: {acme.Money: money}}
- {files: c.avsc, subject: c, references: {any: a}}
"""
    told = {each.path: needs(each) for each in found(tmp_path, declaration, files)}
    assert told == {"a.avsc": [("acme.Money", "money", None)], "b.avsc": [], "c.avsc": [("any", "a", "a.avsc")]}


def test_a_ref_is_relative_to_the_id_of_who_uses_it(tmp_path: Path) -> None:
    """So a file may move while its `$id` stays."""
    files = {
        "customer.json": '{"$id": "http://acme/s/customer.json", "properties": {"a": {"$ref": "address.json#/x"}}}',
        "moved/there.json": '{"$id": "http://acme/s/address.json"}',
    }
    told = found(tmp_path, "schemas: [{files: '**/*.json', subject: '{stem}'}]", files)
    assert needs(told[-1]) == [("address.json", "there", "moved/there.json")]


def test_an_id_that_is_not_a_url_finds_nothing(tmp_path: Path) -> None:
    """Python's parser of URLs refuses it with an exception of its own."""
    (told,) = found(tmp_path, "schemas: [{files: a.json, subject: a}]", {"a.json": '{"$id": "http://[", "$ref": "b"}'})
    assert told.missing == ("b",)


def test_another_context_is_named_in_a_reference(tmp_path: Path) -> None:
    """A name without a context would mean that of the file."""
    declaration = "schemas: [{files: a.avsc, subject: ':.eu:a'}, {files: b.avsc, subject: ':.us:b'}]"
    told = found(tmp_path, declaration, {"a.avsc": record("A", "B"), "b.avsc": record("B")})
    assert needs(told[-1]) == [("B", ":.us:b", "b.avsc")]


@pytest.mark.parametrize(
    "entry, sentence",
    [
        ("{files: 'x/*.avsc', subject: a}", "sigla.yaml:1: no file matches x/*.avsc."),
        ("{files: '*.avsc', subject: a}", "a.avsc is for the subject a, and so is b.avsc."),
        ("{files: a.avsc, subject: '{name}'}", "unknown field {name} in `subject`. Valid fields: {stem}, {folder},"),
        ("{files: a.avsc, subject: '{folder}'}", "a.avsc has no folder, which `subject` names."),
        ("{files: c.txt, subject: a}", "the language of c.txt is unknown: it ends with none of .avsc, .json, .proto"),
        ("{files: d.avsc, subject: a}", "d.avsc is not UTF-8, as a schema has to be."),
        ("{files: ['*.avsc'], subject: '{stem}', references: {X: y}}", "no file uses X, which `references` has."),
    ],
)
def test_a_set_that_cannot_be_is_told(entry: str, sentence: str, tmp_path: Path) -> None:
    """With the line of its entry, before anything is asked of a registry."""
    (tmp_path / "d.avsc").write_bytes(b"\xff")
    files = {
        "a.avsc": record("A", "B"),
        "b.avsc": record("B"),
        "c.txt": "",
    }
    if "*" in entry:
        (tmp_path / "d.avsc").unlink()
        files = {"a.avsc": record("A", "B"), "b.avsc": record("B")}
    with pytest.raises(InvalidDeclaration) as wrong:
        found(tmp_path, f"schemas: [{entry}]", files)
    assert sentence in str(wrong.value)


@pytest.mark.parametrize(
    "pattern, paths",
    [
        ("*.avsc", ["a.avsc"]),
        ("**/*.avsc", ["a.avsc", "x/b.avsc", "x/y/c.avsc"]),
        ("x/*.avsc", ["x/b.avsc"]),
        ("x/**", ["x/b.avsc", "x/y/c.avsc"]),
        ("x/?.avsc", ["x/b.avsc"]),
        (".hidden/*", [".hidden/d.avsc"]),
        ("x/y/c.avsc", ["x/y/c.avsc"]),
        ("[a].avsc", []),
    ],
)
def test_patterns_match_as_people_expect(pattern: str, paths: list[str], tmp_path: Path) -> None:
    """A virtual environment, or git's own folder, has files that are not meant."""
    for path in ("a.avsc", "x/b.avsc", "x/y/c.avsc", ".hidden/d.avsc"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    assert list(Folder(tmp_path).paths(pattern)) == paths


def test_files_in_circles_know_it_and_the_others_keep_their_order(tmp_path: Path) -> None:
    """Two circles, one file in both of them; a file that needs one of them, and two that need none."""
    files = {
        "a.avsc": record("A", "B", "C"),
        "b.avsc": record("B", "A"),
        "c.avsc": record("C", "A"),
        "d.avsc": record("D", "B", "F"),
        "e.avsc": record("E"),
        "f.avsc": record("F", "E"),
    }
    told = found(tmp_path, "schemas: [{files: '*.avsc', subject: '{stem}'}]", files)
    circles = {each.path: each.circle for each in told}
    assert circles["d.avsc"] == circles["e.avsc"] == circles["f.avsc"] == ()
    order = [each.path for each in told]
    assert order.index("e.avsc") < order.index("f.avsc") < order.index("d.avsc")
    assert order.index("b.avsc") < order.index("d.avsc")
    assert {path: circle[0] for path, circle in circles.items() if circle} == {
        "a.avsc": "a.avsc",
        "b.avsc": "b.avsc",
        "c.avsc": "c.avsc",
    }
