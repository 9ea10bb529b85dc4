"""Signing in to the console at a real Keycloak, set up as docs/security.md says it."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from sigla_pipelines.connectors.maven import Unavailable
from tests.browser.conftest import Opens, settled
from tests.protocol.clients import keycloak
from tests.protocol.clients.keycloak import SECRET, Keycloak
from tests.protocol.clients.server import Server, serving

pytestmark = [pytest.mark.soak, pytest.mark.process]

MAP = ({"when": {"groups": "data-eng"}, "role": "writer"},)
CONSOLE = {"client": "sigla-console", "scope": "openid sigla"}


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keycloak]:
    try:
        with keycloak.running(tmp_path_factory.mktemp("keycloak")) as issuer:
            yield issuer
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def server(issuer: Keycloak, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    told = [{"issuer": issuer.issuer, "audience": "sigla", "map": MAP, "console": CONSOLE}]
    trusted = {"SIGLA_ISSUERS": json.dumps(told), "SSL_CERT_FILE": str(issuer.authority.file)}
    with serving(tmp_path_factory.mktemp("data") / "data", settings=trusted) as server:
        issuer.admit(f"{server.url}/console/")
        yield server


def test_a_person_signs_in_at_keycloak_works_and_signs_out(opened: Opens, server: Server, issuer: Keycloak) -> None:
    page = opened(server, "subjects/new-value/edit?type=JSON")
    page.get_by_role("button", name="Sign in at").click()
    page.locator("#username").fill("ada")
    page.locator("#password").fill("wrong")
    page.locator("#kc-login").click()
    expect(page.get_by_text("Invalid username or password.")).to_be_visible()
    page.locator("#password").fill(SECRET)
    page.locator("#kc-login").click()
    expect(page).to_have_url(f"{server.url}/console/subjects/new-value/edit?type=JSON")
    expect(page.get_by_role("heading", name="New subject new-value")).to_be_visible()
    page.get_by_label("Text of the schema").fill('{"type": "string"}')
    page.get_by_role("button", name="Register").click()
    page.get_by_role("dialog").get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()
    token = json.loads(page.evaluate("sessionStorage['sigla.token']"))
    assert token["refresh"], "Keycloak gives one"
    page.evaluate("""() => {
      const token = JSON.parse(sessionStorage["sigla.token"]);
      sessionStorage["sigla.token"] = JSON.stringify({...token, until: Date.now()});
    }""")
    page.get_by_role("link", name="Contexts").click()
    settled(page)
    assert json.loads(page.evaluate("sessionStorage['sigla.token']"))["access"] != token["access"]
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    page.locator("#kc-logout").click()
    expect(page).to_have_url(f"{server.url}/console/")
    expect(page.get_by_text("This registry asks who you are")).to_be_visible()
    page.get_by_role("button", name="Sign in at").click()
    expect(page.locator("#password")).to_be_visible()
    assert issuer.url in page.url
