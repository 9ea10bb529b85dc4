"""What ids mean: written once, found by id and by content."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sigla import keys, records
from sigla.errors import BodyDamaged, BodyLost, BodyMissing, Conflict, InvalidSubject, Taken
from sigla.model import (
    BodyKey,
    Metadata,
    Reference,
    Rule,
    RuleSet,
    SchemaId,
    Subject,
    Target,
    Version,
)
from sigla.ports.bodies import Bodies
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_body, a_guid, a_schema, in_the_former_form, put_all
from tests.contract.aws import AwsStores
from tests.contract.engines import BUCKET


def key(id: int, context: str = ".") -> BodyKey:
    return BodyKey(context, SchemaId(id))


ONE = key(1)
RICH = a_body(
    schema=a_schema(
        '{"type":"record","name":"Bücher 😀","fields":[]}',
        references=(Reference("money", "m", Version(2)),),
        metadata=Metadata({"a.b": ("PII",)}, {"owner": "…"}, ("owner",)),
        rule_set=RuleSet(migration=(Rule("up", kind="TRANSFORM", mode="UPGRADE"),), enable_at="ALL"),
    ),
    targets=(Target(".eu", "m", Version(2), SchemaId(9)),),
    subject=Subject(".eu", "orders"),
)


def test_a_body_comes_back_as_it_was_put(bodies: Bodies) -> None:
    """Everything it means, and its birth."""
    bodies.put(ONE, RICH)
    assert bodies.get(ONE) == RICH


def test_an_id_without_a_body_is_not_found(bodies: Bodies) -> None:
    """By the number that was asked for; another context has other ids."""
    bodies.put(key(1, ".eu"), a_body())
    with pytest.raises(BodyMissing) as told:
        bodies.get(ONE)
    assert told.value.key == ONE


def test_the_same_writer_may_repeat_himself(bodies: Bodies) -> None:
    """After an unknown outcome it does."""
    body = a_body()
    bodies.put(ONE, body)
    bodies.put(ONE, body)
    assert bodies.get(ONE) == body


def test_nobody_writes_over_a_body(bodies: Bodies) -> None:
    """The writer is told what stands there, and it stays."""
    standing = a_body("a")
    bodies.put(ONE, standing)
    for other in (a_body("b"), a_body("a")):
        with pytest.raises(Taken) as taken:
            bodies.put(ONE, other)
        assert taken.value.standing == standing
    assert bodies.get(ONE) == standing
    assert bodies.named(a_guid("b")) == ()


def test_of_many_writers_of_one_id_one_wins(bodies: Bodies) -> None:
    """And all the others are told."""

    def put(number: int) -> bool:
        try:
            bodies.put(ONE, a_body(f"text {number}"))
        except Taken:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(put, range(16)))
    assert won.count(True) == 1
    assert bodies.get(ONE).schema.text == f"text {won.index(True)}"


def test_many_bodies_come_in_the_order_asked(bodies: Bodies) -> None:
    """Also one asked for twice; one missing is an error."""
    put_all(bodies, ".", range(1, 5))
    texts = [body.schema.text for body in bodies.get_many([key(3), ONE, key(3)])]
    assert texts == ["text 3", "text 1", "text 3"]
    assert bodies.get_many([]) == []
    with pytest.raises(BodyMissing):
        bodies.get_many([ONE, key(9)])


CONTEXTS = [".", "..", "....", "./../x", ".A", ".a", "._", ".%2e", ".é", ".\uff5e", ".\U0001f600", "." + "x" * 300]


def test_a_content_is_found_wherever_it_was_written(bodies: Bodies) -> None:
    """The default context first, then by UTF-16 code units; ids ascending."""
    for context in CONTEXTS:
        for id in (10, 9):
            bodies.put(key(id, context), a_body("t"))
    named = sorted(CONTEXTS[1:], key=lambda context: context.encode("utf-16-be"))
    assert bodies.named(a_guid("t")) == tuple(key(id, context) for context in [".", *named] for id in (9, 10))
    assert bodies.named(a_guid("u")) == ()


def test_no_context_gets_into_anothers_place(bodies: Bodies) -> None:
    """Dots, slashes, case, percent signs and length are a matter of names alone."""
    for context in CONTEXTS:
        bodies.put(key(1, context), a_body(context))
    assert [bodies.get(key(1, context)).schema.text for context in CONTEXTS] == CONTEXTS


def test_a_context_too_long_for_any_store_has_no_bodies(bodies: Bodies) -> None:
    """Writing is refused, reading finds nothing."""
    endless = key(1, "." + "x" * 10_000)
    with pytest.raises(InvalidSubject):
        bodies.put(endless, a_body())
    with pytest.raises(BodyMissing):
        bodies.get(endless)
    assert bodies.last(endless.context) == 0


def test_the_last_body_of_a_context_is_known(bodies: Bodies) -> None:
    """By which a counter older than its bodies is put right."""
    assert bodies.last(".") == 0
    put_all(bodies, ".", [3, 12, 7])
    put_all(bodies, ".eu", [40])
    assert bodies.last(".") == 12


def test_a_buried_body_keeps_its_meaning(bodies: Bodies) -> None:
    """Records in Kafka may carry the id for ever."""
    body = a_body()
    bodies.put(ONE, body)
    for _ in range(2):
        bodies.bury(ONE)
        assert bodies.get(ONE) == replace(body, gone=True)
    assert bodies.named(body.guid) == (ONE,)


def test_burying_what_is_not_there_changes_nothing(bodies: Bodies) -> None:
    """A tombstone needs a body."""
    bodies.bury(ONE)
    with pytest.raises(BodyMissing):
        bodies.get(ONE)


def test_a_tombstone_is_in_the_way_like_any_body(bodies: Bodies) -> None:
    """Its id is used up."""
    bodies.put(ONE, a_body("a"))
    bodies.bury(ONE)
    with pytest.raises(Taken) as taken:
        bodies.put(ONE, a_body("b"))
    assert taken.value.standing.gone


def test_a_tombstone_of_the_same_content_lives_again(bodies: Bodies) -> None:
    """By import."""
    bodies.put(ONE, a_body("a"))
    bodies.bury(ONE)
    again = a_body("a")
    bodies.revive(ONE, again)
    assert bodies.get(ONE) == again


def test_a_tombstone_takes_no_other_content(bodies: Bodies) -> None:
    """An id never means two things."""
    bodies.put(ONE, a_body("a"))
    bodies.bury(ONE)
    with pytest.raises(Taken):
        bodies.revive(ONE, a_body("b"))
    assert bodies.get(ONE).schema.text == "a"


def test_reviving_what_is_not_dead_changes_nothing(bodies: Bodies) -> None:
    """A repeated import; and where there is nothing at all, the body is simply put."""
    body = a_body("a")
    bodies.revive(ONE, body)
    assert bodies.get(ONE) == body
    assert bodies.named(body.guid) == (ONE,)
    bodies.revive(ONE, a_body("a"))
    assert bodies.get(ONE) == body


def test_another_thread_finds_what_was_put(bodies: Bodies) -> None:
    """At once."""
    bodies.put(ONE, a_body("a"))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(bodies.get, ONE).result() == bodies.get(ONE)


# --- what stands there and is not the body ---------------------------------------------------------------------------

Spoil = Callable[[BodyKey, bytes | None], None]
"""Puts bytes in the place of a body, past the adapter; None removes it."""


@pytest.fixture
def spoil(stores: object) -> Spoil:
    def in_a_file(key: BodyKey, content: bytes | None) -> None:
        assert isinstance(stores, EmbeddedStore)
        file = stores.path / keys.body_file("default", key)
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)

    def in_a_bucket(key: BodyKey, content: bytes | None) -> None:
        assert isinstance(stores, AwsStores)
        place = {"Bucket": BUCKET, "Key": keys.body_object(stores.registry, key)}
        if content is None:
            stores.s3.delete_object(**place)
        else:
            stores.s3.put_object(**place, Body=content)

    return in_a_file if isinstance(stores, EmbeddedStore) else in_a_bucket


TWO = key(2)
BODY, OTHER = a_body("a"), a_body("b")
NO_BODIES = {
    "nothing": b"",
    "no JSON": b"body",
    "JSON": b"{}",
    "half": records.body_bytes(ONE, BODY)[:-50],
    "another text": records.body_bytes(ONE, BODY).replace(b'"schema":"a"', b'"schema":"x"'),
    "another text, sealed": records.body_bytes(ONE, replace(BODY, guid=OTHER.guid)),
    "another text in the former form": in_the_former_form(BODY).replace(b'"schema":"a"', b'"schema":"x"'),
    "that of another id": records.body_bytes(TWO, BODY),
    "that of another context": records.body_bytes(key(1, ".eu"), BODY),
}


def test_what_is_not_the_body_of_its_key_is_not_believed(bodies: Bodies, spoil: Spoil) -> None:
    """Every verb that would have to believe it says so, and leaves it where it is."""
    bodies.put(ONE, BODY)
    for what, content in NO_BODIES.items():
        spoil(ONE, content)
        with pytest.raises(BodyDamaged) as told:
            bodies.get(ONE)
        assert told.value.key == ONE, what
    for verb in (
        lambda: bodies.get_many([ONE, ONE]),
        lambda: bodies.put(ONE, a_body("a")),
        lambda: bodies.bury(ONE),
        lambda: bodies.revive(ONE, a_body("a")),
    ):
        with pytest.raises(BodyDamaged):
            verb()
    assert bodies.named(BODY.guid) == (ONE,), "whoever reads it is told"


def test_a_body_in_the_former_form_is_believed(bodies: Bodies, spoil: Spoil) -> None:
    """And buried and revived as any other."""
    bodies.put(ONE, BODY)
    spoil(ONE, in_the_former_form(BODY))
    assert bodies.get(ONE) == BODY
    bodies.bury(ONE)
    assert bodies.get(ONE) == replace(BODY, gone=True)
    bodies.revive(ONE, BODY)
    assert bodies.get(ONE) == BODY


def test_a_lost_body_is_mended(bodies: Bodies, spoil: Spoil) -> None:
    """By who knows what it was; once more changes nothing."""
    bodies.put(ONE, BODY)
    for content in (None, NO_BODIES["nothing"], NO_BODIES["that of another id"], NO_BODIES["another text, sealed"]):
        spoil(ONE, content)
        mended = a_body("a")
        for body in (mended, a_body("a")):
            bodies.mend(ONE, body, None)
            assert bodies.get(ONE) == mended
            assert bodies.named(BODY.guid) == (ONE,)


def test_mending_puts_a_body_in_the_place_of_other_content(bodies: Bodies) -> None:
    """What agrees with itself and not with the catalog."""
    bodies.put(ONE, OTHER)
    bodies.mend(ONE, BODY, OTHER)
    assert bodies.get(ONE) == BODY


def test_what_was_written_since_a_body_was_to_be_mended_stays(bodies: Bodies, spoil: Spoil) -> None:
    """By whoever was faster, and knows more: who decided upon another body, or upon none, decides again."""
    bodies.put(ONE, OTHER)
    for seen in (None, BODY, replace(OTHER, nonce="before"), replace(OTHER, gone=True)):
        with pytest.raises(Conflict):
            bodies.mend(ONE, BODY, seen)
        assert bodies.get(ONE) == OTHER
    bodies.bury(ONE)
    with pytest.raises(Conflict):
        bodies.mend(ONE, BODY, OTHER)
    assert bodies.get(ONE) == replace(OTHER, gone=True)
    for content in (None, NO_BODIES["nothing"]):
        spoil(ONE, content)
        with pytest.raises(Conflict):
            bodies.mend(ONE, BODY, OTHER)
        with pytest.raises(BodyLost):
            bodies.get(ONE)


def test_what_an_import_may_have_left_is_that_of_the_catalog_once_it_is_mended_and_not_the_other_way_round(
    bodies: Bodies,
) -> None:
    """It is there at any moment; a tombstone stays one."""
    brought = replace(BODY, brought=True)
    bodies.put(ONE, brought)
    bodies.mend(ONE, replace(brought, nonce="another"), None)
    assert bodies.get(ONE) == brought
    for body, seen in ((BODY, brought), (brought, None)):
        bodies.mend(ONE, body, seen)
        assert bodies.get(ONE) == BODY
    bodies.put(TWO, replace(brought, gone=True))
    bodies.mend(TWO, BODY, None)
    assert bodies.get(TWO).gone


def test_what_was_seen_is_written_anew_under_another_nonce(bodies: Bodies) -> None:
    """So that whoever saw it before finds another one."""
    bodies.put(ONE, BODY)
    anew = replace(BODY, nonce="anew")
    bodies.mend(ONE, anew, BODY)
    assert bodies.get(ONE) == anew
    with pytest.raises(Conflict):
        bodies.mend(ONE, OTHER, BODY)


def test_a_missing_body_is_put_again(bodies: Bodies, spoil: Spoil) -> None:
    """As if it had never been there."""
    bodies.put(ONE, BODY)
    spoil(ONE, None)
    with pytest.raises(BodyMissing):
        bodies.get(ONE)
    again = a_body("a")
    bodies.put(ONE, again)
    assert bodies.get(ONE) == again
    assert bodies.named(BODY.guid) == (ONE,)
