"""Keys, answers that fail, and schemas that want to be more than text."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Opens, settled
from tests.protocol.clients.server import Server, run, serving

pytestmark = pytest.mark.process


def sign_in(page: Page, name: str, secret: str) -> None:
    page.get_by_label("Name of the key").fill(name)
    page.get_by_label("Secret").fill(secret)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_key_opens_the_registry_for_one_tab(opened: Opens, tmp_path: Path) -> None:
    """Its secret is in no URL, and in no storage that outlives the tab."""
    secret = run("keys", "create", "ada", "--role", "admin", "--data", str(tmp_path)).stdout.split()[-1]
    with serving(tmp_path, "--auth") as server:
        page = opened(server, "subjects")
        sign_in(page, "ada", "wrong")
        expect(page.get_by_text("does not know the key ada")).to_be_visible()
        sign_in(page, "ada", secret)
        expect(page.get_by_text("Nothing is registered yet.")).to_be_visible()
        page.reload()
        expect(page.get_by_text("Nothing is registered yet.")).to_be_visible()
        assert secret not in page.url
        assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.get_by_text("This registry asks for a key")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("This registry asks for a key")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0


def test_who_has_signed_in_is_not_refused_by_an_answer_to_what_was_asked_before(opened: Opens, tmp_path: Path) -> None:
    """It came late. The key is known, and the page is there."""
    secret = run("keys", "create", "ada", "--role", "admin", "--data", str(tmp_path)).stdout.split()[-1]
    with serving(tmp_path, "--auth") as server:
        page = opened(server, "subjects")
        late: list[Route] = []

        def hold_without_key(route: Route) -> None:
            if "authorization" in route.request.headers:
                route.continue_()
            else:
                late.append(route)

        page.route("**/console/api/caller", hold_without_key)
        page.reload()
        sign_in(page, "ada", secret)
        expect(page.get_by_text("Nothing is registered yet.")).to_be_visible()
        # It is asked once more, with the key.
        with page.expect_response(lambda answer: answer.url.endswith("console/api/caller") and answer.ok):
            late[-1].continue_()  # that of the page as it is: others may be of the one before
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        expect(page.get_by_text("does not know the key")).to_have_count(0)


def test_a_restricted_key_sees_its_own_and_is_told_why_not_others(opened: Opens, tmp_path: Path) -> None:
    secret = run(
        "keys", "create", "bob", "--role", "reader", "--subjects", "a-", "--data", str(tmp_path)
    ).stdout.split()[-1]
    with serving(tmp_path, "--auth") as server:
        page = opened(server, "subjects/b-value")
        sign_in(page, "bob", secret)
        expect(page.get_by_text("Your key does not permit this.").first).to_be_visible()
        expect(page.get_by_text("40301").first).to_be_visible()


def test_an_address_of_no_version_shows_none(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/customers-value/versions/latest")
    expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()
    page.goto(f"{registry.url}/console/subjects/customers-value/versions/two")
    expect(page.get_by_role("alert")).to_have_text("There is no version two of this subject.")


def test_an_answer_of_another_shape_is_not_shown_as_nothing(registry: Server, opened: Opens) -> None:
    """What stands before a registry may answer with JSON of its own."""

    def answer(route: Route) -> None:
        if route.request.resource_type == "fetch" and not route.request.url.endswith("/caller"):
            route.fulfill(json={"status": "ok"})
        else:
            route.continue_()

    page = opened(registry, None)
    page.route("**", answer)
    for path in ("", "subjects", "settings", "encryption", "log"):
        page.goto(f"{registry.url}/console/{path}")
        expect(page.get_by_text("This answer cannot be shown").first, path).to_be_visible()
        settled(page)
        expect(
            page.get_by_text(re.compile(r"^(Nothing|No (topic|subject)|This registry keeps no)")), path
        ).to_have_count(0)


@pytest.mark.parametrize("status, told", [(500, "50001"), (0, "The registry does not answer")])
def test_an_answer_that_fails_says_so_in_its_place_and_the_rest_works(
    registry: Server, opened: Opens, status: int, told: str
) -> None:
    failing = True

    def answer(route: Route) -> None:
        if not failing:
            route.continue_()
        elif status:
            route.fulfill(status=status, body='{"error_code": 50001, "message": "Error in the backend data store"}')
        else:
            route.abort()

    page = opened(registry, None)
    page.route("**/history**", answer)
    page.goto(f"{registry.url}/console/subjects/orders-value")
    history = page.get_by_role("region", name="History")
    expect(history.get_by_role("alert")).to_contain_text(told)
    expect(page.get_by_role("heading", name="Version 2")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(1)
    failing = False
    history.get_by_role("button", name="Try again").click()
    expect(history.get_by_text("registered version 2")).to_be_visible()


CALLS: dict[str, tuple[str, ...]] = {
    "versions?": (),
    "versions/2?": ("Version 2",),
    "graph?": ("Version 2",),
    "referrers?": ("Version 2",),
    "fields/2": ("Fields",),
    "orders-value/usage": ("Usage",),
    "in-force/orders-value": ("Compatibility", "Mode"),
    "history?": ("History",),
}
"""What the page of a subject asks, by a part of the address, and the regions where its answer stands."""


@pytest.mark.parametrize("status, code", [(500, 50001), (403, 40301), (401, 401)])
def test_each_call_that_fails_is_told_where_it_stands_and_the_rest_works(
    registry: Server, opened: Opens, status: int, code: int
) -> None:
    def fail(route: Route) -> None:
        route.fulfill(status=status, body=json.dumps({"error_code": code, "message": "Not this time"}))

    page = opened(registry, None)
    for call, regions in CALLS.items():
        fails = re.compile(re.escape(call))
        page.route(fails, fail)
        page.goto(f"{registry.url}/console/subjects/orders-value")
        settled(page)
        alerts = page.locator(".problem").filter(has_text="Not this time")
        expect(alerts).to_have_count(len(regions) or 1)
        expect(page.locator("h1")).to_have_text("orders-value")
        for region in regions:
            expect(page.get_by_role("region", name=region, exact=True).locator(".problem")).to_have_count(1)
            expect(page.get_by_role("link", name="Version 1", exact=True)).to_be_visible()
        expect(page.get_by_text("This registry asks for a key")).to_have_count(int(status == 401))
        page.unroute(fails)


def test_a_registry_that_is_slow_is_said_to_be_slow_and_shown_when_it_answers(registry: Server, opened: Opens) -> None:
    held: list[Route] = []
    page = opened(registry, None)
    page.route("**/usage?*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks what it is given
    page.goto(f"{registry.url}/console/subjects/orders-value")
    usage = page.get_by_role("region", name="Usage")
    expect(usage).to_contain_text("The registry is slow to answer; still waiting")
    expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()
    held.pop().continue_()
    expect(usage.locator("summary")).to_be_visible()


def test_a_verdict_that_does_not_come_is_told_beside_what_is_written(registry: Server, opened: Opens) -> None:
    page = opened(registry, None)
    page.route("**/verdict", lambda route: route.abort())
    page.goto(f"{registry.url}/console/subjects/orders-value/edit")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("It cannot be checked.")
    expect(verdict.get_by_role("alert")).to_contain_text("The registry does not answer")
    expect(page.get_by_label("Text of the schema")).to_have_value(re.compile("Order"))


def test_one_schema_of_many_that_cannot_be_read_leaves_the_rest_as_it_is(opened: Opens, tmp_path: Path) -> None:
    """Elsewhere one bad schema blanks the page. Each page that needs it says so once for each answer that does."""
    with serving(tmp_path) as server, server.kept() as ask:
        for at in range(100):
            schema = f'{{"type":"fixed","name":"F","size":{at + 1}}}'
            assert ask("POST", f"/subjects/s{at:04}/versions", {"schema": schema}).status == 200
    (broken,) = tmp_path.rglob("0000000007.json")
    broken.write_bytes(b"not a body")
    with serving(tmp_path) as server:
        page = opened(server, "subjects?q=s000")
        expect(page.get_by_role("row")).to_have_count(11)
        page.get_by_role("link", name="s0006").click()
        expect(page.get_by_role("alert")).to_have_count(1)
        expect(page.get_by_role("link", name="Version 1")).to_be_visible()
        expect(page.get_by_text("registered version 1")).to_be_visible()
        for path, rest in {
            "ids/default/7": page.get_by_role("heading", name="Versions with this id"),
            "subjects/s0006/edit": page.get_by_label("Text of the schema"),
            "subjects/s0006/diff/1/1": page.get_by_role("heading", name="Text"),
            "subjects/s0007": page.get_by_role("heading", name="Version 1", exact=True),
            "log": page.get_by_role("link", name="s0099"),
        }.items():
            page.goto(f"{server.url}/console/{path}")
            settled(page)
            expect(rest).to_be_visible()
            says = page.locator(".problem").all_inner_texts()
            assert all("50001" in each or "50002" in each for each in says), says
            assert bool(says) == ("s0006" in path or "ids/" in path), path


def test_a_reader_is_shown_nothing_that_it_may_not_do(opened: Opens, tmp_path: Path) -> None:
    """Its role decides, and the registry would refuse it anyway."""
    secrets = {
        role: run("keys", "create", role, "--role", role, "--data", str(tmp_path)).stdout.split()[-1]
        for role in ("reader", "writer", "admin")
    }
    shown = {}
    with serving(tmp_path, "--auth") as server:
        for role, secret in reversed(secrets.items()):
            page = opened(server, "subjects/a")
            sign_in(page, role, secret)
            if role == "admin":
                page.goto(f"{server.url}/console/subjects/a/edit")
                page.get_by_role("button", name="Register").click()
                page.get_by_role("dialog").get_by_role("button", name="Register").click()
            expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()
            settled(page)
            shown[role] = page.get_by_text(
                re.compile("^(New version|Delete subject|Delete version 1|Change mode)$")
            ).count()
            page.goto(f"{server.url}/console/subjects/a/edit")
            settled(page)
            expect(page.get_by_text("Your key does not permit to register it.")).to_have_count(int(role == "reader"))
    assert shown == {"reader": 0, "writer": 1, "admin": 4}
