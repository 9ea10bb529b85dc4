"""`/docs`: Swagger UI as its makers published it, loaded from here and from nowhere else."""

import hashlib
import re
from pathlib import Path

import pytest

from sigla.registry import Registry
from sigla.web.console import docs_page
from sigla.web.local import server
from tests.unit.web.conftest import Client

VENDORED = Path(docs_page.__file__).parent / "swagger_ui"


@pytest.fixture
def served(registry: Registry) -> Client:
    return Client(server.application(registry))


def sums() -> dict[str, str]:
    lines = (VENDORED / "SHA256SUMS").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines if not line.startswith("#"))}


def test_what_is_vendored_is_what_was_published() -> None:
    """Minified code cannot be reviewed: it is trusted by its hash, and its licence stands beside it."""
    assert {"swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"} <= set(sums())
    for name, digest in sums().items():
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == digest, name
    ours = {"index.html", "start.js", "SHA256SUMS"}
    assert {path.name for path in VENDORED.iterdir()} == ours | set(sums())


def test_the_page_and_all_that_it_loads_come_from_here(served: Client) -> None:
    """A registry stands in networks that reach nothing else, and no other server learns that it was looked at."""
    page = served("GET", "/docs")
    loaded = set(re.findall(r'(?:src|href)="([^"]+)"', page.text))
    assert loaded == {"data:,", *(f"docs/{name}" for name in docs_page.FILES)}
    for name, media in docs_page.FILES.items():
        answer = served("GET", f"/docs/{name}")
        assert (answer.status, answer.headers["content-type"]) == (200, media)
        assert answer.body == (VENDORED / name).read_bytes()


def test_a_browser_would_refuse_to_load_anything_from_elsewhere(served: Client) -> None:
    """Whatever is in a megabyte of foreign code: the policy of the page names no other host."""
    policy = served("GET", "/docs").headers["content-security-policy"]
    assert policy.startswith("default-src 'none';")
    sources = {source for directive in policy.split("; ") for source in directive.split()[1:]}
    assert sources <= {"'none'", "'self'", "'unsafe-inline'", "data:"}
    assert "script-src 'self';" in policy
    for name in ("index.html", "start.js", "swagger-ui.css"):
        hosts = set(re.findall(r"https?://([\w.-]+)", (VENDORED / name).read_text()))
        assert hosts <= {"www.w3.org"}, f"{name}: names of XML namespaces alone"


def test_a_file_that_the_page_does_not_have_is_not_found(served: Client) -> None:
    for path in ("/docs/SHA256SUMS", "/docs/../app.py", "/docs/", "/docs/swagger-ui-bundle.js/"):
        assert served("GET", path).status == 404
