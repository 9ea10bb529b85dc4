"""What an operator reads at night: a word to fill in means one thing on all pages, what a command said has a row."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SIGLA = ROOT / "layers" / "sigla" / "python" / "sigla"
PAGES = ("deploy.md", "first-day.md", "operations.md", "platform.md", "scrub.md")

STANDS_BEHIND = {
    "BUCKET": {"--bucket"},
    "NEW_BUCKET": {"--bucket"},
    "TABLE": {"--table", "--table-name"},
    "NEW_TABLE": {"--table"},
    "OLD": {"--source-table-name"},
    "NEW": {"--table", "--table-name", "--target-table-name"},
    "REGISTRY": {"--registry", "--journal-of"},
    "IDENTITY": {"--identity"},
    "STACK": {"--stack", "--stack-name", "--log-group-name-prefix", "--queue-name-prefix"},
    "FUNCTION": {"--function-name"},
    "GROUP": {"--log-group-name"},
    "QUEUE_URL": {"--queue-url"},
    "APPLICATION": {"--application-id"},
    "KEY": {"--user"},
    "DOOR": {"--door"},
}
"""Options behind which a word stands where the reader says what; restoring and moving have an old and a new one."""
KNOWN = set().union(*STANDS_BEHIND.values())


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def filled_in(page: str) -> Iterator[tuple[str, str]]:
    """Options with the word in capitals behind each."""
    yield from re.findall(r"(--[a-z][a-z-]+)[ =]([A-Z][A-Z_]+)\b", read(page))


@pytest.mark.parametrize("page", PAGES)
def test_a_word_to_fill_in_means_one_thing(page: str) -> None:
    """Whoever copies the name of a table to where a key's belongs finds out late."""
    for option, word in filled_in(page):
        assert word != "NAME", f"{option} {word}: whose name?"
        assert option in STANDS_BEHIND.get(word, {option} - KNOWN), f"{option} {word}"


def test_words_are_explained_once() -> None:
    """And each page that has them leads there."""
    words = read("deploy.md").partition("## Words\n")[2].partition("\n## ")[0]
    for word in ("STACK", "BUCKET", "TABLE", "REGISTRY", "IDENTITY", "KEY", "SECRET", "RESTURL"):
        assert f"`{word}`" in words
    for page in ("first-day.md", "operations.md", "platform.md", "scrub.md"):
        assert "deploy.md#words" in read(page)


SAID = {
    "No stage file: ": "deployment/stage_files.py",
    "Stage file not found: ": "deployment/stage_files.py",
    "identity is missing; ": "deployment/stage_files.py",
    "identity is the one of the examples; ": "deployment/stage_files.py",
    "the place of the data and the addresses of clients belong in the ": "deployment/stage_files.py",
    "No region: ": "delivery/accounts.py",
    "CloudFormation did not describe ": "delivery/accounts.py",
    "AWS did not identify these credentials: ": "delivery/accounts.py",
    "Nothing was deployed: the stack ": "delivery/guard.py",
    "would point elsewhere.": "delivery/guard.py",
    "wait until this has ended": "delivery/guard.py",
    "The stack is deployed, but accepts no writes before its data has the identity: ": "delivery/guard.py",
}
"""Sentences of `make deploy`, and where they are made."""


@pytest.mark.parametrize("sentence", SAID)
def test_what_ends_a_deployment_has_a_row(sentence: str) -> None:
    """A sentence is looked for as it was read."""
    assert sentence in (SIGLA / SAID[sentence]).read_text(encoding="utf-8")
    rows = read("deploy.md").partition("## When it does not deploy\n")[2]
    assert sentence in rows
