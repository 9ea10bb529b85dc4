"""A subject that was deleted for good while no exporter saw it, and begins anew: the destination has the old one."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.attack.ports import Call
from tests.unit.exporting.places import AVRO, Line, Place, places
from tests.unit.exporting.stories import Step, ask, configure, delete, register

Left = tuple[Step, ...]

LEFT: dict[str, Left] = {
    "versions": (register("s", 1), register("s", 2), register("s", 3)),
    "a deleted version": (register("s", 1), register("s", 2), delete("s", 2)),
    "settings": (register("s", 1), register("s", 2), configure("s", compatibility="FULL")),
    "an alias": (register("s", 1), configure("s", alias="other")),
}
"""What the destination has of the old one."""


@pytest.fixture
def line() -> Iterator[Line]:
    with places() as (source, target):
        made = Line(source, target).begin()
        source.register("other", AVRO % 7)
        yield made


def forget(line: Line, subject: str) -> None:
    """The source does, and what tells it is passed by: by another exporter, which begins at the start."""
    source = line.source
    source("PUT", "/exporters/line/pause")
    source("DELETE", "/exporters/line")
    if source.client("GET", f"/config/{subject}").status == 200:  # an alias would lead the deletes away
        ask("DELETE", f"/config/{subject}")(source)
    delete(subject)(source)
    delete(subject, permanent=True)(source)
    line.begin()
    line.run()


def imported(number: int) -> Step:
    """It begins with this version, as it did where it comes from."""

    def step(source: Place) -> None:
        source("PUT", "/mode/s?force=true", {"mode": "IMPORT"})
        source.register("s", AVRO % 4, version=number, id=40)

    return step


@pytest.mark.parametrize("begin", [register("s", 4), imported(2), imported(9)], ids=["1", "2", "9"])
@pytest.mark.parametrize("left", LEFT)
def test_nothing_is_left_of_the_old_one(left: str, begin: Step, line: Line) -> None:
    """Its versions are gone, and where it had an alias, the other subject has got nothing."""
    for step in LEFT[left]:
        step(line.source)
    line.run()
    forget(line, "s")
    assert "s" in line.target("GET", "/subjects?deleted=true"), "what the source has no more is looked at by no walk"
    begin(line.source)
    line.run()
    assert line.target.answers() == line.source.answers()


@pytest.mark.parametrize("after", [(), (register("s", 6),), (delete("s", 1),)], ids=["one", "two", "deleted again"])
def test_what_comes_with_the_beginning_goes_along(after: tuple[Step, ...], line: Line) -> None:
    """Rows are looked at together."""
    for step in LEFT["versions"]:
        step(line.source)
    line.run()
    forget(line, "s")
    for step in (register("s", 5), *after):
        step(line.source)
    line.run()
    assert line.target.answers() == line.source.answers()


def test_a_new_subject_is_asked_for_as_a_whole_and_its_later_versions_alone(line: Line) -> None:
    """One question more, for its settings."""
    line.run()
    asked: list[str] = []

    def noted(call: Call, carry_out: Callable[[], Any]) -> Any:
        asked.append(call.name.partition("?")[0])
        return carry_out()

    line.between = noted
    for number, questions in ((1, ["GET /config/n", "GET /schemas"]), (2, ["GET /subjects/n/versions/2"])):
        asked.clear()
        line.source.register("n", AVRO % number)
        line.run()
        assert [each for each in asked if "/mode" not in each] == [*questions, "POST /subjects/n/versions"]


def test_a_subject_that_is_only_over_there_stays(line: Line) -> None:
    """As the docs say: the source may have been restored."""
    for step in LEFT["versions"]:
        step(line.source)
    line.run()
    forget(line, "s")
    line.source.register("other", AVRO % 8)
    line.run()
    assert line.target("GET", "/subjects/s/versions") == [1, 2, 3]
