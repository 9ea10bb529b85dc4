"""An exporter to its own registry comes to an end, or it does not: told by a rule, and by letting it run in a model."""

from itertools import product
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sigla.errors import Refusal
from sigla.exporters.checks import with_description
from sigla.exporters.endless import KEKS, SUBJECTS, endless
from sigla.exporters.nouns import ContextType, Exporter, ExporterDraft
from sigla.exporters.rules import destination_subject, renamed_kek, search, takes
from sigla.model import GLOBAL, Subject

AUTO, CUSTOM, NONE, DEFAULT = ContextType
SOURCE = "a"
ROUNDS = 12
"""More than any chain of the model has that comes to an end: a name gets longer by a letter at least."""

Key = tuple[str, Subject]
"""A DEK, by the name of its KEK and its subject."""


def exporter(subjects: tuple[str, ...] = ("*",), kind: ContextType = AUTO, context: str = "", **more: Any) -> Exporter:
    """As a client creates it. Raises Refusal."""
    draft = ExporterDraft("e", subjects=subjects, context_type=kind, context=context, **more)
    return with_description(Exporter("e"), draft)


def rounds(made: Exporter, start: Subject) -> int:
    """How often an exporter to its own registry finds something to write, at most ROUNDS times.

    Nothing stands there at first but a subject, and a KEK with a key for that.
    """
    subjects, keys = {start}, {("k", start)}
    keks = {"k"}
    for number in range(ROUNDS):
        taken = {each for each in subjects if takes(made, each)}
        wrapped = {key for key in keys if takes(made, key[1])}
        with_keys = keks if takes(made, GLOBAL) else {kek for kek, _ in wrapped}
        more_subjects = {destination_subject(made, each, SOURCE) for each in taken} - subjects
        more_keys = {(renamed_kek(made, kek), destination_subject(made, each, SOURCE)) for kek, each in wrapped} - keys
        more_keks = {renamed_kek(made, each) for each in with_keys} - keks
        if not (more_subjects or more_keys or more_keks):
            return number
        subjects, keys, keks = subjects | more_subjects, keys | more_keys, keks | more_keks
    return ROUNDS


def starts(made: Exporter) -> list[Subject]:
    """Subjects that may stand there, those that its patterns name among them."""
    found = [search(pattern) for pattern in made.subjects]
    contexts = {".", ".a", ".b", *(each.context or each.context_prefix or "." for each in found)}
    names = {"n", "p-n", *(each.name_prefix or "n" for each in found)}
    return [Subject(*each) for each in product(contexts, names)]


def runs_for_ever(made: Exporter) -> bool:
    return any(rounds(made, start) == ROUNDS for start in starts(made))


contexts = st.sampled_from(["", ":.:", ":*:", ":.a:", ":.a.a:", ":.b:", ":.ab:"])
names = st.sampled_from(["n", "p-", "p-n", "p-p-n", "pp", "x"])
patterns = st.one_of(
    st.builds("{}{}".format, contexts, names),
    st.builds("{}{}*".format, contexts, st.one_of(st.just(""), names)),
    st.sampled_from([":.a*", ":.a.a*", ":.a.b*", ":.ab*", ":.aba*", ":.*"]),
)
formats = st.sampled_from(
    [
        "",
        "${subject}",
        "p-${subject}",
        "p${subject}",
        "${subject}-q",
        "p-${subject}-q",
        "${subject}${subject}",
        "n",
        "x",
    ]
)
kek_formats = st.sampled_from(["", "${kek}", "k-${kek}"])


@given(
    st.lists(patterns, min_size=1, max_size=3).map(tuple),
    st.sampled_from(ContextType),
    st.sampled_from([".", ".a", ".b", ".ab", ".a.b"]),
    formats,
    kek_formats,
)
@example((":*:*",), CUSTOM, ".a", "", "")
@example((":.aba*",), CUSTOM, ".ab", "", "")
@example((":.a.a*",), AUTO, ".", "p-${subject}", "")
@example(("x",), NONE, ".", "x", "k-${kek}")
@example(("x",), NONE, ".", "n", "k-${kek}")
@example((":.b:*",), DEFAULT, ".", "p-${subject}", "k-${kek}")
def test_the_rule_says_what_a_run_comes_to(
    subjects: tuple[str, ...], kind: ContextType, context: str, form: str, kek_form: str
) -> None:
    """Nothing is refused that would come to an end, and nothing is let through that would not."""
    try:
        made = exporter(subjects, kind, context, subject_rename_format=form, kek_rename_format=kek_form)
    except Refusal:
        assume(False)
    assert bool(endless(made, SOURCE)) == runs_for_ever(made)


@pytest.mark.parametrize(
    "subjects, kind, context, more, why",
    [
        (("*",), CUSTOM, "copy", {}, ""),
        (("orders-*",), AUTO, "", {}, ""),
        (("*", ":.copy:*"), CUSTOM, "copy", {}, ""),
        ((":*:*",), NONE, "", {}, ""),
        ((":*:*",), DEFAULT, "", {}, ""),
        ((":*:*",), CUSTOM, ".", {}, ""),
        (("orders-*",), NONE, "", {"subject_rename_format": "copy-${subject}"}, ""),
        (("orders",), NONE, "", {"subject_rename_format": "copy"}, ""),
        (("orders",), NONE, "", {"subject_rename_format": "copy", "kek_rename_format": "c-${kek}"}, ""),
        ((":*:*",), CUSTOM, "copy", {}, SUBJECTS),
        ((":*:*",), AUTO, "", {}, SUBJECTS),
        ((":*:orders",), AUTO, "", {}, SUBJECTS),
        ((":.a*",), AUTO, "", {}, SUBJECTS),
        (("*",), NONE, "", {"subject_rename_format": "copy-${subject}"}, SUBJECTS),
        (("orders-*",), NONE, "", {"subject_rename_format": "${subject}-copy"}, SUBJECTS),
        (("*",), CUSTOM, "copy", {"kek_rename_format": "c-${kek}"}, KEKS),
        (("orders",), NONE, "", {"kek_rename_format": "c-${kek}"}, KEKS),
    ],
)
def test_a_copy_of_a_copy_is_told_from_a_copy(
    subjects: tuple[str, ...], kind: ContextType, context: str, more: dict[str, str], why: str
) -> None:
    """The use in the docs stays: another context of the same registry. What is written for ever is named."""
    made = exporter(subjects, kind, context, **more)
    assert (endless(made, SOURCE), runs_for_ever(made)) == (why, bool(why))


def test_a_thousand_long_patterns_are_judged_at_once() -> None:
    """A client sends up to 64 KiB of them, and each turn of an exporter asks again."""
    made = exporter(tuple(f":.a{'.a' * 20}{number:04}*" for number in range(1_000)), CUSTOM, "a")
    assert not endless(made, SOURCE)
