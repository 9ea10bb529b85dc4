"""How the corpus is read: examples in files, pairs of schemas in folders, recorded answers in lines.

README.md in this folder says what stands in them.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations, zip_longest
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from sigla.model import Finding, Resolved

HERE = Path(__file__).parent

DIRECTIONS = {
    "BACKWARD": (("new", "old"),),
    "FORWARD": (("old", "new"),),
    "FULL": (("old", "new"), ("new", "old")),
}
"""Who reads whom, in the order in which it is checked."""

Difference: TypeAlias = tuple[str, str]
"""A rule and the path where it was met."""


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def examples(folder: Path) -> list[Any]:
    return [pytest.param(load(path), id=path.stem) for path in sorted(folder.glob("*.json"))]


def pairs(folders: Iterable[Path]) -> list[Any]:
    """What lies in the folders: folders again, each with a schema before and after, and what is expected."""
    inner = [folder for outer in folders if outer.is_dir() for folder in sorted(outer.iterdir())]
    return [pytest.param(folder, id=f"{folder.parent.name}-{folder.name}") for folder in inner]


def rule_folders(corpus: Path) -> list[Path]:
    """One for each rule, and one for pairs in which no rule finds anything."""
    return sorted(folder for folder in corpus.iterdir() if folder.name.isupper() or folder.name == "no_difference")


def shown(folder: Path) -> list[Finding]:
    """What the examples in a rule's folder show of the rule. None is there for nothing."""
    findings = []
    for example in sorted(folder.iterdir()):
        paths = [item["path"] for item in load(example / "expected.json")["differences"] if item["rule"] == folder.name]
        assert paths, example
        findings += [Finding(folder.name, path, "") for path in paths]
    return findings


def exchanged(sentence: str) -> str:
    """The sentence with reader and writer in each other's role."""
    return re.sub(r"\b(new|old)(?= schema)", lambda role: "old" if role[1] == "new" else "new", sentence)


Line: TypeAlias = dict[str, Any]
PARTS: Final = 16
"""So many tests of a recorded file: one for each of its thousands of lines would cost more than the lines do."""


ANSWERED_OTHERWISE: Final = (
    "a Confluent registry answered otherwise. Do as it does; or mark these lines `divergent`, name the mark in DIVERGENT "
    "of the test, and say in docs/api.md (10 Where Sigla differs) why Sigla is better."
)


@cache
def recorded_lines(name: str) -> list[Line]:
    with gzip.open(HERE / "recorded" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def recorded(name: str) -> Callable[[Callable[[Line], None]], Callable[[int], None]]:
    """The test holds for every line of the file. All lines for which it does not are named, by number, with why."""

    def of_lines(test: Callable[[Line], None]) -> Callable[[int], None]:
        def of_a_part(part: int) -> None:
            failures: list[Exception] = []
            for number, line in list(enumerate(recorded_lines(name), 1))[part::PARTS]:
                try:
                    test(line)
                except Exception as failure:  # noqa: BLE001 - each line is told of
                    failure.add_note(f"{name}-{number}")
                    failures.append(failure)
            if failures:
                raise ExceptionGroup(
                    f"{len(failures)} lines of recorded/{name}.jsonl.gz: {ANSWERED_OTHERWISE}", failures
                )

        of_a_part.__name__, of_a_part.__doc__, of_a_part.__module__ = test.__name__, test.__doc__, test.__module__
        return pytest.mark.parametrize("part", range(PARTS))(of_a_part)

    return of_lines


def resolved(references: Iterable[dict[str, str]]) -> list[Resolved]:
    return [Resolved(reference["name"], reference["schema"]) for reference in references]


def text_of(written: str | list[str]) -> str:
    """A text stands as a string, or as the list of its lines."""
    return written if isinstance(written, str) else "".join(f"{line}\n" for line in written)


def assert_same(found: list[Difference], expected: list[Difference], free: Callable[[str, str, str], bool]) -> None:
    """The same differences, and each two of them in the same order, unless the contract leaves their order free.

    free: told the last segment that two paths share, and those at which they part; nothing follows it where a path
    ends.
    """
    assert sorted(found) == sorted(expected)
    for two in combinations(sorted(set(expected)), 2):
        if not free(*parting(two[0][1], two[1][1])):
            assert [item for item in found if item in two] == [item for item in expected if item in two]


def parting(a: str, b: str) -> tuple[str, str, str]:
    shared = ""
    for left, right in zip_longest(a.split("/"), b.split("/"), fillvalue=""):
        if left != right:
            return shared, left, right
        shared = left
    return shared, "", ""
