"""What docs/deploy.md says of costs is computed: of the template by infra.prices, of requests by infra.usage."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import prices, usage
from infra.usage import MILLION
from sigla.auth.credentials import FRESH_MS
from tests.infra.conftest import Synthesise, Template, placed, synthesise, template, templates

__all__ = ["Synthesise", "placed", "synthesise", "template", "templates"]

PAGES = Path(__file__).parents[2] / "docs"
PAGE = (PAGES / "deploy.md").read_text(encoding="utf-8")


def rows(head: str) -> list[str]:
    """The lines of the table whose first line begins with `head`."""
    lines = PAGE[PAGE.index(head) :].splitlines()[2:]
    return lines[: next(number for number, line in enumerate(lines) if not line.startswith("|"))]


def dollars(value: float) -> str:
    return f"${value:,.2f}"


def kinds() -> Iterator[str]:
    for request, work in usage.REQUESTS.items():
        url = usage.asked(request, rest=False) * MILLION
        rest = usage.asked(request, rest=True) * MILLION
        parts = (url.function, url.dynamodb, url.s3, url.logs, url.total, rest.total)
        yield f"| {request} | {work.ms:.0f} | {' | '.join(map(dollars, parts))} |"


def test_the_page_shows_what_a_million_requests_cost() -> None:
    assert rows("| a million times |") == list(kinds())


def test_the_page_says_what_it_costs_to_count_who_reads() -> None:
    assert f"To [count who reads](usage.md) is ${usage.counted_read() * MILLION:.2f} more of a million" in PAGE


def test_the_page_shows_what_months_cost(template: Template) -> None:
    """Idle and all: a function URL has two alarms of its own, each on the share of two counts."""
    idle = prices.total(template)
    expected = [
        f"| {requests:,} | {dollars(idle + 4 * prices.ALARM + usage.month(requests, rest=False))} "
        f"| {dollars(idle + usage.month(requests, rest=True))} | {dollars(usage.looked_at(requests))} |"
        for requests in usage.MONTHS
    ]
    assert rows("| requests a month |") == expected


def test_the_first_page_says_which_door_costs_what() -> None:
    """Where a deployer chooses, and not only when counting: the REST API is most of what a read costs."""
    bytes_of = usage.ANSWER_BYTES * usage.ENDPOINT_BYTE
    new, behind_rest = (usage.asked(usage.NEXT, rest=rest).total for rest in (False, True))
    expected = {
        "a function URL": (usage.read(), new),
        "a zone's URL": (usage.read(ring=True), new),
        "the REST API": (usage.read(rest=True), behind_rest),
        "a private door": (usage.read(rest=True) + bytes_of, behind_rest + bytes_of),
    }
    told = {row[0]: row[2:4] for row in (line.strip("| ").split(" | ") for line in rows("| door |"))}
    assert told == {door: [dollars(each * MILLION) for each in both] for door, both in expected.items()}
    assert PAGE.index("## Which door") < PAGE.index("## Settings")


def test_the_page_says_what_reads_cost_everywhere() -> None:
    url, rest = (f"**{dollars(usage.read(rest=rest) * MILLION)}**" for rest in (False, True))
    assert f"are {url} a million by function URL and {rest} by REST API" in PAGE
    first = PAGES.parent / "README.md"
    assert f"{url} by a function URL and {rest} by a REST API".replace("*", "") in first.read_text(encoding="utf-8")
    assert f"In a zone with a ring they are {dollars(usage.read(ring=True) * MILLION)}" in PAGE
    endpoint = usage.ANSWER_BYTES * usage.ENDPOINT_BYTE
    private, bytes_of = usage.read(rest=True) + endpoint, endpoint
    assert (
        f"{dollars(private * MILLION)} a million reads, of which the endpoint has {dollars(bytes_of * MILLION)}" in PAGE
    )


def test_the_page_says_what_a_flood_costs() -> None:
    """Whoever leaves a door open to everybody is told before the bill is."""
    per_second = 500
    requests = per_second * usage.SECONDS_A_MONTH
    wrong = [usage.flood(usage.WRONG, rest=rest, per_second=per_second) for rest in (False, True)]
    right = [usage.month(requests, rest=rest) for rest in (False, True)]
    assert rows("| 500 times a second |") == [
        f"| {what} | ${url:,.0f} | ${rest:,.0f} |"
        for what, (url, rest) in ((usage.WRONG, wrong), ("requests as clients ask them", right))
    ]
    beyond = f"{usage.REST_TIERS[0][0] / MILLION:.0f} million requests of a month API Gateway takes less for each"
    assert f"{beyond}, {dollars(usage.REST_TIERS[1][1] * MILLION)} a million" in PAGE
    wall = prices.FIREWALL + prices.FIREWALL_RULE
    assert f"It is {dollars(wall)} a month and {dollars(usage.FIREWALL_REQUEST * MILLION)} per million requests" in PAGE
    assert (FRESH_MS, "listed once in five seconds" in PAGE) == (5_000, True)


def test_the_page_says_of_which_requests_a_month_is_made() -> None:
    assert rows("| of the requests of a month |") == [f"| {kind} | {share:.1%} |" for kind, share in usage.MIX.items()]


def test_the_page_says_what_the_journal_takes() -> None:
    """Together and alone."""
    alone = (usage.journaled(1).total - usage.journaled(MILLION).total) * MILLION
    assert f"so that {usage.together(MILLION)} share a batch" in PAGE
    assert f"one that is alone in its batch takes {dollars(alone)} more per million" in PAGE


def test_the_page_says_what_is_stored() -> None:
    gigabytes = (usage.ROWS_BYTES * MILLION / usage.GIGABYTE, usage.OBJECTS_BYTES * MILLION / usage.GIGABYTE)
    month = gigabytes[0] * usage.STORED_ROWS_GB + gigabytes[1] * usage.STORED_OBJECTS_GB
    told = (
        f"a million versions are {gigabytes[0]:.2f} GB of rows and {gigabytes[1]:.2f} GB of objects, {dollars(month)}"
    )
    assert told in PAGE


def test_the_page_says_what_the_gateway_and_its_log_are() -> None:
    both = (usage.asked(usage.KEPT, rest=True).total - usage.asked(usage.KEPT, rest=False).total) * MILLION
    gateway = usage.REST_REQUEST * MILLION
    assert (
        f"the API is {dollars(gateway)} of it, and its access log, where there is one, {dollars(both - gateway)}"
        in PAGE
    )


@pytest.mark.parametrize("operation", ["GetObject", "PutObject", "TransactWriteItems", "BatchGetItem"])
def test_the_page_says_which_milliseconds_are_assumed(operation: str) -> None:
    assumed = PAGE[PAGE.index("Milliseconds are assumed") :].splitlines()[0]
    assert f"{usage.WAIT_MS[operation]} " in assumed
