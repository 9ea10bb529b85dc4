"""A rule of compatibility is a row, and whatever else it needs is missed here, with what is to be done about it."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from sigla.languages import MODULES
from tests.corpus.reading import HERE

PAGE = HERE.parents[1] / "docs" / "compatibility.md"


@pytest.mark.parametrize("language", MODULES.values())
def test_every_rule_has_a_sentence_an_example_and_a_row_on_the_page(language: str) -> None:
    """A client reads the sentence, a person the example; and without its row the page would promise less than is so."""
    rules = {rule.id for rule in import_module(f"sigla.languages.{language}.rules").RULES}
    sentences = import_module(f"sigla.languages.{language}.sentences").SENTENCES
    folders = {folder.name for folder in (HERE / language).iterdir() if folder.name.isupper()}
    page = PAGE.read_text(encoding="utf-8")
    worded = dict(re.findall(r"^\| `([A-Z_]+)` \| `(.*)` \|$", page, re.MULTILINE))
    wanting = [
        *(
            f"{rule}: add its sentence to SENTENCES in languages/{language}/sentences.py"
            for rule in rules - {*sentences}
        ),
        *(
            f"{rule}: add {_folder(language, rule)}/<an example>/, with the files of any other"
            for rule in rules - folders
        ),
        *(f"{rule}: name it in docs/compatibility.md, as `{rule}`" for rule in rules if f"`{rule}`" not in page),
        *(f"{rule}: docs/compatibility.md words it otherwise" for rule in rules if _differs(rule, worded, sentences)),
        *(f"{rule}: {_folder(language, rule)} shows a rule that is not in RULES" for rule in folders - rules),
        *(f"{rule}: SENTENCES words a rule that is not in RULES" for rule in {*sentences} - rules),
    ]
    assert not wanting, "\n".join(sorted(wanting))


def _folder(language: str, rule: str) -> Path:
    return Path("tests", "corpus", language, rule)


def _differs(rule: str, worded: Mapping[str, str], sentences: Mapping[str, str]) -> bool:
    return rule in worded and rule in sentences and worded[rule] != sentences[rule]
