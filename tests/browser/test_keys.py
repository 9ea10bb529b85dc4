"""API keys in the console: made, rotated, revoked, each secret shown once and then nowhere any more."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from sigla.auth import api_keys
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.browser.conftest import Come, Look, Opens, settled
from tests.browser.filled import SCRIPTS
from tests.browser.test_pages import violations
from tests.browser.test_trouble import sign_in
from tests.browser.ways import Way
from tests.protocol.clients.server import Server, run, serving

pytestmark = pytest.mark.process

STILL_THERE = """secret => {
  const seen = new Set(), waiting = [[window, "window"], [document, "document"]];
  while (waiting.length) {
    const [one, way] = waiting.pop();
    if (typeof one === "string" && one.includes(secret)) return way;
    if (one === null || !["object", "function"].includes(typeof one) || seen.has(one)) continue;
    seen.add(one);
    for (const name of Reflect.ownKeys(one)) {
      const { value } = Reflect.getOwnPropertyDescriptor(one, name);
      waiting.push([value, `${way}.${String(name)}`], [name, way]);
    }
    const within = [];
    if (one instanceof Map || one instanceof Set) within.push(...[...one].flat());
    try {
      within.push(...one.childNodes, one.nodeValue, ...[...(one.attributes ?? [])].map((each) => each.value));
    } catch {
      // It is no node.
    }
    waiting.push(...within.map((each) => [each, `${way} >`]));
  }
  return "";
}"""
"""Where a script of the page finds it: in globals and what they lead to, in the document, in what hangs on it."""


@dataclass(frozen=True)
class Kept:
    """A registry that asks for keys. ada: the secret of its administrator."""

    server: Server
    keys: EmbeddedKeys
    ada: str

    def status(self, key: str, secret: str) -> int:
        shown = base64.b64encode(f"{key}:{secret}".encode()).decode()
        return self.server.ask("GET", "/subjects", headers={"authorization": f"Basic {shown}"}).status

    def event(self, event: str, key: str) -> dict[str, Any]:
        """The line of the log; it is written a moment after the answer."""

        def told(server: Server) -> list[dict[str, Any]]:
            lines = [json.loads(line) for line in server.output.splitlines() if f'"{event}"' in line]
            return [line for line in lines if line["key"] == key]

        self.server.wait_for(told)
        return told(self.server)[0]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    data = tmp_path_factory.mktemp("data")
    ada = run("keys", "create", "ada", "--role", "admin", "--data", str(data)).stdout.split()[-1]
    with serving(data, "--auth") as server:
        yield Kept(server, EmbeddedKeys(data), ada)


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A name of its own for each test."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[-50:].strip("-")


def made(kept: Kept, key: str, role: str = "reader", *subjects: str, by: str = "") -> str:
    """The secret of a key that is there before the page is opened."""
    return api_keys.create(kept.keys, key, role, subjects, now=SystemClock().now(), by=by)[1]


def arrive(way: Way, kept: Kept) -> Page:
    sign_in(way.page, "ada", kept.ada)
    expect(way.page.get_by_role("region", name="Keys")).to_be_visible()
    return way.page


def shown_secret(page: Page, key: str) -> str:
    expect(page.get_by_role("region", name=f"Secret of {key}")).to_be_visible()
    expect(page.locator(".secret")).to_be_focused()
    return page.locator(".secret").inner_text()


def test_a_key_is_made_and_its_secret_is_shown_once_and_then_nowhere(come: Come, kept: Kept, key: str) -> None:
    way = come(kept.server, "keys")
    page = arrive(way, kept)
    way.choose(page.get_by_role("button", name="New key"))
    question = page.get_by_role("dialog")
    way.write(question.get_by_label("Name"), key)
    way.pick(question.get_by_label("Role"), "writer")
    way.choose(question.get_by_label("It may delete, softly"))
    way.write(question.get_by_label("Prefixes of its subjects"), "orders- :.team:")
    expect(question).to_contain_text("for subjects that begin with orders- or :.team:.")
    way.choose(question.get_by_role("button", name="Make the key"))
    secret = shown_secret(page, key)
    assert kept.status(key, secret) == 200
    record = api_keys.read_key(key, kept.keys.get(key) or b"")
    assert (record.role, record.deletes, record.subjects, record.by) == ("writer", True, ("orders-", ":.team:"), "ada")
    line = kept.event("key-made", key)
    assert line["by"] == "ada"
    assert secret not in kept.server.output
    assert page.evaluate(STILL_THERE, secret), "the search finds what is shown"
    assert secret not in page.url + page.evaluate("JSON.stringify([localStorage, sessionStorage, history.state])")
    way.choose(page.get_by_role("link", name="Contexts"))
    settled(page)
    assert page.evaluate(STILL_THERE, secret) == ""
    page.go_back()
    expect(page.get_by_role("row", name=key)).to_be_visible()
    assert page.evaluate(STILL_THERE, secret) == ""


def test_a_key_that_was_made_is_revoked_as_its_undoing(come: Come, kept: Kept, key: str) -> None:
    way = come(kept.server, "keys")
    page = arrive(way, kept)
    way.choose(page.get_by_role("button", name="New key"))
    way.write(page.get_by_role("dialog").get_by_label("Name"), key)
    way.choose(page.get_by_role("button", name="Make the key"))
    secret = shown_secret(page, key)
    way.choose(page.get_by_role("button", name=f"Revoke {key}").first)
    expect(page.get_by_text(f"Revoke {key}: done.")).to_be_visible()
    expect(page.locator(".secret")).to_have_count(0)
    assert kept.status(key, secret) == 401


def test_a_key_gets_a_new_secret_and_the_one_before_is_good_as_long_as_was_said(
    come: Come, kept: Kept, key: str
) -> None:
    before = made(kept, key)
    way = come(kept.server, "keys")
    page = arrive(way, kept)
    way.choose(page.get_by_role("button", name=f"Rotate {key}"))
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("1 secret of it goes on opening the registry for a day at most")
    expect(question).to_contain_text("Schemas that it read in the last 7 days: 0.")
    way.choose(question.get_by_role("button", name="Rotate"))
    after = shown_secret(page, key)
    assert kept.status(key, before) == kept.status(key, after) == 200
    way.choose(page.get_by_role("button", name="I have kept it"))
    assert page.evaluate(STILL_THERE, after) == ""
    expect(page.get_by_role("row", name=key)).to_contain_text("1 secret from before, until")


def test_a_leaked_secret_is_ended_at_once(come: Come, kept: Kept, key: str) -> None:
    leaked = made(kept, key)
    way = come(kept.server, "keys")
    page = arrive(way, kept)
    way.choose(page.get_by_role("button", name=f"Rotate {key}"))
    way.pick(page.get_by_role("dialog").get_by_label("Secrets from before are good"), "no longer")
    expect(page.get_by_role("dialog")).to_contain_text("1 secret of it ends, everywhere within 60 seconds")
    way.choose(page.get_by_role("dialog").get_by_role("button", name="Rotate"))
    assert kept.status(key, shown_secret(page, key)) == 200
    assert kept.status(key, leaked) == 401


def test_a_key_is_revoked_and_says_who_did_it(come: Come, kept: Kept, key: str) -> None:
    secret = made(kept, key, "writer", "orders-", by="cli:bob")
    way = come(kept.server, "keys")
    page = arrive(way, kept)
    expect(page.get_by_role("row", name=key)).to_contain_text("by cli:bob")
    way.choose(page.get_by_role("button", name=f"Revoke {key}"))
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("It was not used yet, as far as is noted.")
    expect(question).to_contain_text("1 secret of it ends: refused everywhere within 60 seconds.")
    way.choose(question.get_by_role("button", name="Revoke"))
    expect(page.get_by_text(f"The key {key} is revoked")).to_be_visible()
    assert kept.status(key, secret) == 401
    way.choose(page.get_by_label("Revoked ones too"))
    expect(page.get_by_role("row", name=key)).to_contain_text("by ada")


def test_whoever_would_be_locked_out_is_told_before(opened: Opens, kept: Kept) -> None:
    page = opened(kept.server, "keys")
    sign_in(page, "ada", kept.ada)
    page.get_by_role("button", name="Revoke ada").click()
    expect(page.get_by_role("dialog")).to_contain_text("No other key administers everything")
    expect(page.get_by_role("dialog")).to_contain_text("You are signed in with it")


def test_a_name_that_is_taken_and_an_answer_that_is_lost_are_told_in_the_question(
    opened: Opens, kept: Kept, key: str
) -> None:
    made(kept, key)
    page = opened(kept.server, "keys")
    sign_in(page, "ada", kept.ada)
    page.get_by_role("button", name="New key").click()
    question = page.get_by_role("dialog")
    question.get_by_label("Name").fill(key)
    question.get_by_role("button", name="Make the key").click()
    expect(question.get_by_role("alert")).to_contain_text("40980")

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/console/api/keys", lose)
    question.get_by_label("Name").fill(f"{key}-lost")
    question.get_by_role("button", name="Make the key").click()
    expect(question.get_by_role("alert")).to_contain_text("It may have made the change: look before you try again.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("row", name=f"{key}-lost")).to_be_visible()
    expect(page.locator(".secret")).to_have_count(0)


@pytest.mark.parametrize("role, subjects", [("reader", ()), ("writer", ()), ("admin", ("a-",))])
def test_nobody_else_is_shown_keys(opened: Opens, kept: Kept, key: str, role: str, subjects: tuple[str, ...]) -> None:
    secret = made(kept, key, role, *subjects)
    page = opened(kept.server, "keys")
    sign_in(page, key, secret)
    expect(page.get_by_text("Keys are shown to administrators who reach everything")).to_be_visible()
    expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    expect(page.get_by_role("table")).to_have_count(0)


def test_where_keys_are_not_changed_by_requests_there_is_no_page_of_them(opened: Opens, tmp_path: Path) -> None:
    ada = run("keys", "create", "ada", "--role", "admin", "--data", str(tmp_path)).stdout.split()[-1]
    with serving(tmp_path, "--auth", settings={"SIGLA_CONSOLE_KEYS": "false"}) as server:
        page = opened(server, "keys")
        sign_in(page, "ada", ada)
        expect(page.get_by_text("Keys are shown to administrators who reach everything")).to_be_visible()
        expect(page.get_by_role("link", name="Log")).to_be_visible()
        expect(page.get_by_role("link", name="Keys")).to_have_count(0)


def test_nothing_that_a_key_says_is_run(opened: Opens, kept: Kept, key: str) -> None:
    """A prefix is any text, and so is the name of who made it, which an issuer has chosen."""
    for at, script in enumerate(SCRIPTS):
        made(kept, f"{key}-{at}", "reader", script, by=script)
    (kept.keys._folder / "&lt;img src=x onerror=alert(1)&gt;.json").write_bytes(b"{")
    page = opened(kept.server, "keys")
    sign_in(page, "ada", kept.ada)
    expect(page.get_by_text(SCRIPTS[0]).first).to_be_visible()
    page.get_by_role("button", name="New key").click()
    page.get_by_role("dialog").get_by_label("Name").fill(SCRIPTS[1])
    page.get_by_role("dialog").get_by_label("Prefixes of its subjects").fill(" ".join(SCRIPTS))
    page.get_by_role("dialog").get_by_role("button", name="Make the key").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("42280")
    assert page.evaluate("document.documentElement.dataset.hit") is None
    assert page.locator("main img, main iframe, main svg, main script").count() == 0


def test_keys_can_be_read_by_all_and_stay_within_their_window(
    opened: Opens, packages: Path, kept: Kept, key: str, look: Look
) -> None:
    """The page, its questions, and a secret that is shown."""
    made(kept, key, "writer", "orders-")
    page = opened(kept.server, "keys", look)
    sign_in(page, "ada", kept.ada)
    for button in ("New key", f"Rotate {key}", f"Revoke {key}"):
        page.get_by_role("button", name=button).click()
        settled(page)
        assert violations(page, packages) == [], button
        page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name=f"Rotate {key}").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    shown_secret(page, key)
    settled(page)
    assert violations(page, packages) == []
    assert page.evaluate("document.documentElement.scrollWidth") == look.width
