from dataclasses import replace

import pytest

from sigla.errors import SchemaNamedNotFound
from sigla.model import Body, BodyKey, Guid, Holder, SchemaId, Subject, Version
from sigla.web.api.call import Call
from sigla.web.api.rendered import Rendered
from tests.build import a_schema, a_subject


def a_body(text: str = '"int"') -> Body:
    return Body(a_schema(text), Guid("g"), (), a_subject(), Version(1), 1, "n")


def a_holder(name: str = "s") -> Holder:
    return Holder(a_subject(name), Version(1), deleted=False, ts=1, revision=1)


class Meanings:
    """What ids mean, and how often that was asked."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Body, Holder]] = {}
        self.asked = 0
        self.leads_to: dict[str, str] = {}

    def meaning(self, key: BodyKey) -> tuple[Body, Holder]:
        self.asked += 1
        if key.id not in self.known:
            raise SchemaNamedNotFound(key=key.id)
        return self.known[key.id]

    def meaning_in(self, schema_id: SchemaId, subject: Subject) -> tuple[BodyKey, Body, Holder]:
        """The meaning in a subject that is another name for things of a context, as long as it is that."""
        key = BodyKey(self.leads_to.get(subject.name, subject.context), schema_id)
        return key, *self.meaning(key)


@pytest.fixture
def meanings() -> Meanings:
    meanings = Meanings()
    meanings.known[1] = (a_body(), a_holder())
    return meanings


def rendered(most: int = 10**6) -> Rendered:
    return Rendered(most=most)


def test_an_answer_is_made_once(meanings: Meanings) -> None:
    """The same bytes for the same objects; the verb is asked each time all the same."""
    answers = rendered()
    first = answers.by_id(meanings, ".", 1)
    asked = meanings.asked
    assert answers.by_id(meanings, ".", 1) is first
    assert meanings.asked == asked + 1
    assert first.etag


def test_an_answer_for_a_subject_is_made_once(meanings: Meanings) -> None:
    """Deserializers say for which subject they ask; each has the answer that is told to it."""
    answers = rendered()
    first = answers.by_id_in(meanings, a_subject("a"), SchemaId(1))
    asked = meanings.asked
    assert answers.by_id_in(meanings, a_subject("a"), SchemaId(1)) is first
    assert meanings.asked == asked + 1
    assert answers.by_id_in(meanings, a_subject("b"), SchemaId(1)) is not first
    assert answers.by_id(meanings, ".", 1) is not first


def test_an_answer_for_a_subject_follows_where_the_subject_leads(meanings: Meanings) -> None:
    """An alias that was set since says what an id means from now on."""
    answers = rendered()
    before = answers.by_id_in(meanings, a_subject("a"), SchemaId(1))
    meanings.leads_to["a"] = ".elsewhere"
    assert answers.by_id_in(meanings, a_subject("a"), SchemaId(1)) is not before


def test_an_answer_follows_what_the_registry_knows(meanings: Meanings) -> None:
    """A holder that went, a body that came back: equal is not enough, what is kept must be of these very objects."""
    answers = rendered()
    before = answers.by_id(meanings, ".", 1)
    body, holder = meanings.known[1]
    meanings.known[1] = (body, a_holder("t"))
    after = answers.by_id(meanings, ".", 1)
    assert b'"t"' in after.body
    assert after.etag != before.etag
    meanings.known[1] = (replace(body, ts=2), holder)
    assert answers.by_id(meanings, ".", 1) is not after


def test_a_missing_id_is_asked_again(meanings: Meanings) -> None:
    """Absence is never remembered."""
    answers = rendered()
    with pytest.raises(SchemaNamedNotFound):
        answers.by_id(meanings, ".", 2)
    meanings.known[2] = meanings.known[1]
    assert answers.by_id(meanings, ".", 2).status == 200


def test_ids_of_two_contexts_are_two_answers(meanings: Meanings) -> None:
    """An id is unique within its context alone."""
    answers = rendered()
    assert answers.by_id(meanings, ".", 1) is not answers.by_id(meanings, ".c", 1)


def test_what_was_not_asked_for_longest_goes_first(meanings: Meanings) -> None:
    """Memory has a bound in bytes."""
    meanings.known |= {2: (a_body(), a_holder()), 3: (a_body(), a_holder())}
    answers = rendered(most=3500)
    first, second = answers.by_id(meanings, ".", 1), answers.by_id(meanings, ".", 2)
    assert answers.by_id(meanings, ".", 1) is first
    answers.by_id(meanings, ".", 3)
    assert answers.by_id(meanings, ".", 1) is first
    assert answers.by_id(meanings, ".", 2) is not second


def test_an_answer_is_packed_once(meanings: Meanings) -> None:
    """The gzip form is kept beside the plain one."""
    call = Call({"method": "GET", "raw_path": b"", "query_string": b"", "headers": [(b"accept-encoding", b"gzip")]})
    answer = rendered().by_id(meanings, ".", 1)
    first, second = call.prepared(answer, gzip=True)[2], call.prepared(answer, gzip=True)[2]
    assert first is second is answer.packed


def test_an_answer_that_another_thread_dropped_meanwhile_is_still_told(
    meanings: Meanings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was right when it was looked for."""
    answers = rendered(most=1_500)
    meanings.known[2] = (a_body('"long"'), a_holder())
    kept = answers.by_id(meanings, ".", 1)
    ask = meanings.meaning

    def meanwhile(key: BodyKey) -> tuple[Body, Holder]:
        monkeypatch.setattr(meanings, "meaning", ask)
        answers.by_id(meanings, ".", 2)
        return ask(key)

    monkeypatch.setattr(meanings, "meaning", meanwhile)
    assert answers.by_id(meanings, ".", 1) is kept
