"""What docs/deploy.md says of costs is computed: of the template by infra.prices, of requests by infra.usage."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import prices, usage
from infra.usage import MILLION
from tests.infra.conftest import Synthesise, Template, synthesise, template

__all__ = ["Synthesise", "synthesise", "template"]

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")


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


def test_the_page_shows_what_months_cost(template: Template) -> None:
    """Idle and all: a function URL has an alarm of its own."""
    idle = prices.total(template)
    expected = [
        f"| {requests:,} | {dollars(idle + prices.ALARM + usage.month(requests, rest=False))} "
        f"| {dollars(idle + usage.month(requests, rest=True))} |"
        for requests in usage.MONTHS
    ]
    assert rows("| requests a month |") == expected


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
        f"a million versions are {gigabytes[0]:.1f} GB of rows and {gigabytes[1]:.1f} GB of objects, {dollars(month)}"
    )
    assert told in PAGE


def test_the_page_says_what_the_gateway_and_its_log_are() -> None:
    both = (usage.asked(usage.KEPT, rest=True).total - usage.asked(usage.KEPT, rest=False).total) * MILLION
    gateway = usage.REST_REQUEST * MILLION
    told = (
        f"A REST API is {dollars(gateway)} per million requests by itself, and its access log {dollars(both - gateway)}"
    )
    assert told in PAGE


@pytest.mark.parametrize("operation", ["GetObject", "PutObject", "TransactWriteItems", "BatchGetItem"])
def test_the_page_says_which_milliseconds_are_assumed(operation: str) -> None:
    assumed = PAGE[PAGE.index("Milliseconds are assumed") :].splitlines()[0]
    assert f"{usage.WAIT_MS[operation]} " in assumed
