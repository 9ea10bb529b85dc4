"""The console in Chromium: its first paint, of a server and of a function that starts cold, and 100,000 subjects.

Paints are those that the browser tells itself, from the beginning of the navigation. A server is warm, and so is the
browser: it has the files of the console, as from a person's second look on. For the function nothing is warm: its
process starts with the first request, in Lambda's own runtime client as in `cold_start`, and the browser has no file.
One process answers everything there, a request after the other. Rows are there when the first one is in the document.

It may mislead: nothing travels through a network, and AWS starts several processes where a browser asks for several
files at once.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import filled
from benchmarks.account import account
from benchmarks.cold_start import STARTS_WITHIN_S, Environment, Function, lambda_runtime, our_function
from benchmarks.harness import Goal, Line, Lines, NotHere, Server, main, serving, sigla
from benchmarks.warm_get import FUNCTION_URL
from sigla.model import Draft
from sigla.stores.sqlite.store import EmbeddedStore
from tests.browser.conftest import browser_program

SUBJECTS, FEW = 100_000, 300
TEXTS: Final = 100
CALM: Final = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
NOTE_ROWS: Final = """
new MutationObserver((_, observer) => {
  if (!document.querySelector("tbody tr")) return;
  window.rowsAt = performance.now();
  observer.disconnect();
}).observe(document, {childList: true, subtree: true});
"""
PAINTED: Final = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
LIST: Final = "console/subjects"


class View(NamedTuple):
    """What one navigation took, in seconds. requests: also those that the browser answered itself."""

    painted: float
    rows: float
    cpu: float
    requests: int


def lines(*, quick: bool = False) -> Lines:
    rounds = 2 if quick else 15
    with _browser() as browser, filled.workspace() as folder:
        subjects = FEW if quick else SUBJECTS
        data = folder / "data"
        _fill(data, subjects)
        with serving(sigla("--data", str(data))) as server:
            yield from _of_server(browser, server, subjects, rounds)
        yield from _of_function(browser, 1 if quick else 7)


def _of_server(browser: Browser, server: Server, subjects: int, rounds: int) -> Lines:
    base = f"http://127.0.0.1:{server.port}"
    page = browser.new_page()
    page.add_init_script(NOTE_ROWS)
    plain = median(_view(page, base, "", server).painted for _ in range(rounds))
    some = [_view(page, base, "console/", server) for _ in range(rounds + 1)][1:]
    yield Line("first paint of the console", median(each.painted for each in some), "s", plain,
               "the front page, without a script", Goal(0.2, "s"))  # fmt: skip
    found = [_view(page, base, LIST, server) for _ in range(rounds + 1)][1:]
    what = f"first rows of {subjects:,} subjects"
    yield Line(what, median(each.rows for each in found), "s", plain, "as above", Goal(0.3, "s"))
    requests = max(each.requests for each in found)
    yield Line(f"{what}, requests", requests, "requests", goal=Goal(10, "requests"))
    part = f"{LIST}?q={subjects // 2:06}"
    rare = [_view(page, base, part, server) for _ in range(rounds + 1)][1:]
    common = median(each.cpu for each in found)
    yield Line(f"one of {subjects:,} by a part of its name", median(each.rows for each in rare), "s", plain, "as above",
               Goal(0.3, "s"))  # fmt: skip
    yield Line("the same, processor time of the server", median(each.cpu for each in rare), "s", common, "first rows")
    page.close()


def _of_function(browser: Browser, rounds: int) -> Lines:
    with account() as made, ExitStack() as opened:
        with made.registry() as registry:
            registry.register(filled.subject(1), Draft(filled.text(1)))
        function = our_function(made, lambda_runtime())
        starts, paints = list[float](), list[float]()
        for _ in range(rounds):
            starts.append(function.start())
            with _door(function) as base, browser.new_context() as context:
                paints.append(_view(context.new_page(), base, "console/").painted)
        opened.close()
    yield Line("first paint of the console, function and browser cold", median(paints), "s", median(starts),
               "cold start to the first GET by id", Goal(1.0, "s"))  # fmt: skip


def _view(page: Page, base: str, path: str, server: Server | None = None) -> View:
    asked: list[str] = []

    def note(request: Any) -> None:
        asked.append(request.url)

    before = server.cpu() if server else 0.0
    page.on("request", note)
    page.goto(f"{base}/{path}")
    painted = page.wait_for_function(PAINTED).json_value()
    if path.startswith(LIST):
        page.wait_for_function("() => window.rowsAt")
    rows = page.evaluate("window.rowsAt ?? 0")
    page.remove_listener("request", note)
    return View(painted / 1000, rows / 1000, server.cpu() - before if server else 0.0, len(asked))


@contextmanager
def _browser() -> Iterator[Browser]:
    program = browser_program()
    if not program:
        raise NotHere("Chromium is not installed: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CALM)
        yield browser
        browser.close()


def _fill(data: Path, subjects: int) -> None:
    """One version each, of few contents: what is listed are names."""
    drafts = [Draft(filled.text(number)) for number in range(TEXTS)]
    with patch("os.fsync"), EmbeddedStore(data) as store:
        registry = filled.registry_over(store)
        for begin in range(0, subjects, filled.GROUP):
            with store.group():
                for number in range(begin, min(begin + filled.GROUP, subjects)):
                    registry.register(filled.subject(number), drafts[number % TEXTS])


# --- a function behind a door -----------------------------------------------------------------------------------------


@contextmanager
def _door(function: Function) -> Iterator[str]:
    """The URL of a function whose process starts with the first request."""
    with ExitStack() as opened:
        started: list[Environment] = []
        alone = threading.Lock()

        def answered(event: dict[str, Any]) -> dict[str, Any]:
            with alone:
                if not started:
                    started.append(opened.enter_context(function.running()))
                answer = started[0].submit(event).answer.result(STARTS_WITHIN_S)
            told: dict[str, Any] = json.loads(answer.body)
            return told

        class Door(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = answered(_event(self.path, dict(self.headers)))
                body = answer["body"].encode()
                self.send_response(answer["statusCode"])
                for name, value in answer["headers"].items():
                    if name.lower() != "content-length":
                        self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                with suppress(ConnectionError):  # the page was left meanwhile
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """What comes is not told."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        server.server_close()


def _event(target: str, headers: dict[str, str]) -> dict[str, Any]:
    path, _, query = target.partition("?")
    context = FUNCTION_URL["requestContext"]
    return {
        **FUNCTION_URL,
        "rawPath": path,
        "rawQueryString": query,
        "headers": {name.lower(): value for name, value in headers.items()},
        "requestContext": {**context, "http": {**context["http"], "method": "GET", "path": path}},
    }


if __name__ == "__main__":
    main(lines, __doc__)
