"""What the first day asks of every door, and that a door which does it wrong is found out."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from infra.first_day import doors, figures
from infra.first_day.asking import FUNCTION_URL, REST_API, SERVER, Door, Failed, Kind, NotAsked
from infra.first_day.day import Day
from tests.first_day.conftest import Crook, Sent, a_day, crooked, unpacked

Asks = Callable[[Day, Door], str]

PAGE = b"<html>not a registry</html>"
ENVELOPE = b'{"error_code":429,"message":"Too Many Requests"}'

EVERYWHERE: tuple[Asks, ...] = (
    doors.names_arrive,
    doors.head_is_get,
    doors.unchanged_is_304,
    doors.answers_are_packed,
    doors.packed_bodies_are_understood,
    doors.too_large_is_413,
    doors.much_too_large_is_413,
    doors.strangers_are_refused,
    doors.nonsense_is_refused,
    figures.many_come_at_once,
    figures.reads_are_quick,
    figures.writes_are_quick,
)


@pytest.mark.parametrize("asks", EVERYWHERE, ids=lambda asks: asks.__name__)
def test_a_registry_that_is_well_passes(registry: Door, asks: Asks) -> None:
    """Else what fails would not be believed."""
    day = a_day(registry)
    asks(day, registry)
    with crooked(registry, Crook()) as as_it_is:
        asks(a_day(as_it_is), as_it_is)


def sends(change: Callable[[str], str]) -> Crook:
    """A door that hands on another path."""
    return Crook(request=lambda sent: replace(sent, line=change(sent.line)))


def answers(change: Callable[[Sent], Sent], when: Callable[[Sent, Sent], bool] = lambda _, __: True) -> Crook:
    """A door that hands back something else."""
    return Crook(answer=lambda asked, told: change(told) if when(asked, told) else told)


def page(told: Sent) -> Sent:
    return replace(told, body=PAGE, headers={"Content-Type": "text/html"})


def every(number: int) -> Callable[[Sent, Sent], bool]:
    """The last of so many requests, but for those that delete."""
    counted = count(1)
    return lambda asked, _: not asked.line.startswith("DELETE") and next(counted) % number == 0


def refused(status: str) -> Callable[[Sent], Sent]:
    return lambda told: replace(told, line=status)


CROOKS: tuple[tuple[str, Asks, Crook, Kind], ...] = (
    ("slashes are decoded", doors.names_arrive, sends(lambda line: line.replace("%2F", "/")), SERVER),
    ("percent signs are decoded", doors.names_arrive, sends(lambda line: line.replace("%25", "%")), SERVER),
    ("a plus is a space", doors.names_arrive, sends(lambda line: line.replace("+", "%20")), SERVER),
    ("question marks cut", doors.names_arrive, sends(lambda line: line.replace("%3F", "?")), SERVER),
    ("dots are a way up", doors.names_arrive, sends(lambda line: line.replace("subjects/%2e%2e/", "")), SERVER),
    ("UTF-8 is Latin-1", doors.names_arrive, sends(lambda line: line.replace("%C3%BC", "%C3%83%C2%BC")), SERVER),
    (
        "queries are decoded twice",
        doors.names_arrive,
        sends(lambda line: line.replace("%252F", "%2F") if "subjectPrefix" in line else line),
        SERVER,
    ),
    (
        "HEAD is not known",
        doors.head_is_get,
        answers(refused("405"), lambda asked, _: asked.line[:4] == "HEAD"),
        SERVER,
    ),
    (
        "HEAD has another type",
        doors.head_is_get,
        answers(lambda told: told.without("content-type"), lambda asked, _: asked.line[:4] == "HEAD"),
        SERVER,
    ),
    ("tags are dropped", doors.unchanged_is_304, answers(lambda told: told.without("etag")), SERVER),
    (
        "conditions are dropped",
        doors.unchanged_is_304,
        Crook(request=lambda sent: sent.without("if-none-match")),
        SERVER,
    ),
    (
        "everything is unchanged",
        doors.unchanged_is_304,
        answers(lambda told: replace(told, line="304", body=b""), lambda asked, _: "If-None-Match" in asked.headers),
        SERVER,
    ),
    (
        "nothing is compressed",
        doors.answers_are_packed,
        Crook(request=lambda sent: sent.without("accept-encoding")),
        SERVER,
    ),
    ("what should not be is compressed", doors.answers_are_packed, Crook(), FUNCTION_URL),
    (
        "the body is not gzip, as its header says",
        doors.answers_are_packed,
        answers(
            lambda told: replace(told, body=b"none"), lambda _, told: told.headers.get("content-encoding") == "gzip"
        ),
        SERVER,
    ),
    ("compressed bodies are not unpacked", doors.packed_bodies_are_understood, Crook(), REST_API),
    ("they are, where nobody said so", doors.packed_bodies_are_understood, Crook(request=unpacked), FUNCTION_URL),
    ("too large is a page", doors.too_large_is_413, answers(page, lambda _, told: told.line == "413"), SERVER),
    ("too large is a 500", doors.too_large_is_413, answers(refused("500"), lambda _, told: told.line == "413"), SERVER),
    ("much too large is a 502", doors.much_too_large_is_413, answers(refused("502")), FUNCTION_URL),
    ("much too large is a page", doors.much_too_large_is_413, answers(page), REST_API),
    ("401 has no header", doors.strangers_are_refused, answers(lambda told: told.without("www-authenticate")), SERVER),
    ("401 has the other door's header", doors.strangers_are_refused, Crook(), REST_API),
    ("a refusal is a page", doors.nonsense_is_refused, answers(page), SERVER),
    ("some that come at once are lost", figures.many_come_at_once, answers(refused("502"), every(5)), SERVER),
    ("some reads are lost", figures.reads_are_quick, answers(refused("503"), every(5)), SERVER),
    ("some writes are lost", figures.writes_are_quick, answers(refused("503"), every(2)), SERVER),
)


@pytest.mark.parametrize("asks, crook, kind", [row[1:] for row in CROOKS], ids=[row[0] for row in CROOKS])
def test_a_door_that_does_it_wrong_is_found_out(registry: Door, asks: Asks, crook: Crook, kind: Kind) -> None:
    """A check that cannot fail says nothing."""
    with crooked(registry, crook, kind) as door, pytest.raises(Failed):
        asks(a_day(door), door)


def test_who_lets_strangers_in_is_found_out(registry: Door) -> None:
    """The one check for which the door must know a key that the client does not send."""
    with_key = Crook(request=lambda sent: replace(sent, headers={**sent.headers, **registry._credentials}))
    with crooked(registry, with_key) as door, pytest.raises(Failed, match="200 instead of 401"):
        doors.strangers_are_refused(a_day(door), door)


def test_an_open_registry_is_not_asked_for_its_refusals(registry: Door) -> None:
    with pytest.raises(NotAsked, match="needs no key"):
        doors.strangers_are_refused(a_day(registry), registry.without_key())


def test_what_takes_longer_than_the_alarm_allows_fails(registry: Door) -> None:
    """The figures come with it."""
    day = replace(a_day(registry), slowest_ms=0.0)
    with pytest.raises(Failed, match=r"p50 .* p99 .* of 8: above 0 ms the door's alarm on latency rings"):
        figures.reads_are_quick(day, registry)


# --- throttling ------------------------------------------------------------------------------------------------------


def after(number: int, told: Sent) -> Crook:
    """A door that says so after so many requests."""
    counted = count(1)
    return Crook(answer=lambda _, other: told if next(counted) > number else other)


THROTTLED = Sent("429", {"Content-Type": "application/json", "Retry-After": "1"}, ENVELOPE)


@pytest.mark.parametrize(
    "told, kind",
    [
        (THROTTLED.without("retry-after"), REST_API),
        (replace(THROTTLED, body=PAGE), REST_API),
        (replace(THROTTLED, line="502"), FUNCTION_URL),
    ],
    ids=["without Retry-After", "without the envelope", "with 502"],
)
def test_a_door_that_throttles_otherwise_is_found_out(registry: Door, told: Sent, kind: Kind) -> None:
    """Clients back off when they are told to, and take anything else for an outage."""
    with crooked(registry, after(40, told), kind) as door, pytest.raises(Failed):
        doors.more_is_429(a_day(door, burst=100), door)


def test_throttling_is_asked_for_only_by_who_pays_for_it(registry: Door) -> None:
    """And no further than to the first that is throttled."""
    with pytest.raises(NotAsked, match="--burst"):
        doors.more_is_429(a_day(registry), registry)
    with pytest.raises(NotAsked, match="because all 50 requests were allowed"):
        doors.more_is_429(a_day(registry, burst=50), registry)
    with crooked(registry, after(40, THROTTLED), REST_API) as door:
        assert doors.more_is_429(a_day(door, burst=10_000), door) == "within 96 requests"


def test_what_is_no_registry_is_told_and_not_shown_as_a_trace(registry: Door) -> None:
    """A proxy's page, or nothing at all."""
    with crooked(registry, answers(page)) as door, pytest.raises(Failed, match="not JSON: <html>"):
        doors.names_arrive(a_day(door), door)
    with pytest.raises(Failed, match="no answer to GET /: "):
        Door("url", "http://127.0.0.1:1", SERVER, "").ask("GET", "/")
