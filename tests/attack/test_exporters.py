"""Exporters under attack: many creators, two verbs that meet between any two calls, and calls that fail."""

import pytest

from sigla.exporters.nouns import BEGIN
from tests.attack.aws import READS as AT_READS
from tests.attack.aws import failing, faults_of
from tests.attack.exporters import (
    MASKED,
    MOVED,
    NEXT,
    PAUSED,
    RUNNING,
    advanced,
    created,
    deleted,
    paused,
    restarted,
    resumed,
    updated,
)
from tests.attack.stories import Story
from tests.attack.test_aws_races import few
from tests.attack.test_crash import KINDS, Undisturbed, disturb, failures
from tests.attack.test_keys import outcomes
from tests.attack.test_races import Pair, allowed, meetings
from tests.attack.world import Embedded, Fresh, World
from tests.unit.aws.faults import Fault

CREATORS = 8

STORIES: dict[str, Story] = {
    "an exporter": Story(created()),
    "an exporter without credentials": Story(created(config={"schema.registry.url": "https://there"})),
    "other subjects": Story(updated(subjects=("a*",)), PAUSED),
    "other credentials": Story(updated(config=NEXT), PAUSED),
    "credentials that stay, and another one": Story(updated(config=MASKED), PAUSED),
    "another address": Story(updated(config=MOVED), PAUSED),
    "a pause": Story(paused(), RUNNING),
    "a resume": Story(resumed(), PAUSED),
    "a reset": Story(restarted(), PAUSED),
    "a delete": Story(deleted(), PAUSED),
}
ON_AWS = ("other credentials",)

PAIRS: dict[str, Pair] = {
    "one exporter, twice": Pair(created(), created(config=NEXT)),
    "two updates": Pair(updated(config=NEXT), updated(config=MASKED), PAUSED),
    "an update against a resume": Pair(updated(config=NEXT), resumed(), PAUSED),
    "an update against a delete": Pair(updated(config=NEXT), deleted(), PAUSED),
    "a delete against the next one of its name": Pair(deleted(), created(config=NEXT), PAUSED),
    "a reset against a resume": Pair(restarted(), resumed(), PAUSED),
    "a pause against a resume": Pair(paused(), resumed(), PAUSED),
}


@pytest.mark.parametrize("name", STORIES)
def test_a_failure_anywhere_leaves_no_exporter_without_its_credentials(name: str) -> None:
    """Before and after every call: an exporter is as before or as after, and enters its destination."""
    story = STORIES[name]
    measure = Undisturbed(story)
    for number, kind in failures(measure.calls):
        try:
            disturb(story, measure, number, KINDS[kind])
        except AssertionError as error:
            raise AssertionError(f"{name}, {kind} at call {number} ({measure.calls[number].name}): {error}") from error


def disturb_on_aws(name: str, small: Fresh, *, every: bool) -> None:
    """every: all failures of all calls; else the process ends after each one that writes."""
    story = STORIES[name]
    measure = Undisturbed(story, small)
    for number, call in enumerate(measure.calls):
        faults = faults_of(call) if every else () if call.name in AT_READS else (Fault.KILLED_AFTER,)
        for fault in faults:
            disturb(story, measure, number, failing(fault), small)


@pytest.mark.parametrize("name", ON_AWS)
def test_a_process_that_ends_anywhere_on_aws_leaves_no_exporter_without_its_credentials(
    name: str, small: Fresh
) -> None:
    """Two services write: the parameter is there before the row that names it, and goes after it."""
    disturb_on_aws(name, small, every=False)


@pytest.mark.soak
@pytest.mark.parametrize("name", STORIES)
def test_a_failure_anywhere_on_aws_leaves_no_exporter_without_its_credentials(name: str, small: Fresh) -> None:
    """The whole matrix."""
    disturb_on_aws(name, small, every=True)


def meet(name: str, fresh: Fresh = Embedded) -> None:
    """Raises AssertionError where a meeting ends as no order explains."""
    pair = PAIRS[name]
    explained = allowed(pair)
    for where, happened in meetings(pair, fresh) if fresh is Embedded else meetings(pair, fresh, few):
        assert happened in explained, f"{name}: {where}"


@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_about_exporters_end_as_if_one_had_been_first(name: str) -> None:
    """No credentials are used for another exporter, and each has its own."""
    meet(name)


@pytest.mark.soak
@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_about_exporters_end_on_aws_as_if_one_had_been_first(name: str, small: Fresh) -> None:
    """Whoever comes between any two calls of the other."""
    meet(name, small)


@pytest.mark.parametrize("where", ["one machine", pytest.param("aws", marks=pytest.mark.process)])
def test_of_8_creators_of_one_exporter_one_wins(where: str, request: pytest.FixtureRequest) -> None:
    """Terraform is applied twice; the credentials are those of the one that won."""
    fresh: Fresh = Embedded if where == "one machine" else request.getfixturevalue("small")
    with World(store=fresh()) as world:
        mine = [created(config=NEXT | {"basic.auth.user.info": f"name:{number}"}) for number in range(CREATORS)]
        assert outcomes(world, mine) == {200: 1, 40960: CREATORS - 1}
        world.check_sound()
        (exporter,) = world.picture()["exporters"]
        assert exporter[1]["basic.auth.user.info"].startswith("name:")
        world.store.check()


@pytest.mark.parametrize("where", ["one machine", pytest.param("aws", marks=pytest.mark.process)])
def test_a_pause_holds_whatever_follower_is_on_its_way(where: str, request: pytest.FixtureRequest) -> None:
    """A follower that noted progress after a reset would leave out all that came before."""
    fresh: Fresh = Embedded if where == "one machine" else request.getfixturevalue("small")
    pair = Pair(advanced(offset=9), restarted_after_a_pause, RUNNING)
    with World(*RUNNING, store=fresh()) as world:
        assert world.picture()["exporters"]
    for _, happened in meetings(pair, fresh) if fresh is Embedded else meetings(pair, fresh, few):
        (exporter,) = happened[-1]["exporters"]
        state, position = exporter[2]
        assert (state.value, position.walked) == ("PAUSED", BEGIN)


def restarted_after_a_pause(registry: object) -> None:
    for verb in (paused(), restarted()):
        verb(registry)  # type: ignore[arg-type]  # as every verb
