"""Languages are imported when they are met, and libraries when they are needed: imports are cold starts."""

import subprocess
import sys

import pytest

from sigla.languages import LANGUAGES

pytestmark = pytest.mark.process

HEAVY = ("google.protobuf", "regex")
ALL = ("avro", "json_schema", "protobuf")
PROTO = "message M { optional string a = 1; }"


def imported_by(code: str) -> set[str]:
    """Which languages and heavy libraries a fresh interpreter has imported once the code has run."""
    told = f"import sys; {code}\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    modules = set(ran.stdout.split())
    return {name for name in ALL if f"sigla.languages.{name}" in modules} | modules & set(HEAVY)


def test_a_registry_that_has_met_no_schema_has_imported_no_language() -> None:
    """Reading by id never needs one."""
    assert imported_by("import sigla.web.gateway, sigla.registry") == set()


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("AVRO", '"string"', {"avro"}),
        ("JSON", '{"type":"string","pattern":"^a+$"}', {"json_schema"}),
        ("PROTOBUF", PROTO, {"protobuf"}),
    ],
)
def test_a_schema_imports_its_own_language_alone(name: str, text: str, expected: set[str]) -> None:
    """Reading, validating, normalising and comparing take neither descriptors nor patterns that run."""
    code = (
        f"from sigla.languages import LANGUAGES; language = LANGUAGES[{name!r}]; "
        f"schema = language.parse({text!r}, (), True); language.validate(schema, False); "
        "language.normalise(schema); language.compare(schema, schema)"
    )
    assert imported_by(code) == expected


def test_all_languages_are_listed_without_being_imported() -> None:
    """As the API asks for them, in its order."""
    assert list(LANGUAGES) == ["JSON", "PROTOBUF", "AVRO"]
    assert len(LANGUAGES) == 3
    assert "AVRO" in LANGUAGES
    assert "avro" not in LANGUAGES
    assert LANGUAGES.get("THRIFT") is None
    assert imported_by("from sigla.languages import LANGUAGES; list(LANGUAGES); 'AVRO' in LANGUAGES") == set()
