"""One text of each language that is made to hurt, and one that is given up. All others: tests/attack/languages."""

import pytest

from benchmarks.largest import SHAPES, UNLIMITED, text
from sigla.effort import Effort, Unwanted
from sigla.errors import Malformed
from sigla.languages import LANGUAGES

DEEP = {
    "AVRO": '{"type":"array","items":' * 10_000 + '"int"' + "}" * 10_000,
    "JSON": '{"not":' * 10_000 + "{}" + "}" * 10_000,
    "PROTOBUF": "message A {" * 10_000 + "}" * 10_000,
}


@pytest.mark.parametrize("language", DEEP)
def test_what_is_nested_without_end_is_refused_in_a_sentence(language: str) -> None:
    """Never a stack that overflows, and no other exception."""
    with pytest.raises(Malformed) as malformed:
        LANGUAGES[language].parse(DEEP[language], (), True)
    assert 0 < len(malformed.value.reason) < 300


@pytest.mark.parametrize("language, shape", [("AVRO", "fields"), ("JSON", "properties"), ("PROTOBUF", "messages")])
def test_reading_a_large_text_can_be_given_up(language: str, shape: str) -> None:
    """A thread that cannot be taken back stops a server from stopping."""
    large = text(SHAPES[language][shape], 30_000)
    effort = Effort(UNLIMITED, lambda: 0.0, lambda: 0.0)
    effort.give_up()
    with pytest.raises(Unwanted), effort.turn():
        LANGUAGES[language].parse(large, (), True)
