"""What zones cost by the month: counted in templates with two and with three, and so on the page."""

import re
from pathlib import Path

import pytest

from infra import prices
from infra.usage import MILLION, S3
from tests.infra.conftest import IDENTITY, Synthesise
from tests.infra.reading import Template

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")
COUNTS = (1, 3)


def rows(head: str) -> list[str]:
    """The lines of the table whose first line is `head`."""
    lines = PAGE[PAGE.index(head) :].splitlines()[2:]
    return lines[: next(number for number, line in enumerate(lines) if not line.startswith("|"))]


def dollars(template: Template) -> dict[str, float]:
    """A month, by what it is for."""
    return {item.what: item.dollars for item in prices.idle(template)}


def row(what: str, *months: float, sign: str = "") -> str:
    return f"| {what} | {' | '.join(f'{sign}${month:,.2f}' for month in months)} |"


@pytest.fixture(scope="session")
def one(zones: Template, fewer: Template) -> dict[str, float]:
    """What the third zone adds to two: what each adds."""
    more, less = dollars(zones), dollars(fewer)
    return {what: more[what] - less[what] for what in more if more[what] != less[what]}


def test_the_page_shows_what_zones_cost(template: Template, zones: Template, one: dict[str, float]) -> None:
    """Each as much as the other, on top of what a stack without zones costs."""
    idle, each = prices.total(template), sum(one.values())
    assert prices.total(zones) == pytest.approx(idle + 3 * each)
    parts = [row(what, *(count * month for count in COUNTS)) for what, month in one.items()]
    together = row("together", *(idle + count * each for count in COUNTS))
    assert rows("| a month | one zone |") == [row("without zones, as above", idle, idle), *parts, together]


def test_the_page_shows_what_other_zones_cost(
    template: Template, one: dict[str, float], private: Template, synthesise: Synthesise
) -> None:
    """With one member, with the other kind, with none; and with private doors and keys of KMS."""
    idle, each, ring = prices.total(template), sum(one.values()), one["members of rings"]
    bare = prices.total(synthesise(IDENTITY, ("zones", "use1-az1"), ("ring.kind", "none"))) - idle
    memcached, names = dollars(private)["members of rings"], dollars(private)["private hosted zones"]
    door = {name: each for name, each in private["Resources"].items() if name.startswith("ZoneUse1Az2Private")}
    doors = prices.total({"Resources": door})
    way = {name: each for name, each in private["Resources"].items() if name.startswith("ZoneUse1Az2Keys")}
    ways = prices.total({"Resources": way})

    def months(zone: float) -> list[float]:
        return [idle + count * zone for count in COUNTS]

    assert rows("| instead, or besides |") == [
        row("one member in each zone (`ring.members=1`)", *months(each - ring / 2)),
        row("Memcached (`ring.kind=memcached`)", *months(each - ring + memcached)),
        row("no ring (`ring.kind=none`)", *months(bare)),
        row("private doors (`front_door.private_zonal`)", *(names + count * doors for count in COUNTS), sign="+"),
        row("keys of shared KEKs (`function.kms_keys`)", *(count * ways for count in COUNTS), sign="+"),
    ]


def test_the_page_says_what_a_ring_is_worth(one: dict[str, float]) -> None:
    """In reads from S3, that it is not bought to save."""
    read = S3["GetObject"]
    assert f"as much as {one['members of rings'] / read / MILLION:.0f} million GETs of S3" in PAGE
    assert f"which is ${read * MILLION:.2f} less per million" in PAGE


def test_three_zones_cost_what_was_planned(zones: Template) -> None:
    """The plan: $65.4, alarms at three per zone and no metrics; a NAT gateway in each would have been $33 more.

    Since then alarms read nine metrics per zone, and thirteen for all: four dollars at most.
    """
    assert re.search(r"no NAT gateway at \$33 a month", PAGE)
    assert prices.total(zones) == pytest.approx(65.4, abs=4)
