"""The page of two regions: of a primary and its follower, in either state that they come to."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from sigla.regions.installed import told_of_setting
from tests.browser.conftest import NARROW_AND_DARK, Come, Look, Opens, settled
from tests.browser.filled import SCRIPTS
from tests.browser.test_pages import violations
from tests.protocol.clients.server import Server, run, serving

pytestmark = pytest.mark.process
INT = {"schema": '"int"'}


class Regions(NamedTuple):
    primary: Server
    follower: Server


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Regions]:
    """With a context whose name would be a script, if a page took it for one."""
    folder = tmp_path_factory.mktemp("regions")
    with serving(folder / "a") as primary:
        for script in SCRIPTS:
            context = script.replace(":", "")
            assert primary.ask("POST", f"/subjects/{quote(f':.{context}:a', safe='')}/versions", INT).status == 200
        with serving(folder / "b", "--follow", primary.url) as follower:
            yield Regions(primary, follower)


def region(page: Page, name: str) -> str:
    return page.get_by_role("region", name=name, exact=True).inner_text()


def test_who_takes_writes_and_what_would_a_forced_promotion_lose(come: Come, regions: Regions) -> None:
    """The way to a promotion: which is the follower, is it up to date, by which command is it promoted."""
    way = come(regions.primary, "")
    page = way.page
    way.choose(page.get_by_role("link", name="Regions"))
    settled(page)
    assert "takes writes, epoch 1" in region(page, "This region")
    assert "follower" in region(page, "The other region")
    expect(page.get_by_role("region", name="If the primary were lost now")).to_contain_text("would lose nothing")
    expect(page.get_by_text(f"sigla promote {regions.follower.url}", exact=True)).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^default 0 100000 100000$"))).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    way.choose(page.get_by_role("button", name="Copy: Promote it, because the primary is lost"))
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"sigla promote {regions.follower.url} --force"


BROKEN = """() => [...document.querySelectorAll(".commands .word")].filter(
  each => each.getClientRects().length > 1 || each.offsetHeight > 1.5 * parseFloat(getComputedStyle(each).lineHeight)
).map(each => each.textContent)"""
"""Words of commands that go on in another line."""


def test_a_command_goes_on_in_another_line_between_its_words_alone(regions: Regions, opened: Opens) -> None:
    """An option that is broken is another one, to the eye: `--` and `force`."""
    page = opened(regions.primary, "regions", NARROW_AND_DARK)
    settled(page)
    expect(page.locator(".commands .word").filter(has_text="--force")).to_be_visible()
    for width in range(270, 420, 10):
        page.set_viewport_size({"width": width, "height": NARROW_AND_DARK.height})
        assert page.evaluate(BROKEN) == [], width
    command = f"sigla promote {regions.follower.url} --force"
    expect(page.get_by_text(command, exact=True)).to_be_visible()
    assert page.get_by_text(command, exact=True).evaluate("each => each.textContent") == command


def test_how_far_is_this_follower_behind(come: Come, regions: Regions) -> None:
    way = come(regions.follower, "regions")
    page = way.page
    here = page.get_by_role("region", name="This region", exact=True)
    expect(here).to_contain_text(re.compile(r"at most \d+\.\d s behind"))
    expect(page.get_by_role("region", name="What waits here")).to_contain_text("No commit of the other region waits.")
    assert regions.primary.ask("POST", "/subjects/later/versions", INT).status == 200
    way.choose(page.get_by_role("button", name="Look again"))
    expect(page.get_by_role("region", name="If the primary were lost now")).to_contain_text("would lose nothing")
    expect(page.get_by_text(f"sigla promote {regions.follower.url} --force", exact=True)).to_be_visible()


def test_the_page_can_be_read_by_all_and_runs_nothing(
    regions: Regions, opened: Opens, packages: Path, look: Look
) -> None:
    for server in regions:
        page = opened(server, "regions", look)
        expect(page.locator("h1")).to_have_text("Regions")
        settled(page)
        expect(page.get_by_role("row", name=re.compile("onerror")).first).to_be_visible()
        assert violations(page, packages) == []
        assert page.evaluate("document.documentElement.scrollWidth") == look.width
        assert page.evaluate("document.documentElement.dataset.hit") is None
        assert page.locator("img, iframe, main svg, main script").count() == 0


def test_a_lost_primary_is_told_and_what_to_do_then(opened: Opens, packages: Path, look: Look, tmp_path: Path) -> None:
    """Silent, then passed over: the page of the new primary says what it lacks and how that comes back."""
    with serving(tmp_path / "a") as primary:
        follower = serving(tmp_path / "b", "--follow", primary.url)
        second = follower.__enter__()
        old = primary.url
    try:
        page = opened(second, "regions", look)
        settled(page)
        other = page.get_by_role("region", name="The other region", exact=True)
        expect(other).to_contain_text("not known")
        expect(other).to_contain_text(old.removeprefix("http://"))
        expect(page.get_by_role("region", name="If the primary were lost now")).to_contain_text("in the last")
        assert violations(page, packages) == []
        run("promote", second.url, "--force", "--yes")
        way = page.get_by_role("button", name="Look again")
        way.click()
        here = page.get_by_role("region", name="This region", exact=True)
        expect(here).to_contain_text("takes writes, epoch 2")
        expect(here).to_contain_text("was not brought here yet")
        expect(page.get_by_text(f"sigla rejoin {old} --primary {second.url}", exact=True)).to_be_visible()
        expect(page.get_by_text(f"sigla regions abandon {second.url}", exact=True)).to_be_visible()
        assert violations(page, packages) == []
        assert page.evaluate("document.documentElement.scrollWidth") == look.width
    finally:
        follower.__exit__(None, None, None)


def test_what_was_given_up_comes_back_and_not_the_region_that_follows_in_its_place(
    opened: Opens, tmp_path: Path
) -> None:
    """The primary's page brings the lost region back by its URL; that of the new follower promotes, and no more."""
    with serving(tmp_path / "a") as primary:
        with serving(tmp_path / "b", "--follow", primary.url) as lost:
            registered = primary.ask("POST", "/subjects/a/versions", INT)
            assert registered.status == 200
        run("regions", "dismiss", primary.url, "--yes")
        with serving(tmp_path / "c", "--follow", primary.url) as follower:
            for server, missing in (
                (primary, f"What {lost.url} had was not brought here yet."),
                (follower, "had was not brought to its primary yet."),
            ):
                page = opened(server, "regions")
                settled(page)
                expect(page.get_by_role("region", name="This region", exact=True)).to_contain_text(missing)
                shown = page.locator(".commands code").all_inner_texts()
                assert f"sigla promote {follower.url}" in shown
                of_lost = [f"sigla rejoin {lost.url} --primary {primary.url}", f"sigla regions abandon {primary.url}"]
                back = [each for each in shown if "rejoin" in each or "abandon" in each]
                assert back == (of_lost if server is primary else [])


def test_a_closed_primary_that_others_went_on_without_comes_back_to_the_one_that_took_over(
    regions: Regions, opened: Opens
) -> None:
    """As an older copy of a directory: it has nothing to be brought back to it, and is not opened by force."""
    page = opened(regions.primary, None)
    closed = {"writes": False, "reconciled": False, "out": []}
    page.route("**/console/api/regions", lambda route: route.fulfill(json={**route.fetch().json(), **closed}))
    page.goto(f"{regions.primary.url}/console/regions")
    settled(page)
    expect(page.get_by_role("region", name="This region", exact=True)).to_contain_text("takes no writes again before")
    assert page.locator(".commands code").all_inner_texts() == [
        f"sigla regions {regions.follower.url} {regions.primary.url}",
        f"sigla rejoin {regions.primary.url} --primary {regions.follower.url}",
    ]


def test_a_setting_that_names_another_region_is_told(
    regions: Regions, opened: Opens, packages: Path, look: Look
) -> None:
    """Which only a stack in AWS has."""
    urls = [
        f"dynamodb+s3://a-table-of-{name}/a-bucket-with-a-long-name?region=eu-{name}-1" for name in ("west", "north")
    ]
    said = told_of_setting(*urls)
    page = opened(regions.primary, "regions", look)
    here = page.get_by_role("region", name="This region", exact=True)
    settled(page)
    expect(here).not_to_contain_text("regions.peer")
    page.route("**/console/api/regions", lambda route: route.fulfill(json={**route.fetch().json(), "setting": said}))
    page.get_by_role("button", name="Look again").click()
    expect(here).to_contain_text(f"{said}.")
    assert violations(page, packages) == []
    assert page.evaluate("document.documentElement.scrollWidth") == look.width


@pytest.mark.parametrize("call, place", [("regions", "main"), ("regions/other", "[aria-labelledby=other]")])
@pytest.mark.parametrize("failure", [(500, 50001), (403, 40301), (0, 0)])
def test_a_call_that_fails_is_told_in_its_place(
    regions: Regions, opened: Opens, call: str, place: str, failure: tuple[int, int]
) -> None:
    (status, code), page = failure, opened(regions.primary, None)
    body = f'{{"error_code": {code}, "message": "Not this time"}}'
    page.route(
        f"**/console/api/{call}",
        lambda route: route.fulfill(status=status, body=body) if status else route.abort(),
    )
    page.goto(f"{regions.primary.url}/console/regions")
    told = page.locator(f"{place} .problem")
    expect(told).to_contain_text("Not this time" if status else "The registry does not answer")
    expect(page.get_by_role("heading", name="This region")).to_have_count(int(call != "regions"))


def test_a_registry_without_a_second_region_has_no_such_page(registry: Server, opened: Opens) -> None:
    page = opened(registry)
    settled(page)
    expect(page.get_by_role("link", name="Log")).to_be_visible()
    expect(page.get_by_role("link", name="Regions")).to_have_count(0)
