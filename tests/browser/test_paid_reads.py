"""Where each read costs money, a page asks for little, and for more when that is asked for."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, Request, Route, expect

from tests.browser.conftest import Come, Look, Opens, settled
from tests.browser.paid_calls import CALLER, CALLS
from tests.browser.test_pages import violations
from tests.protocol.clients.server import Server

pytestmark = pytest.mark.process


def as_in_aws(route: Route) -> None:
    """The answer of a function: it has no log of the whole registry, and each read costs money."""
    # A page that is left meanwhile takes its requests with it.
    with suppress(Error):
        answer = route.fetch()
        told = answer.json()
        route.fulfill(response=answer, json={**told, "has": ["paid-reads"]})


def paid(page: Page) -> Page:
    page.route("**/console/api/caller", as_in_aws)
    return page


def test_each_page_asks_what_is_counted(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    asked: list[str] = []

    def note(request: Request) -> None:
        path = request.url.removeprefix(registry.url)
        if not path.startswith("/console/") or path.startswith("/console/api/"):
            asked.append(f"{request.method} {path}")

    page.on("request", note)
    for path, calls in CALLS.items():
        page.goto("about:blank")
        asked.clear()
        page.goto(f"{registry.url}/console/{path}")
        settled(page)
        if calls and calls[-1].startswith("POST"):
            expect(page.get_by_role("region", name="Verdict")).to_contain_text(
                re.compile("version|empty|known", re.IGNORECASE)
            )
        assert sorted(set(asked)) == sorted({CALLER, *calls}), path


def test_what_is_left_out_is_shown_when_it_is_asked_for(come: Come, registry: Server) -> None:
    way = come(registry, "decode")
    settled(way.page)  # no request is under way that the next page would end
    page = paid(way.page)
    page.goto(f"{registry.url}/console/subjects/customers-value")
    expect(page.get_by_role("region", name="History", exact=True).first).to_contain_text("registered version 2")
    for button, shown in (
        ("Show fields", page.get_by_role("row", name=re.compile("^email"))),
        ("Show references", page.get_by_text("No schema refers to it.")),
        ("Show all references", page.get_by_role("region", name="References from left to right")),
        ("Show compatibility and mode", page.get_by_text("BACKWARD", exact=True)),
        ("Show usage", page.get_by_text("What this does not say")),
    ):
        expect(shown).to_have_count(0)
        way.choose(page.get_by_role("button", name=button))
        expect(shown).to_be_visible()


def test_pages_that_leave_something_out_can_be_read_by_all(
    registry: Server, opened: Opens, packages: Path, look: Look
) -> None:
    page = paid(opened(registry, None, look=look))
    for path in ("subjects/customers-value", "contexts", "encryption"):
        page.goto(f"{registry.url}/console/{path}")
        settled(page)
        expect(page.get_by_role("button", name=re.compile("^Show ")).first).to_be_visible()
        assert violations(page, packages) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") == look.width, path


def test_a_picture_that_is_a_part_says_so_and_goes_on(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    page.route(re.compile(r"/graph\?"), in_small_steps)
    page.goto(f"{registry.url}/console/subjects/address-value")
    page.get_by_role("button", name="Show all references").click()
    picture = page.get_by_role("region", name="References from left to right")
    expect(page.get_by_text("This is a part, of 2 versions")).to_be_visible()
    expect(picture.get_by_role("link")).to_have_count(2)
    page.get_by_role("button", name="Show more").last.click()
    expect(page.get_by_text("This is a part")).to_have_count(0)
    expect(picture.get_by_role("link")).to_have_count(3)
    for version in (1, 2):
        expect(picture.get_by_role("link", name=f"customers-value version {version}", exact=True)).to_be_visible()
    expect(picture.locator(".edge")).to_have_count(2)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def test_a_picture_that_cannot_go_on_says_so_and_stays(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    page.route(re.compile(r"/graph\?.*&at="), lambda route: route.abort())
    page.goto(f"{registry.url}/console/subjects/address-value")
    page.get_by_role("button", name="Show all references").click()
    page.get_by_role("button", name="Show more").last.click()
    expect(page.get_by_role("alert")).to_contain_text("The registry does not answer")
    expect(page.get_by_role("region", name="References from left to right").get_by_role("link")).to_have_count(3)
    expect(page.get_by_role("button", name="Show more")).to_be_enabled()


def test_fields_go_on_to_earlier_versions(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    page.route("**/fields/2", of_the_newest_versions)
    page.goto(f"{registry.url}/console/subjects/customers-value")
    page.get_by_role("button", name="Show fields").click()
    fields = page.get_by_role("region", name="Fields", exact=True).last
    expect(fields.get_by_text("long ago")).to_have_count(7)
    page.get_by_role("button", name="Look at earlier versions").click()
    expect(fields.get_by_text("long ago")).to_have_count(0)
    expect(fields.get_by_role("link", name="version 1")).to_have_count(7)
    expect(fields.get_by_role("row", name=re.compile("^email"))).to_contain_text("version 2")
    expect(page.get_by_role("button", name="Look at earlier versions")).to_have_count(0)


def of_the_newest_versions(route: Route) -> None:
    """As if there were others before those that were looked at."""
    answer = route.fetch()
    found = [
        {name: value for name, value in each.items() if (name, value) != ("since", 1)}
        for each in answer.json()["found"]
    ]
    route.fulfill(response=answer, json={"found": found, "after": "1"})


def test_two_texts_are_asked_at_once_and_shown_before_the_comparison(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    held: dict[str, Route] = {}

    def hold(route: Route) -> None:
        held[route.request.url.split("/subjects/")[1]] = route

    page.route(re.compile(f"^{registry.url}/subjects/orders-value/(diff|versions)/"), hold)
    page.goto(f"{registry.url}/console/subjects/orders-value/diff/1/2")
    expect(page.get_by_text("The registry is slow to answer")).to_have_count(2)
    for version in (1, 2):
        held[f"orders-value/versions/{version}?deleted=true"].continue_()
    expect(page.get_by_role("region", name="Text, line by line")).to_be_visible()
    expect(page.get_by_role("region", name="Backward")).to_have_count(0)
    held["orders-value/diff/1/2?deleted=true"].continue_()
    expect(page.get_by_role("region", name="Backward")).to_be_visible()


def test_for_how_much_a_setting_holds_is_asked_at_once(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    page.goto(f"{registry.url}/console/contexts")
    settled(page)
    held: dict[str, Route] = {}

    def hold(route: Route) -> None:
        held[re.split(r"api/|\?", route.request.url)[1]] = route

    page.route(re.compile(r"/console/api/(subjects|settings)\?"), hold)
    page.get_by_role("row", name=re.compile("^.eu")).get_by_role("button", name="Change config").click()
    expect(page.get_by_role("dialog")).to_contain_text("The registry is slow to answer")
    assert sorted(held) == ["settings", "subjects"]
    for each in held.values():
        each.continue_()
    expect(page.get_by_role("dialog")).to_contain_text("It holds for 1 subject.")


def test_a_search_goes_on_until_something_is_found(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    nothing: list[dict[str, object]] = [
        {"found": [], "searched": 100, "through": through} for through in ("a", "b", "c")
    ]

    def look(route: Route) -> None:
        if nothing:
            route.fulfill(json=nothing.pop(0))
        else:
            route.continue_()

    page.route("**/console/api/search?*", look)
    page.goto(f"{registry.url}/console/subjects?q=customers")
    expect(page.get_by_text("Nothing found so far, in 100 names up to a.")).to_be_visible()
    page.get_by_role("button", name="Search on").click()
    expect(page.get_by_text("1 subject found.")).to_be_visible()
    expect(page.get_by_role("button", name="Search on")).to_have_count(0)
    assert nothing == []


def in_small_steps(route: Route) -> None:
    route.continue_(url=route.request.url.replace("limit=14", "limit=2"))


def test_where_nothing_refers_the_picture_says_so_when_it_was_asked_for(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    page.goto(f"{registry.url}/console/subjects/orders-value")
    page.get_by_role("button", name="Show all references").click()
    expect(page.get_by_text("There are none.")).to_be_visible()


def test_what_is_in_force_is_asked_once_and_says_where_each_comes_from(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    asked: list[str] = []

    def told(route: Route) -> None:
        asked.append(route.request.url)
        config = {"compatibilityLevel": "FULL", "normalize": True, "compatibilityGroup": "major"}
        origins = {"compatibilityLevel": ":.eu:", "normalize": "", "compatibilityGroup": ":.eu:"}
        subject = ":.eu:customers-value"
        route.fulfill(json={"subject": subject, "config": config, "mode": "READWRITE", "from": origins})

    page.route("**/console/api/in-force/**", told)
    page.goto(f"{registry.url}/console/subjects/%3A.eu%3Acustomers-value")
    page.get_by_role("button", name="Show compatibility and mode").click()
    config = page.get_by_role("region", name="Compatibility")
    expect(config).to_contain_text("FULL")
    expect(config.get_by_text("from the context .eu", exact=True)).to_have_count(1)
    expect(config.get_by_text("normalize")).to_have_text("normalize")
    expect(config).to_contain_text("normalize true from the default context")
    expect(page.get_by_role("region", name="Mode")).to_contain_text("as the registry has it from the start")
    assert asked == [f"{registry.url}/console/api/in-force/%3A.eu%3Acustomers-value"]


def test_a_context_tells_compatibility_and_mode_by_one_question(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/in-force/" in request.url else None)
    page.goto(f"{registry.url}/console/contexts")
    row = page.get_by_role("row", name=re.compile("^.eu"))
    row.get_by_role("button", name="Show compatibility and mode of .eu").click()
    expect(row.get_by_role("cell").first).to_have_text("FULL")
    expect(row).to_contain_text("READWRITE as the registry has it from the start")
    assert asked == [f"{registry.url}/console/api/in-force/%3A.eu%3A"]


def test_names_take_the_place_of_tokens_and_others_are_looked_for(registry: Server, opened: Opens) -> None:
    page = paid(opened(registry, None))
    asked: list[str] = []

    def by_principals(route: Route) -> None:
        entries = route.fetch().json()
        route.fulfill(json=[{**each, "by": f"p{at % 2}"} for at, each in enumerate(entries)])

    def named(route: Route) -> None:
        asked.append(route.request.url.partition("/names?")[2])
        is_first = "after=" not in route.request.url
        first, others = (
            {"found": [{"by": "p0", "name": "ada"}], "after": "ada"},
            {"found": [{"by": "p1", "name": "bob"}]},
        )
        route.fulfill(json=first if is_first else others)

    page.route(re.compile(r"/customers-value/history\?"), by_principals)
    page.route(re.compile(r"/console/api/names\?"), named)
    page.goto(f"{registry.url}/console/subjects/customers-value")
    history = page.get_by_role("region", name="History", exact=True).first
    expect(history.get_by_role("cell", name="ada", exact=True).first).to_be_visible()
    expect(history).to_contain_text("A token as p1 stands for a key or a person")
    history.get_by_role("button", name="Look through more names").click()
    expect(history.get_by_role("cell", name="bob", exact=True).first).to_be_visible()
    expect(history.get_by_text("A token as")).to_have_count(0)
    expect(page.get_by_role("button", name="Look through more names")).to_have_count(0)
    assert asked == ["token=p0&token=p1&limit=60", "token=p0&token=p1&limit=1000&after=ada"]


@pytest.mark.parametrize(
    "subject, word", [("customers-value", "customers-value"), ("it's $(mine)", r"'it'\''s $(mine)'")]
)
def test_where_only_some_readers_were_looked_at_it_says_so(
    registry: Server, opened: Opens, subject: str, word: str
) -> None:
    """With a command that a shell takes as it stands, whatever the subject is called."""
    page = paid(opened(registry, None))
    read = {"day": "2026-11-28", "by": "anyone"}
    version = {"version": 2, "id": 4, "deleted": False, "records": [], "reads": [read], "more": True}
    usage = {"subject": subject, "since": "2026-11-01", "found": [version], "limits": []}
    page.route(re.compile(r"/customers-value/usage\?"), lambda route: route.fulfill(json=usage))

    def with_others(route: Route) -> None:
        told = route.fetch().json()
        told["reads"] |= {"versions": 2, "readers": 20, "more": True, "since": "2026-11-01", "last": read}
        route.fulfill(json=told)

    page.route(re.compile(r"/customers-value/stakes\?"), with_others)
    page.goto(f"{registry.url}/console/subjects/customers-value")
    page.get_by_role("button", name="Show usage").click()
    expect(page.get_by_role("region", name="Reads")).to_contain_text(
        f"and others, later ones perhaps among them: sigla usage --subject {word} tells all"
    )
    page.get_by_role("button", name="Delete subject").click()
    expect(page.get_by_role("dialog")).to_contain_text(
        "At least 20 readers asked for its ids, one of them on 2026-11-28"
    )
