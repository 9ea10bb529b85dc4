"""Schemas that people publish, as the packages bring them that the tests install anyway.

What a package ships as a JSON Schema is one to us, says what it said when it is stored, and is compatible with itself.
"""

import json
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import Malformed
from sigla.languages.json_schema import LANGUAGE as JSON_SCHEMA
from sigla.model import Resolved

EACH = 40
"""Of CloudFormation's some two thousand schemas every fortieth: a second."""


def in_package(package: str, *patterns: str) -> dict[str, str]:
    """The files of an installed package by path."""
    root = Path(str(distribution(package).locate_file("")))
    found = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in found}


PACKAGES: dict[str, Callable[[], dict[str, str]]] = {
    "cfn-lint": lambda: dict(list(in_package("cfn-lint", "cfnlint/data/schemas/**/*.json").items())[::EACH]),
    "check-jsonschema": lambda: in_package("check-jsonschema", "check_jsonschema/builtin_schemas/vendor/*.json"),
    "jsonschema-specifications": lambda: in_package(
        "jsonschema-specifications",
        "jsonschema_specifications/schemas/draft[467]/metaschema.json",
        "jsonschema_specifications/schemas/draft20*/metaschema.json",
        "jsonschema_specifications/schemas/draft20*/vocabularies/*",
    ),
    "schemathesis": lambda: in_package("schemathesis", "schemathesis/**/schema.json"),
}

ELSEWHERE = {"check-jsonschema": {"check_jsonschema/builtin_schemas/vendor/drone-ci.json"}}
"""What refers to files that the package does not bring, and that are not fetched (VR-9)."""


@pytest.mark.parametrize("package", PACKAGES)
def test_what_people_publish_is_a_schema_and_stays_what_it_says(package: str) -> None:
    """Stored as text and in normal form; what is the same is never a change."""
    files = PACKAGES[package]()
    assert len(files) >= 2
    others = references(files)
    refused: dict[str, str] = {}
    for path, text in files.items():
        try:
            JSON_SCHEMA.validate(schema := JSON_SCHEMA.parse(text, others, True), False)
        except Malformed as refusal:
            refused[path] = refusal.reason
            continue
        normal = JSON_SCHEMA.normalise(schema)
        assert said(schema.canonical) == said(normal.canonical) == said(text)
        assert JSON_SCHEMA.normalise(normal).canonical == normal.canonical
        assert JSON_SCHEMA.compare(schema, schema) == ()
        assert JSON_SCHEMA.compare(normal, schema) == ()
    assert refused.keys() == ELSEWHERE.get(package, set())


def said(text: str) -> Any:
    return json.loads(text)


def references(files: dict[str, str]) -> list[Resolved]:
    """The files of a package by their ids, as they refer to each other."""
    ids = {path: json.loads(text) for path, text in files.items()}
    return [Resolved(schema["$id"], files[path]) for path, schema in ids.items() if "$id" in schema]
