"""The plan of what was applied is empty, for whatever schema was ever recorded, however it is spelt since.

The texts are those of `tests/corpus/recorded`: each is a file for a subject of its own.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NoReturn

import pytest

from sigla.model import Subject
from sigla.ports.progress import unseen
from sigla.registry import Registry
from sigla.schema_files.applying import apply_steps
from sigla.schema_files.declaration import Declaration
from sigla.schema_files.file_sets import DeclaredFile
from sigla.schema_files.files import SchemaFile
from sigla.schema_files.foreseeing import Foreseen, foresee
from sigla.schema_files.scratch import rehearsed
from sigla.schema_files.store_facts import StoredRegistry
from sigla.schema_files.store_target import StoreTarget
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.corpus.reading import recorded_lines

TYPES: Final = {"avro": "AVRO", "json": "JSON", "protobuf": "PROTOBUF"}
TOGETHER: Final = 400
"""So many files are applied at once."""


def texts(language: str) -> list[str]:
    canonical, pairs = recorded_lines(f"canon_{language}"), recorded_lines(f"pairs_{language}")
    # Texts with references stand in recorded conversations, where these can be resolved (test_pull.py).
    said = chain((each["in"] for each in canonical), *((each["old"], each["new"]) for each in pairs))
    return list(dict.fromkeys(said))


def files_of(language: str, said: Sequence[str], *, normalize: bool) -> list[DeclaredFile]:
    return [
        DeclaredFile(name, SchemaFile(name, Subject(".", name), TYPES[language], text, normalize=normalize))
        for name, text in ((f"s{number}", text) for number, text in enumerate(said))
    ]


def planned(store: EmbeddedStore, files: Sequence[DeclaredFile]) -> Foreseen:
    facts = StoredRegistry(store.catalog, store.bodies, "here")
    return rehearsed(facts, None, unseen, lambda scratched: foresee(scratched, Declaration("sigla.yaml"), files))


def left_after_apply(language: str, said: Sequence[str], *, normalize: bool) -> tuple[int, list[tuple[str, str]]]:
    """How many of these are schemas; and those spellings of them that a plan would register once more."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        found = planned(store, files_of(language, said, normalize=normalize))
        applied = apply_steps(StoreTarget(registry), found.steps, FixedClock(), lambda _: None)
        assert applied.left == []
        valid = [text for text, each in zip(said, found.files, strict=True) if each.is_accepted]
        kept = files_of(language, said, normalize=normalize)
        kept = [each for each, checked in zip(kept, found.files, strict=True) if checked.is_accepted]
        drift: list[tuple[str, str]] = []
        for spelling in zip(*(spellings(language, text, normalize=normalize) for text in valid), strict=True):
            again = [
                DeclaredFile(each.path, _spelt(each.file, text)) for each, text in zip(kept, spelling, strict=True)
            ]
            plan = planned(store, again)
            assert plan.is_accepted, [each.problems for each in plan.files if not each.is_accepted][:3]
            drift += [(step.scope.name, type(step).__name__) for step in plan.steps]
    return len(valid), drift


def _spelt(file: SchemaFile, text: str) -> SchemaFile:
    return SchemaFile(file.name, file.subject, file.type, text, normalize=file.normalize)


# --- spellings -------------------------------------------------------------------------------------------------------

_STRUCTURE: Final = re.compile(r'("(?:[^"\\]|\\.)*")|([{}\[\],:])', re.DOTALL)
_PROTOBUF: Final = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|//[^\n]*|/\*.*?\*/)|([{};])""", re.DOTALL)


def spellings(language: str, text: str, *, normalize: bool) -> Iterator[str]:
    """As it was, with white space, and in another order where that says the same."""
    yield text
    yield (_PROTOBUF if language == "protobuf" else _STRUCTURE).sub(lambda met: met[1] or f" \n {met[2]}\n\t", text)
    in_order = language == "protobuf" or (language == "json" and not normalize)
    yield text if in_order else reordered(text)


def reordered(text: str) -> str:
    """With the members of each object from the last to the first. Numbers with a point are left as they are spelt."""

    def give_up(_: str) -> NoReturn:
        raise ValueError

    def backwards(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) < len(members):
            raise ValueError  # of two members with one name the last counts
        return dict(reversed(members))

    try:
        return json.dumps(json.loads(text, parse_float=give_up, object_pairs_hook=backwards))
    except ValueError:
        return text


# --- the property ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [False, True], ids=["as it is", "normalised"])
@pytest.mark.parametrize("language", TYPES)
def test_a_plan_after_apply_is_empty(language: str, *, normalize: bool) -> None:
    """Or every run of CI would show a difference where there is not one, and make a version of it."""
    valid, drift = left_after_apply(language, texts(language)[::97], normalize=normalize)
    assert drift == []
    assert valid > 20


@pytest.mark.soak
@pytest.mark.parametrize("normalize", [False, True], ids=["as it is", "normalised"])
@pytest.mark.parametrize("language", TYPES)
def test_plans_after_apply_are_empty_for_every_recorded_schema(language: str, *, normalize: bool) -> None:
    """The whole of it, with the figure."""
    said, valid = texts(language), 0
    drift: list[tuple[str, str]] = []
    for at in range(0, len(said), TOGETHER):
        more, left = left_after_apply(language, said[at : at + TOGETHER], normalize=normalize)
        valid, drift = valid + more, drift + left
    print(f"\n{language}, normalize={normalize}: {valid} schemas of {len(said)} texts, {len(drift)} plans not empty")
    assert drift == []
