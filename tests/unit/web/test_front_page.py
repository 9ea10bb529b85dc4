"""What a person sees who types the address into a browser; programs see what they saw before."""

import re

import pytest

from sigla import __version__
from sigla.registry import Registry
from sigla.web import app
from sigla.web.local import server
from tests.unit.web.conftest import Client

CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
LYNX = "text/html, text/plain, text/sgml, text/css, */*;q=0.01"
JAVA = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"


@pytest.mark.parametrize("accept", [CHROME, FIREFOX, LYNX, "text/html"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_browser_is_told_what_this_is(client: Client, accept: str, method: str) -> None:
    """The first thing that a new user does with an address is to open it."""
    answer = client(method, "/", headers={"accept": accept})
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "Accept" in answer.headers["vary"]
    assert (f"Sigla <small>{__version__}</small>" in answer.text) is (method == "GET")


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", JAVA])
def test_everybody_else_is_told_what_the_contract_says(client: Client, accept: str | None) -> None:
    """Java's clients name HTML in a default that they do not mean (HTTP-7)."""
    answer = client("GET", "/", headers={} if accept is None else {"accept": accept})
    assert (answer.status, answer.body) == (200, b"{}")
    assert answer.headers["content-type"].endswith("json")


def test_other_paths_have_no_page(client: Client) -> None:
    assert client("GET", "/subjects", headers={"accept": CHROME}).headers["content-type"].endswith("json")
    assert client("POST", "/", {}, {"accept": CHROME, "content-type": "application/json"}).body == b"{}"


def test_the_page_leads_to_what_is_there_and_nowhere_else(registry: Registry) -> None:
    """A function has no /docs. Links are relative, as a REST API puts a stage before every path."""
    places = {
        where: re.findall(r'href="([^"]*)"', Client(made)("GET", "/", headers={"accept": CHROME}).text)
        for where, made in (("served", server.application(registry)), ("function", app.build(registry)))
    }
    assert places == {
        "served": ["data:,", "docs", "openapi.json", "metrics", "health"],
        "function": ["data:,", "openapi.json"],
    }
