"""Whether a destination is the source: what each of both shows, by which mark, and how long that is waited for."""

import socket
from pathlib import Path
from time import monotonic

import pytest

from sigla.exporters.recognition import answer_to, is_answered, new_question
from sigla.regions.nouns import RegionKind, Role
from sigla.remote import destination
from sigla.remote.destination import answers_at
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore


def test_who_has_the_mark_is_told_from_everyone_else() -> None:
    """Also where the other one says something of its own, or repeats the question."""
    question = new_question("mark")
    assert question != new_question("mark")
    answer = answer_to(question, lambda: "mark")
    assert is_answered(question, "mark", answer)
    assert "mark" not in question + answer
    assert answer_to(question, lambda: "other") == answer_to(question, lambda: "") == ""
    for said in (
        "",
        question,
        question.partition(".")[2],
        "é",
        None,
        1,
        answer_to(new_question("mark"), lambda: "mark"),
    ):
        assert not is_answered(question, "mark", said)


def test_a_copy_of_a_directory_is_another_registry(tmp_path: Path) -> None:
    """Its own mark is drawn when it is opened, and is not kept."""
    marks = []
    for _ in range(2):
        with EmbeddedStore(tmp_path / "data") as store:
            assert store.mark() == store.mark()
            marks.append(store.mark())
    assert marks[0] != marks[1]


def test_both_regions_of_a_registry_are_the_same() -> None:
    """What is written to either of them comes to the other one."""
    with EmbeddedStore() as one, EmbeddedStore() as other:
        assert one.mark() != other.mark()
        for store in (one, other):
            store.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="pair"))
        assert one.mark() == other.mark() == "pair"


def test_a_destination_that_says_nothing_is_not_waited_for_as_when_it_is_written_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The client that offers the exporter waits as long."""
    monkeypatch.setattr(destination, "ANSWERS_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as never:
        settings = {"schema.registry.url": f"http://127.0.0.1:{never.getsockname()[1]}"}
        since = monotonic()
        assert not answers_at(settings, SystemClock(), mark=lambda: "mark")
        assert monotonic() - since < destination.LIMITS.patience_s
