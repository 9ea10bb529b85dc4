"""Names as clients spell them, and what they mean (§3)."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.errors import InvalidSubject, InvalidVersion
from sigla.model import GLOBAL, LATEST, REGISTRY_WIDE, Subject
from sigla.rules import names

DEFAULT = "."
ANYTHING = st.text(max_size=30)
SPELLED = st.one_of(
    ANYTHING,
    st.lists(st.sampled_from([":", ".", "*", "ctx", "x", ":.:", ":.ctx:", ":*:", ":.", "foo"]), max_size=8).map(
        "".join
    ),
)
"""Texts in which a context may be named, once or several times."""


@pytest.mark.parametrize(
    "sent, context, name, normal",
    [
        ("foo", ".", "foo", "foo"),
        (":.:foo", ".", "foo", "foo"),
        (":.ctx:foo", ".ctx", "foo", ":.ctx:foo"),
        (":.ctx:", ".ctx", "", ":.ctx:"),
        (":.ctx", ".ctx", "", ":.ctx:"),
        (":.:", ".", "", ""),
        ("", ".", "", ""),
        (":*:foo", "*", "foo", ":*:foo"),
        (":.a:b:c", ".a", "b:c", ":.a:b:c"),
        (":foo", ".", ":foo", ":foo"),
        (":.::.ctx:foo", ".ctx", "foo", ":.ctx:foo"),
        (":.::.:foo", ".", "foo", "foo"),
        (":.::.:", ".", "", ""),
        (":.::.", ".", "", ""),
        (":.::.ctx", ".ctx", "", ":.ctx:"),
        (":.::*:foo", "*", "foo", ":*:foo"),
        (":.::foo", ".", ":foo", ":foo"),
        (":.:.ctx:foo", ".", ".ctx:foo", ".ctx:foo"),
        (":.ctx::.:foo", ".ctx", ":.:foo", ":.ctx::.:foo"),
    ],
)
def test_every_spelling_has_one_meaning(sent: str, context: str, name: str, normal: str) -> None:
    """A subject is a name in a context, however it was written; only `:.` and `:*:` begin a context."""
    subject = names.subject(sent)
    assert subject == Subject(context, name)
    assert subject.qualified == normal


@given(SPELLED, st.sampled_from([".", ".ctx", ".other"]))
def test_every_subject_has_one_name(sent: str, context: str) -> None:
    """Permissions look at the pair, tables at the text: two pairs of one text would be one subject with two owners."""
    for subject in (names.subject(sent), names.reference_target(sent, context)):
        assert names.subject(subject.qualified) == subject
        assert names.is_reachable(subject)


@given(SPELLED, SPELLED)
def test_two_subjects_never_have_the_same_name(one: str, other: str) -> None:
    """Stores keep rows by the name: whoever deletes one subject must not delete another."""
    first, second = names.subject(one), names.subject(other)
    assert (first == second) == (first.qualified == second.qualified)


@pytest.mark.parametrize("context, name", [(".", ":.bank:pay"), (".", ":.:pay"), (".", ":.bank"), (".", ":*:pay")])
def test_a_second_name_for_a_subject_is_known_as_one(context: str, name: str) -> None:
    """An earlier release could make them: they are looked for, and no door leads to them."""
    assert not names.is_reachable(Subject(context, name))


def test_a_long_chain_of_contexts_is_read_in_one_step() -> None:
    """A body may be megabytes long: reading a name again and again must not cost its length each time."""
    sent = ":.:" * 1_000_000 + ":.ctx:foo"
    subject = names.subject(sent)
    assert subject == Subject(".ctx", "foo")
    assert subject.sent == sent


@given(SPELLED, SPELLED)
def test_a_prefix_is_read_as_the_names_it_finds(prefix: str, sent: str) -> None:
    """`:.::.bank:` is `:.bank:`: a key for it reaches the bank's subjects and nothing in the default context."""
    subject = names.subject(sent)
    assert names.search(f":.:{prefix}") == names.search(prefix)
    assert names.search(f":.::{subject.context}:").matches(subject)
    assert names.search(subject.qualified).matches(subject)


@pytest.mark.parametrize(
    "text, context, target",
    [
        ("base", ".", Subject(".", "base")),
        ("base", ".ctx", Subject(".ctx", "base")),
        (":.other:base", ".ctx", Subject(".other", "base")),
        (":.other:base", ".", Subject(".other", "base")),
        (":.:base", ".", Subject(".", "base")),
        (":.:base", ".ctx", Subject(".ctx", ":.:base")),
        (":.::.other:base", ".", Subject(".other", "base")),
        (":.::.other:base", ".ctx", Subject(".other", "base")),
        (":.::.ctx:base", ".ctx", Subject(".ctx", "base")),
    ],
)
def test_a_reference_stays_in_its_context_unless_it_names_another(text: str, context: str, target: Subject) -> None:
    """From a named context the default one cannot be reached: `:.:base` is a name like any other there (REG-15)."""
    assert names.reference_target(text, context) == target


@pytest.mark.parametrize(
    "prefix, found",
    [
        ("", ["", "foo", "food", "bar"]),
        ("foo", ["foo", "food"]),
        (":.ctx:", [":.ctx:foo", ":.ctx:bar"]),
        (":.ctx:fo", [":.ctx:foo"]),
        (":.ct", [":.ctx:foo", ":.ctx:bar", ":.ct2:foo"]),
        (":*:", ["", "foo", "food", "bar", ":.ctx:foo", ":.ctx:bar", ":.ct2:foo"]),
        (":*:fo", ["foo", "food", ":.ctx:foo", ":.ct2:foo"]),
        (":.nowhere:", []),
    ],
)
def test_a_prefix_finds_what_the_table_says(prefix: str, found: list[str]) -> None:
    """Six spellings of a prefix search (§3.6)."""
    everything = ["", "foo", "food", "bar", ":.ctx:foo", ":.ctx:bar", ":.ct2:foo"]
    search = names.search(prefix)
    assert [text for text in everything if search.matches(names.subject(text))] == found


@pytest.mark.parametrize("text", ["latest", "LATEST", "Latest", " latest ", "-1", " -1", "-01"])
def test_latest_has_several_spellings(text: str) -> None:
    """The word in any case, or minus one."""
    assert names.version(text) == LATEST


@pytest.mark.parametrize(
    "text, number", [("1", 1), ("+7", 7), ("007", 7), (" 3 ", 3), ("2147483647", 2147483647), ("0" * 5000 + "9", 9)]
)
def test_a_version_is_a_positive_number(text: str, number: int) -> None:
    """A plus sign and leading zeros are accepted."""
    assert names.version(text) == number


@pytest.mark.parametrize("text", ["", " ", "one", "1.0", "1e3", "0x1", "2147483648", "-2147483649", "9" * 5000, "--1"])
def test_what_is_no_number_is_quoted_as_it_was_sent(text: str) -> None:
    """A refusal shows the client its own text, however long that is."""
    with pytest.raises(InvalidVersion) as refused:
        names.version(text)
    assert f"'{text}'" in refused.value.message


@pytest.mark.parametrize("text, shown", [("0", "0"), ("-2", "-2"), ("+0", "0"), ("-0003", "-3")])
def test_a_number_that_is_no_version_is_quoted_as_a_number(text: str, shown: str) -> None:
    """Numbers are shown as understood."""
    with pytest.raises(InvalidVersion) as refused:
        names.version(text)
    assert f"'{shown}'" in refused.value.message


@given(st.text(alphabet="+-0123456789 latesLATES.x", max_size=14))
def test_a_version_is_understood_or_refused_and_never_anything_else(text: str) -> None:
    """No spelling makes the server stumble."""
    with suppress(InvalidVersion):
        assert names.version(text) == LATEST or 1 <= names.version(text) < 2**31


def test_sentences_show_the_default_context_as_nothing() -> None:
    """Hence two spaces in a row in the sentences of 42205."""
    assert names.delimited(DEFAULT) == ""
    assert names.delimited(".ctx") == ":.ctx:"


@pytest.mark.parametrize(
    "sent",
    [
        "a\x00b",
        "tab\t",
        "del\x7f",
        "c1\x9f",
        "__GLOBAL",
        "__EMPTY",
        ":.ctx:__GLOBAL",
        ":.ctx:__EMPTY",
        "x" * 701,
        "é" * 351,
    ],
)
def test_some_names_are_nobodys(sent: str) -> None:
    """Control characters, reserved words, what no store can hold: 42208 shows the text as sent (NAME-1, NAME-2)."""
    for check in (names.check_registrable, names.check_configurable):
        with pytest.raises(InvalidSubject) as refused:
            check(names.subject(sent))
        assert refused.value.facts == {"subject": sent}


@pytest.mark.parametrize("sent", [":.__GLOBAL:foo", ":.__GLOBAL:", ":.:", "", ":*:foo", ":*:"])
def test_no_schema_is_registered_where_it_could_not_be_addressed(sent: str) -> None:
    """The registry-wide scope has settings alone (NAME-3); `:.:` and `:*:x` none could find again (NAME-4, NAME-6)."""
    names.check_configurable(names.subject(sent))
    with pytest.raises(InvalidSubject):
        names.check_registrable(names.subject(sent))


@pytest.mark.parametrize(
    "sent", ["a/b", "ü", "*", ":.ctx:", ":.ctx:*", "a b", "..", ":.../../x:y", "%2F", "x" * 700, "\U0001f600"]
)
def test_everything_else_is_a_good_name(sent: str) -> None:
    """Slashes, spaces, dots, emoji, an empty name in a named context (NAME-4, NAME-5)."""
    names.check_registrable(names.subject(sent))


def test_a_refused_name_is_shown_as_sent_and_not_as_understood() -> None:
    """`:.:` is the default context itself; the client reads what it wrote."""
    with pytest.raises(InvalidSubject) as refused:
        names.check_registrable(names.subject(":.:"))
    assert refused.value.message == "The specified subject ':.:' is not a valid."


def test_a_name_made_inside_is_shown_in_its_normal_spelling() -> None:
    """What an alias led to was never sent by anyone."""
    for scope in (GLOBAL, REGISTRY_WIDE):
        with pytest.raises(InvalidSubject) as refused:
            names.check_registrable(scope)
        assert refused.value.facts == {"subject": scope.qualified}
