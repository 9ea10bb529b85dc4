"""Answers kept over speakers that are asked anew from time to time, as on AWS."""

from dataclasses import replace

from tests.unit.web.test_rendered import Meanings, a_body, a_holder, rendered


def test_an_equal_speaker_is_the_same_answer() -> None:
    """A minute is over, the catalog was asked again, and nothing has changed."""
    meanings, answers = Meanings(), rendered()
    meanings.known[1] = (a_body(), a_holder())
    first = answers.by_id(meanings, ".", 1)
    body, speaker = meanings.known[1]
    meanings.known[1] = (body, replace(speaker))
    assert answers.by_id(meanings, ".", 1) is first
    meanings.known[1] = (body, replace(speaker, deleted=True))
    assert b'"deleted":true' in answers.by_id(meanings, ".", 1).body


def test_an_answer_that_is_out_of_date_costs_one_question() -> None:
    """Where a question is a round trip, the second one would be half of the time."""
    meanings, answers = Meanings(), rendered()
    for asked in (1, 2, 3):
        meanings.known[1] = (a_body(), a_holder(f"s{asked}"))
        answers.by_id(meanings, ".", 1)
        assert meanings.asked == asked
