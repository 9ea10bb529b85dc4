"""Distinct names, distinct keys; and keys that sort as the lists do."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sigla import keys
from sigla.errors import InvalidSubject
from sigla.exporters.checks import NAME
from sigla.model import BodyKey, Guid, SchemaId, Subject, Version

# What separates components, what escapes, what file systems confuse, what UTF-8 and UTF-16 order differently.
TRICKY = st.text(st.sampled_from("#/%._:*aA1é\x00\x1f\x7f\x9f\ud7ff\ue000\uffff\U00010000\U0010ffff"), max_size=12)
TEXTS = TRICKY | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CONTEXTS = st.just(".") | TEXTS.map(lambda name: "." + name)
REGISTRIES = st.sampled_from(["default", "a", "a#x", "a/b", "A", ".."])
SUBJECTS = st.builds(Subject, CONTEXTS, TEXTS)
NUMBERS = st.integers(0, 2**31 - 1)
BODY_KEYS = st.builds(BodyKey, CONTEXTS, NUMBERS.map(SchemaId))
GUIDS = st.uuids().map(lambda uuid: Guid(str(uuid)))
VERSIONS = NUMBERS.map(Version)
BUCKETS = st.sampled_from(["", "bodies", "bodies2"])
IDENTITIES = st.sampled_from(["", "2" + "a" * 31, "a" * 32])


def in_a_ring(registry: str, bucket: str, identity: str, key: BodyKey) -> str:
    """Under which name a deployment's body stands there."""
    return keys.ring_key(keys.ring_namespace(registry, bucket=bucket, identity=identity), key)


ROWS = [
    st.tuples(st.just(keys.context_pk), REGISTRIES, CONTEXTS),
    st.tuples(st.just(keys.subject_pk), REGISTRIES, SUBJECTS),
    st.tuples(st.just(keys.settings_pk), REGISTRIES),
    st.tuples(st.just(keys.zones_pk), REGISTRIES),
    st.tuples(st.just(keys.content_pk), REGISTRIES, CONTEXTS, TEXTS),
    st.tuples(st.just(keys.id_pk), REGISTRIES, BODY_KEYS),
    st.tuples(st.just(keys.reads_pk), REGISTRIES, BODY_KEYS),
    st.tuples(st.just(keys.reads_begun_pk), REGISTRIES),
    st.tuples(st.just(keys.referrers_pk), REGISTRIES, SUBJECTS),
    st.tuples(st.just(keys.name_pk), REGISTRIES, TEXTS),
    st.tuples(st.just(keys.list_pk), REGISTRIES, st.integers(0, 15)),
    st.tuples(st.just(keys.contexts_pk), REGISTRIES),
    st.tuples(st.just(keys.registry_wide_pk), REGISTRIES),
    st.tuples(st.just(keys.journal_pk), REGISTRIES, st.integers(0, 15)),
]
OBJECTS = [
    st.tuples(st.just(keys.body_object), REGISTRIES, BODY_KEYS),
    st.tuples(st.just(keys.guid_object), REGISTRIES, GUIDS, BODY_KEYS),
    st.tuples(st.just(keys.handed_object), REGISTRIES, NUMBERS, TEXTS, NUMBERS),
    st.tuples(st.just(keys.journal_object), REGISTRIES, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
]
FILES = [
    st.tuples(st.just(keys.body_file), REGISTRIES, BODY_KEYS),
    st.tuples(st.just(keys.pending_file), REGISTRIES, BODY_KEYS, NUMBERS, st.sampled_from(["new", "old"])),
]
RING = [st.tuples(st.just(in_a_ring), REGISTRIES, BUCKETS, IDENTITIES, BODY_KEYS)]
SORT_KEYS = [
    [st.tuples(st.just(keys.version_sk), NUMBERS, VERSIONS)],
    [
        st.tuples(
            st.just(lambda name, version, generation: keys.holder_sk(Subject(".", name), version, generation)),
            TEXTS,
            VERSIONS,
            NUMBERS,
        )
    ],
    [st.tuples(st.just(keys.referrer_sk), VERSIONS, SUBJECTS, NUMBERS.map(SchemaId), VERSIONS, TEXTS)],
    [st.tuples(st.just(keys.settings_sk), SUBJECTS.map(lambda scope: Subject(scope.context, scope.name)))],
    [st.tuples(st.just(keys.context_sk), CONTEXTS)],
    [st.tuples(st.just(keys.journal_sk), NUMBERS, TEXTS)],
]


@pytest.mark.parametrize("names", [ROWS, OBJECTS, FILES, RING, *SORT_KEYS], ids=repr)
def test_distinct_names_make_distinct_keys(names: list[st.SearchStrategy]) -> None:
    """Within one kind and between two: no row stands in another one's place."""

    @given(st.one_of(names), st.one_of(names))
    def hold(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
        (make, *arguments), (make_other, *others) = one, other
        assert (make(*arguments) == make_other(*others)) == (one == other)

    hold()


@given(st.sampled_from(["default", "a" * 300]), BODY_KEYS)
def test_every_cache_takes_the_keys_of_a_ring(registry: str, key: BodyKey) -> None:
    """Memcached is the strictest: 250 bytes, nothing but what can be seen."""
    assert re.fullmatch(r"[!-~]{1,250}", in_a_ring(registry, "bodies", "a" * 32, key))


@given(SUBJECTS, SUBJECTS)
def test_listed_names_sort_by_utf16_code_units(one: Subject, other: Subject) -> None:
    """As UTF-8, which is how DynamoDB compares, and as bytes, which is how SQLite does."""
    order = one.qualified.encode("utf-16-be") < other.qualified.encode("utf-16-be")
    assert (keys.list_sk(one).encode() < keys.list_sk(other).encode()) == order
    assert (keys.utf16(one.qualified) < keys.utf16(other.qualified)) == order


@given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"])), st.text(min_size=1), VERSIONS)
def test_holders_sort_by_name_then_version(name: str, more: str, version: Version) -> None:
    """A shorter name before what it begins; and a query for one name meets no other."""
    one, other = Subject(".", name), Subject(".", name + " " + more)
    assert keys.holder_sk(one, version, 0).encode() < keys.holder_sk(other, Version(1), 0).encode()
    assert keys.holder_sk(one, version, 0).startswith(keys.holder_prefix(one))
    assert not keys.holder_sk(other, version, 0).startswith(keys.holder_prefix(one))
    assert keys.holder_sk(other, version, 0) < keys.HOLDERS


def test_the_order_of_code_units_is_not_that_of_code_points() -> None:
    """An emoji is two small surrogates, a full-width tilde one large unit."""
    assert keys.utf16("\U0001f600") < keys.utf16("\uff5e")


@given(TEXTS, TEXTS)
def test_a_prefix_stays_a_prefix(one: str, other: str) -> None:
    """So that a prefix search is a range of keys."""
    assert keys.sortable(other).startswith(keys.sortable(one)) == other.startswith(one)
    low, high = keys.utf16(one), keys.after(keys.utf16(one))
    inside = low <= keys.utf16(other) and (high is None or keys.utf16(other) < high)
    assert inside == other.startswith(one)


@given(REGISTRIES, BODY_KEYS)
def test_no_file_leaves_its_place_or_meets_another(registry: str, key: BodyKey) -> None:
    """No dots but our own, no upper case, nothing longer than file systems take."""
    path = keys.body_file(registry, key)
    folders, name = path.split("/")[:-1], path.split("/")[-1]
    assert name == f"{key.id:010}.json"
    assert all(folder and "." not in folder and len(folder) <= 255 for folder in folders)
    assert path.isascii()
    assert path == path.lower()


@pytest.mark.parametrize(
    "context, stored",
    [(".", "_"), ("._", "._"), ("..", "%2E%2E"), ("./../x", ".%2F..%2Fx"), (".a#b%", ".a%23b%25"), (".\x01", ".%01")],
)
def test_contexts_are_encoded_as_one_component(context: str, stored: str) -> None:
    """Whoever reads the bucket knows the names again."""
    assert keys.body_object("default", BodyKey(context, SchemaId(7))) == f"default/schemas/{stored}/0000000007.json"


def test_names_look_as_they_are_documented() -> None:
    """Other programs read them."""
    orders, key = Subject(".eu", "orders"), BodyKey(".", SchemaId(42))
    assert keys.guid_object("default", Guid("g"), key) == "default/guids/g/_/0000000042"
    assert keys.journal_object("default", 2026, 3, 4, 5) == "default/journal/2026/03/04/0000000005.jsonl"
    assert keys.context_pk("r", ".") == "r#x#_"
    assert keys.subject_pk("r", orders) == "r#s#.eu#orders"
    assert keys.version_sk(2, Version(3)) == "V#2#0000000003"
    assert keys.holder_sk(orders, Version(3), 2) == "@orders\t0000000003#0000000002"
    assert keys.settings_sk(Subject(".", "")) == "="
    assert keys.id_pk("r", key) == "r#i#_#42"
    assert keys.referrer_sk(Version(1), orders, SchemaId(2), Version(3), "n") == (
        "0000000001#.eu#0000000002#orders#0000000003#n"
    )


@given(st.from_regex(NAME, fullmatch=True), st.text("0123456789abcdef", min_size=16, max_size=16))
@example("A" * 128, "0123456789abcdef")
@example(".".join("A" * 64), "0123456789abcdef")
def test_credentials_of_every_exporter_fit_into_the_name_of_a_file_and_are_told_by_it(
    exporter: str, nonce: str
) -> None:
    """A name of 128 capitals is legal; file systems that do not tell them from small letters take it, too."""
    name = keys.secret_file("default", exporter, nonce).removeprefix("default/secrets/")
    assert len(f"{name}{keys.DRAFT}") <= 255
    assert name == name.lower()
    assert keys.secret_of_file(name) == (exporter, nonce)


def test_credentials_lie_where_releases_before_have_put_them() -> None:
    """They stand under a name that is made anew at each reading."""
    assert keys.secret_file("default", "To.dr", "mark") == "default/secrets/%54o%2edr.mark.json"
    longest = keys.secret_file("default", "A" * 76, "0123456789abcdef")
    assert longest == f"default/secrets/{'%41' * 76}.0123456789abcdef.json"


def test_a_name_of_700_encoded_bytes_is_the_longest() -> None:
    """The refusal quotes the spelling that was sent."""
    keys.check_length(Subject(".", "x" * 700))
    keys.check_length(Subject(".", "%" * 233))
    for subject in (Subject(".", "x" * 701), Subject(".", "%" * 234), Subject("." + "c" * 690, "x" * 9)):
        with pytest.raises(InvalidSubject):
            keys.check_length(subject)
    with pytest.raises(InvalidSubject, match="subject ':\\.:x"):
        keys.check_length(Subject(".", "x" * 701, sent=":.:" + "x" * 701))
