"""An exporter that is reset: it walks through everything, and forgets neither what it was told nor what waits."""

from collections.abc import Iterator

import pytest

from tests.unit.exporting.places import AVRO, Line, places
from tests.unit.exporting.stories import USING, Step, ask, configure, delete, register

GONE: dict[str, tuple[tuple[Step, ...], tuple[Step, ...]]] = {
    "a subject": ((register("s", 1), register("s", 2)), (delete("s"), delete("s", permanent=True))),
    "settings of a subject": ((register("s", 1), configure("s", alias="t")), (ask("DELETE", "/config/s"),)),
    "settings without a version": ((configure("s", compatibility="FULL"),), (ask("DELETE", "/config/s"),)),
    "settings of a context": ((configure(":.c:", compatibility="FULL"),), (ask("DELETE", "/config/:.c:"),)),
    "a context": ((register(":.c:s", 1),), (delete(":.c:s"), delete(":.c:s", permanent=True))),
}
"""What there was, and how it went."""


@pytest.fixture
def line() -> Iterator[Line]:
    with places() as (source, target):
        yield Line(source, target).begin()


def reset(line: Line, *meanwhile: Step) -> None:
    line.source("PUT", "/exporters/line/pause")
    for step in meanwhile:
        step(line.source)
    line.source("PUT", "/exporters/line/reset")
    assert line.source("GET", "/exporters/line/status")["offset"] == 0
    line.source("PUT", "/exporters/line/resume")


@pytest.mark.parametrize("times", [1, 2], ids=["once", "again before it has begun"])
@pytest.mark.parametrize("gone", GONE)
def test_what_went_before_it_goes_along(gone: str, times: int, line: Line) -> None:
    there, steps = GONE[gone]
    for step in there:
        step(line.source)
    line.run()
    reset(line, *steps)
    for _ in range(times - 1):
        reset(line)
    line.run()
    assert line.target.picture() == line.source.picture()
    assert line.target.answers() == line.source.answers()
    assert line.target.get("/config/s") == line.source.get("/config/s")


def test_what_the_destination_refused_before_is_tried_again(line: Line) -> None:
    """The journal has told it, and no walk meets what is gone here."""
    line.source.register("s", AVRO % 1)
    line.source.register("other", AVRO % 2)
    line.run()
    reference = {"name": "R", "subject": "s", "version": 1}
    line.target.register("holds", USING % 3, references=[reference], id=30, version=1)
    delete("s")(line.source)
    delete("s", permanent=True)(line.source)
    line.turn()
    assert line.progress.position.waiting == ("subject s",)
    reset(line)
    delete("holds")(line.target)
    delete("holds", permanent=True)(line.target)
    line.run()
    assert line.target.get("/subjects?deleted=true") == (200, ["other"])
