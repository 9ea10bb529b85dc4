"""Associations under attack: two verbs that meet between any two calls, and calls that fail."""

import pytest

from tests.attack.associations import STRONG_ORDERS, WEAK_ORDERS, ended, evolved, strong, weak
from tests.attack.stories import ONE, THREE, TWO, Story, delete, register
from tests.attack.test_aws_races import few
from tests.attack.test_crash import KINDS, Undisturbed, disturb, failures
from tests.attack.test_races import Pair, Points, allowed, every_point, meetings
from tests.attack.world import Embedded, Fresh

OWN = ":.lkc:t-value"
USES = '{"type":"record","name":"Uses","fields":[{"name":"f","type":"int"}]}'
ORDERS = WEAK_ORDERS[:1]

PAIRS: dict[str, Pair] = {
    "one topic, twice": Pair(strong("t", ONE, TWO), strong("t", ONE, TWO)),
    "one topic, with other schemas": Pair(strong("t", ONE), strong("t", TWO)),
    "two roles of one topic, of two lifecycles": Pair(strong("t", ONE), weak("t", "orders", "key"), ORDERS),
    "two topics of one name": Pair(weak("a", "orders"), weak("a", "orders", id="id-2"), ORDERS),
    "two topics of one subject": Pair(weak("a", "orders"), weak("b", "orders"), ORDERS),
    "a weak association against the delete of its subject": Pair(weak("a", "orders"), delete("orders"), ORDERS),
    "a weak association against the delete of the only version": Pair(weak("a", "orders"), delete("orders", 1), ORDERS),
    "a strong association against a weak one of its subject": Pair(
        strong("t", ONE), weak("a", OWN), (register(OWN, ONE),)
    ),
    "a strong association against a registration": Pair(strong("t", ONE), register(OWN, TWO)),
    "a strong association against a reference": Pair(
        strong("t", ONE), register(":.lkc:b", USES, OWN), (register(OWN, ONE),)
    ),
    "a next schema against the end of the topic": Pair(evolved("t", THREE), ended("t", cascade=True), STRONG_ORDERS),
    "a registration against the end of the topic": Pair(register(OWN, THREE), ended("t", cascade=True), STRONG_ORDERS),
    "the end of a topic, twice": Pair(ended("t", cascade=True), ended("t", cascade=True), STRONG_ORDERS),
    "the end of a topic against its return": Pair(ended("t", cascade=True), strong("t", TWO), STRONG_ORDERS),
    "the end of a weak association against the delete of the subject": Pair(
        ended("a"), delete("orders"), WEAK_ORDERS[:2]
    ),
}
ON_AWS = ("a strong association against a reference",)


def meet(name: str, fresh: Fresh = Embedded, points: Points = every_point) -> None:
    """Raises AssertionError where a meeting ends as no order explains."""
    pair = PAIRS[name]
    explained = allowed(pair)
    for where, happened in meetings(pair, fresh, points):
        assert happened in explained, f"{name}: {where}"


@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_about_associations_end_as_if_one_had_been_first(name: str) -> None:
    """No association without its subject, and no topic with half of its schemas."""
    meet(name)


@pytest.mark.parametrize("name", ON_AWS)
def test_a_topic_and_its_subjects_are_one_on_aws(name: str, small: Fresh) -> None:
    """What a producer wrote by is not taken away, and what is taken away comes back as a whole."""
    meet(name, small, few)


@pytest.mark.soak
@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_about_associations_end_on_aws_as_if_one_had_been_first(name: str, small: Fresh) -> None:
    """Whoever comes between any two calls of the other."""
    meet(name, small)


STORIES: dict[str, Story] = {
    "a topic with two schemas": Story(strong("t", ONE, TWO)),
    "a next schema": Story(evolved("t", THREE), STRONG_ORDERS),
    "a weak association": Story(weak("a", "orders"), ORDERS),
    "the end of a topic": Story(ended("t", cascade=True), STRONG_ORDERS),
    "the end of a weak association": Story(ended("a"), WEAK_ORDERS),
}


@pytest.mark.parametrize("name", STORIES)
def test_a_failure_anywhere_leaves_no_topic_half_associated(name: str) -> None:
    """Before and after every call of the stores: schemas and associations are there together, or neither."""
    story = STORIES[name]
    measure = Undisturbed(story)
    for number, kind in failures(measure.calls):
        try:
            disturb(story, measure, number, KINDS[kind])
        except AssertionError as error:
            raise AssertionError(f"{name}, {kind} at call {number} ({measure.calls[number].name}): {error}") from error
