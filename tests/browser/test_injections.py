"""Schemas, names, settings, keys, refusals and principals that want to be more than text: all of them are text."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.addresses import parameters, patterns
from tests.browser.conftest import Opens, settled
from tests.browser.filled import HITS, SCRIPTS, fill_with_scripts
from tests.protocol.clients.server import Server, serving

pytestmark = pytest.mark.process

FOREIGN = (
    "img, iframe, object, embed, style, main script, main svg:not(.graph svg), [onload], [onerror], a[href^='java' i]"
)
"""What is on no page of ours."""


class Hostile(NamedTuple):
    server: Server
    names: list[str]


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    with serving() as server:
        yield Hostile(server, fill_with_scripts(server))


def is_text_alone(page: Page, about: str) -> None:
    expect(page.locator("h1")).to_be_visible()
    settled(page)
    assert page.evaluate("document.documentElement.dataset.hit") is None, about
    assert page.locator(FOREIGN).count() == 0, about


@pytest.mark.parametrize(
    "at", [pytest.param(at, marks=() if at % 4 == 1 else pytest.mark.soak) for at in range(len(SCRIPTS))]
)
def test_nothing_that_a_subject_says_is_run(hostile: Hostile, opened: Opens, at: int) -> None:
    """Names, docs, defaults, metadata, rules, labels of the graph, refusals that quote them, titles, addresses."""
    name, script = hostile.names[at], quote(SCRIPTS[at], safe="")
    encoded = quote(name, safe="")
    page = opened(hostile.server, None)
    for path in (
        f"subjects?q={encoded}",
        f"subjects?context={script}&type={script}&offset={script}",
        f"subjects/{encoded}",
        f"subjects/j{encoded}",
        f"subjects/p{encoded}",
        f"subjects/r{encoded}",
        f"subjects/{encoded}/versions/{encoded}",
        f"subjects/{encoded}/edit",
        f"subjects/{encoded}{encoded}/edit?type={encoded}",
        f"subjects/{encoded}/diff/1/2",
        f"subjects/{encoded}/diff/{encoded}/2",
        f"subjects/no{encoded}",
        f"ids/{encoded}/{encoded}",
        f"guids/{encoded}",
        f"log?subject={encoded}",
        f"{script}/{script}",
    ):
        page.goto(f"{hostile.server.url}/console/{path}")
        is_text_alone(page, path)


def test_nothing_that_an_address_says_is_run(hostile: Hostile, opened: Opens) -> None:
    """Each page, with scripts wherever its address has a name, and in each parameter that any page reads."""
    said = quote("".join(SCRIPTS), safe="")
    page = opened(hostile.server, None)
    for pattern in sorted(patterns()):
        path = (
            f"{re.sub('{.*?}', lambda _: said, pattern)}?{'&'.join(f'{each}={said}' for each in sorted(parameters()))}"
        )
        page.goto(f"{hostile.server.url}/console/{path}#{said}")
        is_text_alone(page, pattern)


def test_nothing_that_a_registry_holds_is_run(hostile: Hostile, opened: Opens) -> None:
    """Contexts, aliases and groups, keys of key services; each is seen as it was written."""
    page = opened(hostile.server, None)
    for path, seen in {"contexts": 8, "settings": 8, "encryption": 8, "log": 0, "": 0, "associations": 0}.items():
        page.goto(f"{hostile.server.url}/console/{path}")
        is_text_alone(page, path)
        rows = page.get_by_role("row").filter(has_text="dataset.hit")
        assert rows.count() >= seen, path


def test_no_record_runs_what_it_says(hostile: Hostile, opened: Opens) -> None:
    page = opened(hostile.server, "decode")
    id = json.loads(hostile.server.ask("GET", f"/subjects/{quote(hostile.names[0], safe='')}/versions/1").body)["id"]
    for script in SCRIPTS:
        said = script.encode()
        length = bytes([2 * len(said) & 127 | 128, 2 * len(said) >> 7]) if len(said) > 63 else bytes([2 * len(said)])
        record = b"\0" + id.to_bytes(4, "big") + length + said
        page.get_by_label("Bytes, as hex or base64").fill(record.hex())
        page.get_by_role("button", name="Decode").click()
        expect(page.get_by_role("region", name="The value")).to_contain_text(script[-20:].replace('"', '\\"'))
        is_text_alone(page, script)


@pytest.mark.parametrize("path", ["", "subjects/j0", "contexts", "settings", "log", "zones", "encryption"])
def test_no_refusal_runs_what_it_quotes(hostile: Hostile, opened: Opens, path: str) -> None:
    """Every call of a page is refused at once."""
    page = opened(hostile.server, None)
    body = json.dumps({"error_code": 50001, "message": "".join(SCRIPTS)})
    page.route(lambda url: "/console/" not in url or "/api/" in url, lambda route: route.fulfill(status=500, body=body))
    page.goto(f"{hostile.server.url}/console/{path}")
    expect(page.locator(".problem").filter(has_text=SCRIPTS[0]).first).to_be_visible()
    is_text_alone(page, path)


def test_no_name_of_a_principal_is_run(hostile: Hostile, opened: Opens) -> None:
    """A provider of identities may call people what it likes."""
    page = opened(hostile.server, None)
    about = [{"type": "SCHEMA", "subject": "a", "version": 1, "gone": False}]

    def rename(route: Route) -> None:
        told: Any = route.fetch().json()
        if isinstance(told, list):
            told = [
                {"commit": at, "at": 0, "by": script, "name": [script, None][at % 2], "about": about}
                for at, script in enumerate(SCRIPTS)
            ]
        else:
            reads = [{"day": script, "by": script, "name": script, "subject": script} for script in SCRIPTS]
            told["found"][0]["reads"] = reads
        route.fulfill(json=told)

    page.route("**/history?*", rename)
    page.route("**/usage?*", rename)
    page.route("**/console/api/log?*", rename)
    for path in (f"subjects/{quote(hostile.names[0], safe='')}", "log"):
        page.goto(f"{hostile.server.url}/console/{path}")
        is_text_alone(page, path)
        assert page.get_by_role("row").filter(has_text=HITS).count() >= len(SCRIPTS), path


def test_no_question_about_a_change_runs_what_a_schema_says(hostile: Hostile, opened: Opens) -> None:
    """Questions, refusals that quote what was written, what was done: text, too."""
    server, name = hostile.server, f"j{hostile.names[0]}"
    page = opened(server, f"subjects/{quote(name, safe='')}/edit")
    page.get_by_label("Text of the schema").fill(json.dumps({"type": SCRIPTS[0], "name": SCRIPTS[1]}))
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("Refused")
    page.goto(f"{server.url}/console/subjects/{quote(name, safe='')}")
    page.get_by_role("button", name="Delete subject").click()
    expect(page.get_by_role("dialog")).to_contain_text(name)
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status").first).to_contain_text(name)
    assert page.evaluate("document.documentElement.dataset.hit") is None
