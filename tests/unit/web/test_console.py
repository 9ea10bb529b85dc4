"""`/console/`: its pages and files, wherever they are served, and what they may not do."""

import gzip
import hashlib
import html
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sigla import instances
from sigla.auth.permissions import Principal
from sigla.registry import Registry
from sigla.settings import Settings
from sigla.web import app, gateway
from sigla.web.console import door, pages
from sigla.web.http.guard import Guard
from sigla.web.local import server
from tests.build import Recognises
from tests.loops import threads_loop
from tests.unit.web.conftest import Client

UI = Path(pages.__file__).parent / "ui"
WITH = app.HttpOptions(console=True)
FIRST_VIEW = ("main.js", "registry.js", "parts.js", "vendor/preact.js", "style.css", "icon.svg", "pages/subjects.js")
PAGES = (
    "",
    "subjects",
    "subjects/",
    "subjects/a%2Fb",
    "subjects/%3A.eu%3Aa/versions/3",
    "subjects/a/diff/1/2",
    "ids/x/1",
)


@pytest.fixture
def served(registry: Registry) -> Client:
    return Client(server.application(registry, options=WITH))


def test_every_page_loads_directly_by_its_url(served: Client) -> None:
    """It is sent to a colleague; and a front door may put the registry below a path, so that links are relative."""
    for page in PAGES:
        answer = served("GET", f"/console/{page}")
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        loaded = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
        assert {each.rpartition("s/")[0] for each in loaded if "/vendor/" not in each} == {"../" * page.count("/")}
        for each in loaded:
            assert served("GET", f"/console/{each.removeprefix('../' * page.count('/'))}").status == 200, each


def test_a_page_without_its_slash_is_one_step_away(served: Client) -> None:
    answer = served("GET", "/console")
    assert (answer.status, answer.headers["location"]) == (308, "console/")


HOSTILE = door.Login("https://id.example/realms/a?\"'<", "<script>'\"", 'openid "><img src=x>')


@pytest.mark.parametrize(
    "logins, asked",
    [
        ((), ""),
        ((door.Login("https://id.example/realms/a", "c", "openid"),), "; connect-src 'self' https://id.example"),
        (
            (
                door.Login("https://id.example:8443/a", "c", "openid"),
                door.Login("https://other.example", "c", "openid"),
            ),
            "; connect-src 'self' https://id.example:8443 https://other.example",
        ),
        (
            (door.Login("https://id.example/a", "c", "openid"), door.Login("https://id.example/b", "c", "openid")),
            "; connect-src 'self' https://id.example",
        ),
    ],
)
def test_a_page_may_ask_its_server_and_the_issuers_where_people_sign_in_and_nobody_else(
    registry: Registry, logins: tuple[door.Login, ...], asked: str
) -> None:
    client = Client(app.build(registry, options=replace(WITH, logins=logins)))
    for path in ("", "subjects/a"):
        answer = client("GET", f"/console/{path}")
        assert answer.headers["content-security-policy"] == pages.POLICY + asked
        (content,) = re.findall(r'<meta name="sigla-logins" content="([^"]*)">', answer.text)
        assert json.loads(html.unescape(content)) == [each._asdict() for each in logins]


def test_what_a_setting_says_of_an_issuer_is_a_text_of_the_page(registry: Registry) -> None:
    page = Client(app.build(registry, options=replace(WITH, logins=(HOSTILE,))))("GET", "/console/").text
    assert "<script>'" not in page
    assert "<img" not in page
    assert json.loads(html.unescape(re.findall(r'sigla-logins" content="([^"]*)"', page)[0])) == [HOSTILE._asdict()]


def test_people_sign_in_where_keys_are_asked_for_and_the_setting_names_a_client() -> None:
    known = Recognises(lambda _: None)
    row = {"when": {"sub": "a"}, "role": "reader"}
    console = {"client": "sigla-console", "scope": "openid sigla"}
    told = [{"issuer": "https://id.example", "audience": "sigla", "map": [row], "console": console}]
    settings = Settings(issuers=json.dumps(told))
    login = door.Login("https://id.example", "sigla-console", "openid sigla")
    assert instances.web_options(settings, known, app.HttpOptions()).logins == (login,)
    assert instances.web_options(settings, None, app.HttpOptions()).logins == ()
    assert instances.web_options(replace(settings, console=False), known, app.HttpOptions()).logins == ()
    del told[0]["console"]
    assert instances.web_options(Settings(issuers=json.dumps(told)), known, app.HttpOptions()).logins == ()


def test_a_file_is_kept_for_good_and_a_page_is_asked_for_anew(served: Client) -> None:
    """What an address says is in a file can never be another file: its digest is that of all of them."""
    page = served("GET", "/console/")
    assert page.headers["cache-control"] == "no-cache"
    for name, file in pages.files().served.items():
        answer = served("GET", f"/console/s/{pages.files().digest}/{name}")
        assert answer.body == (UI / name).read_bytes()
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"].encode() == file.media
    for etag, target in (
        (page.headers["etag"], "/console/"),
        (answer.headers["etag"], f"/console/s/{pages.files().digest}/{name}"),
    ):
        again = served("GET", target, headers={"if-none-match": etag})
        assert (again.status, again.body) == (304, b"")
        assert served("HEAD", target).body == b""


def test_what_is_not_there_is_not_found(served: Client) -> None:
    digest = pages.files().digest
    for path in (f"s/{digest}/nothing.js", f"s/{digest}/vendor/SHA256SUMS", f"s/{digest}/index.html", "s/other/main.js",
                 f"s/{digest}/../pages.py", "a/" * 20):  # fmt: skip
        assert served("GET", f"/console/{path}").status == 404, path
    assert served("POST", "/console/", {}).status in (404, 405)


def test_files_come_packed_to_those_who_take_it(served: Client) -> None:
    sent = {"accept-encoding": "gzip, br"}
    answer = served("GET", f"/console/s/{pages.files().digest}/main.js", headers=sent)
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body) == (UI / "main.js").read_bytes()


def test_the_first_view_is_40_kb_and_everything_160() -> None:
    """In gzip: what a slow line carries before anything is seen, and the price of all pages together."""
    packed = {name: len(file.packed) for name, file in pages.files().served.items()}
    assert sum(packed[name] for name in FIRST_VIEW) + len(pages.files().page) <= 40_000
    assert sum(packed.values()) <= 160_000


def test_a_browser_is_told_to_run_and_to_ask_nothing_of_others(served: Client) -> None:
    """Whatever a schema says: no script stands within a page, and none comes from elsewhere."""
    for target in ("/console/", f"/console/s/{pages.files().digest}/main.js"):
        headers = served("GET", target).headers
        policy = dict(each.split(" ", 1) for each in headers["content-security-policy"].split("; "))
        assert policy.pop("default-src") == "'self'"
        assert set(policy.values()) == {"'none'"}
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    page = served("GET", "/console/").text
    assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:", page)


@pytest.mark.parametrize("target", ["/", "/console/", "/console/nowhere", "/docs"])
def test_no_page_stands_in_a_frame_of_another_site_or_sends_a_form(served: Client, target: str) -> None:
    """Whoever is made to click there would click for others."""
    answer = served("GET", target, headers={"accept": "text/html"})
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"].split("; ")
    assert {"frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} <= {*policy}


def test_no_spelling_of_a_path_leads_out_of_the_files(served: Client) -> None:
    """Names are looked up in a table, as they are sent: nothing is unescaped or put together."""
    digest = pages.files().digest
    names = ("../pages.py", "..%2fpages.py", "%2e%2e/pages.py", "..\\pages.py", "..%5cpages.py", "/etc/passwd",
             "main.js/", "main.js%00", "./main.js", "vendor/../main.js", "vendor%2fpreact.js", "%6dain.js", "",
             "vendor", "MAIN.JS")  # fmt: skip
    for name in names:
        answer = served("GET", f"/console/s/{digest}/{name}")
        assert (answer.status, answer.body) == (404, b""), name
        assert answer.headers["cache-control"] == "no-cache", name


@pytest.mark.parametrize(
    "taken, is_packed",
    [
        *((each, False) for each in ("", "identity", "br, zstd", "gzip;q=0", "gzip;q=0, *", "*;q=0")),
        *((each, True) for each in ("gzip", "GZIP", "x-gzip", "br;q=1, gzip;q=0.1", "*", "gzip;q=x")),
    ],
)
def test_a_file_is_packed_for_those_alone_who_take_it(served: Client, taken: str, is_packed: bool) -> None:
    """A cache on the way is told what else it depends on, also by an answer without a body."""
    target = f"/console/s/{pages.files().digest}/main.js"
    answer = served("GET", target, headers={"accept-encoding": taken})
    assert (answer.headers.get("content-encoding") == "gzip") == is_packed
    assert answer.headers["content-length"] == str(len(answer.body))
    assert (gzip.decompress(answer.body) if is_packed else answer.body) == (UI / "main.js").read_bytes()
    for said in (answer.headers["etag"], f"W/{answer.headers['etag']}", f'"other", {answer.headers["etag"]}', "*"):
        again = served("GET", target, headers={"accept-encoding": taken, "if-none-match": said})
        assert (again.status, again.body, again.headers["vary"]) == (304, b"", "accept-encoding"), said
    assert served("GET", target, headers={"if-none-match": '"other"'}).status == 200


@pytest.mark.parametrize("path", sorted(UI.rglob("*.js")), ids=lambda path: path.name)
def test_a_module_imports_its_neighbours_alone_and_writes_no_markup(path: Path) -> None:
    """It stands below a digest, below any path; and whatever a registry answers is text, never HTML."""
    text = path.read_text()
    for imported in re.findall(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""", text):
        assert imported.startswith(("./", "../")), imported
        assert (path.parent / imported).is_file(), imported
    if "vendor" not in path.parts:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|localStorage", text
        )


def test_what_is_vendored_is_what_was_published() -> None:
    """Minified code cannot be reviewed: it is trusted by its hash, and its licences stand beside it."""
    lines = (UI / "vendor" / "SHA256SUMS").read_text().splitlines()
    sums = dict(line.split("  ")[::-1] for line in lines if not line.startswith("#"))
    assert set(sums) == {"preact.js", "LICENSE.htm", "LICENSE.preact"}
    assert {path.name for path in (UI / "vendor").iterdir()} == {*sums, "SHA256SUMS", "preact.d.ts"}
    for name, digest in sums.items():
        assert hashlib.sha256((UI / "vendor" / name).read_bytes()).hexdigest() == digest, name


def test_without_the_setting_there_is_no_console(client: Client) -> None:
    assert client("GET", "/console/").status == 404
    assert client("GET", "/console").status == 404


def test_a_page_is_for_everybody_and_what_it_asks_is_not(registry: Registry) -> None:
    """What the page is made of may be public; it asks for a key when the registry does."""

    class Nobody:
        schemes = ("Basic",)

        def __call__(self, header: bytes | None) -> Principal | None:
            assert header is None
            return None

    closed = Client(app.build(registry, options=replace(WITH, authenticate=Nobody())))
    assert closed("GET", "/console/subjects").status == 200
    assert closed("GET", "/subjects").status == 401


def test_a_foreign_name_leads_to_no_page(registry: Registry) -> None:
    """A registry that is open on loopback answers to its own names alone: a page could be shown as another site's."""
    guarded = Client(app.build(registry, options=replace(WITH, guard=Guard(("127.0.0.1",), ()))))
    assert guarded("GET", "/console/", headers={"host": "127.0.0.1:8081"}).status == 200
    assert guarded("GET", "/console/", headers={"host": "evil.example"}).status >= 400


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_function_serves_it_as_text(registry: Registry, version: str) -> None:
    """The REST API packs answers itself, and takes text alone."""
    path = f"/console/s/{pages.files().digest}/main.js"
    http = {"method": "GET", "sourceIp": "192.0.2.1"}
    event = {
        "1.0": {
            "httpMethod": "GET",
            "path": path,
            "requestContext": {},
            "multiValueHeaders": {"Accept-Encoding": ["gzip"]},
        },
        "2.0": {
            "version": "2.0",
            "rawPath": path,
            "requestContext": {"http": http},
            "headers": {"accept-encoding": "gzip"},
        },
    }[version]
    with threads_loop():
        function: Any = gateway.handler(registry, options=replace(gateway.OPTIONS, console=True))
        answer = function(event, None)
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert answer["body"] == (UI / "main.js").read_text()


@pytest.mark.process
def test_no_other_request_imports_a_module_of_it() -> None:
    """A function starts cold a thousand times for clients, and once for a person."""
    program = """
import json, sys
from sigla.web import app, gateway
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
with EmbeddedStore() as store:
    registry = Registry(store.catalog, store.bodies, SystemClock())
    function = gateway.handler(registry, options=app.HttpOptions(console=True))
    seen = []
    for path in ("/subjects", "/", "/console/api/nothing", "/console/"):
        function({"httpMethod": "GET", "path": path, "requestContext": {}}, None)
        seen.append("sigla.web.console.pages" in sys.modules)
print(json.dumps(seen))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == [False, False, False, True], done.stderr
