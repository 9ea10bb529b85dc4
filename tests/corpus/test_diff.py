"""What is between two schemas: small pairs that a person can read, each with what `sigla diff` says of it.

diff/<language>/<case>/ holds before, after and expected.txt, word for word. Files of a folder `before` or `after` are
what that schema imports.
"""

from pathlib import Path
from typing import Any

import pytest

from sigla.cli.diff_told import as_text
from sigla.languages import LANGUAGES, MODULES
from sigla.model import Parsed, Resolved
from sigla.rules.difference import difference
from tests.corpus.reading import HERE

CORPUS = HERE / "diff"
TYPES = {module: name for name, module in MODULES.items()}
CASES = [
    pytest.param(case, id=f"{case.parent.name}-{case.name}") for case in sorted(CORPUS.glob("*/*")) if case.is_dir()
]


def parsed(case: Path, side: str) -> Parsed:
    (path,) = case.glob(f"{side}.*")
    references = [Resolved(file.name, file.read_text("utf-8")) for file in sorted((case / side).glob("*"))]
    return LANGUAGES[TYPES[case.parent.name]].parse(path.read_text("utf-8"), references, True)


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_told_as_a_person_would(case: Path) -> None:
    """Whoever reviews a change sees what it is, what it breaks and for whom, without reading either schema."""
    told = difference(parsed(case, "before"), parsed(case, "after"), LANGUAGES)
    assert "\n".join(as_text(told, "before", "after")) + "\n" == (case / "expected.txt").read_text("utf-8")


@pytest.mark.parametrize("case", CASES)
def test_between_a_schema_and_itself_is_nothing(case: Path) -> None:
    """Or a plan would never be empty."""
    told = difference(parsed(case, "before"), parsed(case, "before"), LANGUAGES)
    assert (told.changes, told.sameness.value) == ((), "IDENTICAL")


def test_every_language_has_its_cases() -> None:
    """A language that is added needs them as well."""
    cases: dict[str, Any] = {folder.name: len(list(folder.iterdir())) for folder in CORPUS.iterdir()}
    assert cases.keys() == TYPES.keys()
    assert min(cases.values()) >= 10
