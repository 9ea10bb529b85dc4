"""Pages of other sites, in the browser of a person who reaches a registry: they change nothing."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Page, Response

from tests.browser.conftest import Opens, settled
from tests.protocol.clients.server import serving

pytestmark = pytest.mark.process

ATTACK = """async url => {
  const seen = {}, body = JSON.stringify({schema: '"int"'}), evil = "/subjects/evil/versions";
  const send = async (name, path, options) => {
    for (const credentials of ["omit", "include"]) {
      try {
        const answer = await fetch(url + path, {credentials, ...options});
        seen[name] = answer.type === "opaque" ? "sent unread" : await answer.text();
      } catch {
        seen[name] = "refused by the browser";
      }
    }
  };
  const blind = {method: "POST", mode: "no-cors"};
  await send("a text", evil, {...blind, body});
  await send("a body without a type", evil, {...blind, body: new Blob([body])});
  await send("the body of a form", evil, {...blind, body: new URLSearchParams({schema: "int"})});
  await send("JSON", evil, {method: "POST", headers: {"content-type": "application/json"}, body});
  await send("a level", "/config", {method: "PUT", body: JSON.stringify({compatibility: "NONE"})});
  await send("a delete", "/subjects/mine", {method: "DELETE"});
  await send("a new key", "/console/api/keys", {...blind, body: new Blob(['{"key": "evil", "role": "admin"}'])});
  await send("a question", "/subjects", {});
  await send("who asks", "/console/api/caller", {});
  navigator.sendBeacon(url + evil, new Blob([body]));
  document.body.innerHTML = `<iframe name="target"></iframe><iframe name="page" src="${url}/console/"></iframe>
    <form method="post" enctype="text/plain" target="target" action="${url}${evil}">
      <input name='{"schema": "\\\\"int\\\\"", "x": "' value='"}'>
    </form>`;
  const framed = new Promise(done => { document.querySelector("[name=page]").onload = done; });
  const answered = new Promise(done => { document.querySelector("[name=target]").onload = done; });
  document.querySelector("form").submit();
  await Promise.all([framed, answered]);
  return seen;
}"""
"""All ways in which a page sends what its browser sends without asking, and some that it asks about."""


class Evil(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Kittens</title><body>")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def evil() -> Iterator[str]:
    """The URL of another site. It is on this machine, as browsers let pages of the world ask less and less of it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def attacked(page: Page, evil: str, url: str) -> set[int]:
    """The statuses with which the registry answered what would change something. No page sees any answer."""
    statuses: set[int] = set()
    writes = ("POST", "PUT", "DELETE")
    page.on("response", lambda each: statuses.add(each.status) if each.request.method in writes else None)
    page.goto(evil)
    # The script sees no answer to a beacon, and that to a form may be told later than the frame that shows it.
    with page.expect_response(is_to("ping")), page.expect_response(is_to("document")):
        seen = page.evaluate(ATTACK, url)
    assert set(seen.values()) == {"sent unread", "refused by the browser"}
    assert seen["a question"] == seen["who asks"] == seen["a level"] == seen["a delete"] == "refused by the browser"
    (framed,) = (each for each in page.frames if each.name == "page")
    framed.wait_for_url("chrome-error:**")  # the console is in no frame
    return statuses


def is_to(kind: str) -> Callable[[Response], bool]:
    """Whether a response is that to a POST of this kind, as the browser calls it."""
    return lambda each: each.request.method == "POST" and each.request.resource_type == kind


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_page_of_another_site_changes_nothing_of_a_registry_that_is_open(opened: Opens, evil: str, host: str) -> None:
    with serving(None, "--host", host, settings={"SIGLA_AUTH": "none"}) as server:
        assert server.ask("POST", "/subjects/mine/versions", {"schema": '"int"'}).status == 200
        page = opened(server)
        settled(page)
        assert attacked(page.context.new_page(), evil, f"http://127.0.0.1:{server.port}") == {403}
        assert json.loads(server.ask("GET", "/subjects").body) == ["mine"]
        assert json.loads(server.ask("GET", "/config").body) == {"compatibilityLevel": "BACKWARD"}
