"""The words of the house: what a user or an engineer reads is plain English, whoever wrote it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house import ROOT, code_strings, nodes_of, product, python_files, text_of, tree_of

# What international readers stumble over: a "no" behind a verb, people where a client acts, sentences turned round.
PEOPLE = (
    r"\b(?:[Nn]obody|[Ss]omebody|[Aa]nybody)\b"
    r"|\b[Ww]ho(?:ever)? asks\b"
    r"|\b(?:[Hh]e|[Hh]im|[Hh]is)\b"
    r"|(?:^|[.:;!?] |\| )Of (?=[a-z`])"
)
MANNERED = re.compile(rf"\b(?:is|are|was|were|be) (?:no(?! longer)|none)\b|{PEOPLE}", re.MULTILINE)
# In prose "there is no" is plain, and the same without "there" is not.
MANNERED_PROSE = re.compile(
    rf"(?<![Tt]here )\b(?:is|are|was|were) no(?! longer)\b|\b(?:is|are|was|were|be) none\b|{PEOPLE}"
)
# What a file has somewhere, if it has any of these, over the end of a line or not; others need no second look.
ROUGHLY = re.compile(rf"\b(?:is|are|was|were|be)\s+(?:#\s+)?(?:no|none)\b|{PEOPLE}|\bOf [a-z`]")
# Texts with such words that are not ours to word, each with the reason.
WORDED_ELSEWHERE = {
    "Valid values are none, backward, forward": "the sentence of 42203 is Confluent's: `none` is a level",
    "nobody": "the user that a cache server runs as",
}

# Confluent's spelling, in rules of which a reader cannot doubt that it is Confluent's and not ours.
WIRE_WORDS = re.compile(
    r"schemaType|compatibilityLevel|compatibilityGroup|compatibilityPolicy|ruleSet\b|defaultRuleSet|overrideRuleSet|"
    r"defaultMetadata|overrideMetadata|migrationRules|domainRules|encodingRules|maxId|schemaTags|"
    r"tagsToAdd|tagsToRemove|rulesToMerge|rulesToRemove|is_compatible|keytype"
)
SPEAKS_WIRE = ("web/api/wire/*.py", "web/api/openapi*.py", "records.py", "contract.py", "journal/cloud_events.py")


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Texts that stand alone: docstrings, and what stands below a constant."""
    for node in nodes_of(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Comments, lines of one comment together. A `#` in a text looks like one, and may be plain as well."""
    found: list[str] = []
    for number, line in enumerate([*text_of(path).splitlines(), ""], 1):
        before, _, said = line.rpartition("# ") if "# " in line else ("", "", "")
        if found and (not said or before.strip()):
            yield number - len(found), " ".join(found)
            found = []
        if said and before.strip():
            yield number, said
        elif said:
            found.append(said.strip())


BEGINS_IN_THE_MIDDLE = re.compile(
    r"(By|As|With|In|For|From|Within|Without|Beside|Under|At|On|Also|After|Before|Until|Above|Below|Between|Among|To)\b"
)
LONGEST_PHRASE = 6
"""Words of a first sentence that begins so and has no verb."""


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """What a module may show: its texts without docstrings, but with the module's own where a `--help` shows it."""
    tree = tree_of(path)
    prose = {
        node.value for node in nodes_of(path) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    if "__doc__" in text_of(path):
        prose -= {node.value for node in tree.body[:1] if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.lineno, node.value


def without_code(page: str) -> str:
    """A page's prose: what stands in code is quoted, and checked where it is made."""
    return re.sub(r"```.*?```|`[^`\n]*`", "``", page, flags=re.DOTALL)


def test_what_a_user_reads_is_plain_english() -> None:
    """A message is read at night, and English is most readers' second language: short sentences that name the actor."""
    rooms = ("layers", "functions", "infra", "pipelines", "localstack", "benchmarks")
    suspects = [path for path in python_files(*rooms) if ROUGHLY.search(text_of(path))]
    texts = [(path, line, text) for path in suspects for line, text in messages(path)]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts += [
        (page, number, line)
        for page in pages
        for number, line in enumerate(without_code(text_of(page)).splitlines(), 1)
    ]
    found = [
        f"{path.relative_to(ROOT)}:{line} {match[0]!r} in {text.strip()[:100]!r}"
        for path, line, text in texts
        if not any(theirs in text for theirs in WORDED_ELSEWHERE if text == theirs or " " in theirs)
        for match in MANNERED.finditer(text)
    ]
    assert not found, "say it plainly (docs/decisions/2026-11-23-plain-english.md has examples):\n" + "\n".join(found)


def test_what_an_engineer_reads_is_plain_english() -> None:
    """Docstrings and comments are read by people who did not write them, in their second language as well."""
    found = [
        f"{path.relative_to(ROOT)}:{line} {match[0]!r} in {text.strip()[:100]!r}"
        for path in python_files()
        if ROUGHLY.search(text_of(path))
        for texts in (docstrings, comments)
        for line, text in texts(path)
        for match in MANNERED_PROSE.finditer(" ".join(text.split()))
    ]
    assert not found, "say it plainly (docs/decisions/2026-11-23-plain-english.md has examples):\n" + "\n".join(found)


def test_a_docstring_begins_with_what_something_does_or_gives() -> None:
    """`As JSON.` says nothing to a reader of the docstring alone: an editor shows it without the code.

    Longer sentences that begin so mostly have a verb; a gloss of an argument (`name: …`) stands where the name of the
    function says it all.
    """
    found = [
        f"{path.relative_to(ROOT)}:{line} {node.name}: {first!r}"
        for path in python_files("layers", "functions", "infra", "pipelines", "localstack", "benchmarks")
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_")
        if (line := node.lineno) and (first := first_sentence(ast.get_docstring(node) or ""))
        if BEGINS_IN_THE_MIDDLE.match(first) and len(first.split()) <= LONGEST_PHRASE
    ]
    assert not found, "say what it does, or what comes back:\n" + "\n".join(found)


def first_sentence(docstring: str) -> str:
    return re.split(r"(?<=[.?])\s|\n\n", docstring)[0]


def test_confluents_spelling_stays_at_the_edge() -> None:
    """Inside, a thing has our name; `web/api/wire/` and `records.py` translate, the tables of OpenAPI describe."""
    found = [
        f"{name}:{line} {text!r}"
        for name, path in product().items()
        if not any(Path(name).match(pattern) for pattern in SPEAKS_WIRE)
        for line, text in code_strings(path)
        # A sentence may name a field to the person who sent it; a bare word is code that reads or writes it.
        if WIRE_WORDS.fullmatch(text)
    ]
    assert not found, f"translate in web/api/wire/ or records.py: {found}"
