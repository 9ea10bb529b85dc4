"""People sign in at an issuer, by a code with PKCE, and are where they were; what goes wrong is said in a sentence."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Come, Look, Opens, settled
from tests.browser.filled import SCRIPTS
from tests.browser.test_pages import violations
from tests.browser.test_trouble import sign_in
from tests.certificates import Authority
from tests.issuer import People, Published, publishing
from tests.protocol.clients.server import Server, run, serving

pytestmark = pytest.mark.process

MAP = ({"when": {"sub": "ada"}, "role": "admin"}, {"when": {"sub": "bob"}, "role": "reader", "subjects": ["a-"]})
DEEP = "subjects/orders-value?of=a-colleague"


@dataclass(frozen=True)
class Guarded:
    """A registry that knows keys and one issuer. secret: of the key eve."""

    server: Server
    issuer: Published
    secret: str

    @property
    def name(self) -> str:
        return self.issuer.url.removeprefix("https://")

    def people(self, **chosen: Any) -> People:
        """As the issuer logs them in from now on."""
        self.issuer.people = People(back=f"{self.server.url}/console/", **chosen)
        return self.issuer.people


@pytest.fixture(scope="module")
def believing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    authority, data = Authority.made(tmp_path_factory.mktemp("authority")), tmp_path_factory.mktemp("data")
    secret = run("keys", "create", "eve", "--role", "admin", "--data", str(data)).stdout.split()[-1]
    with publishing(authority.pair(tmp_path_factory.mktemp("pair"))) as issuer:
        told = issuer.setting(*MAP, console={"client": "sigla-console", "scope": "openid sigla"})
        settings = {"SIGLA_ISSUERS": json.dumps([told]), "SSL_CERT_FILE": str(authority.file)}
        with serving(data, settings=settings) as server:
            yield Guarded(server, issuer, secret)


@pytest.fixture
def world(believing: Guarded) -> Guarded:
    """Each test has people of its own, and an issuer without faults."""
    believing.issuer.wrong.clear()
    believing.people()
    return believing


def begin(page: Page, world: Guarded) -> None:
    page.get_by_role("button", name=f"Sign in at {world.name}").click()


def log_in(page: Page, world: Guarded, sub: str = "ada") -> None:
    begin(page, world)
    page.get_by_role("link", name=f"Log in as {sub}").click()


def stored(page: Page) -> Any:
    return page.evaluate("({...sessionStorage})")


def test_whoever_signs_in_at_an_issuer_is_where_it_was(come: Come, world: Guarded) -> None:
    """Its token is kept for the tab; the page asks the registry and the issuer, and no other host."""
    way = come(world.server, DEEP)
    page = way.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    way.choose(page.get_by_role("button", name=f"Sign in at {world.name}"))
    way.choose(page.get_by_role("link", name="Log in as ada"))
    expect(page).to_have_url(f"{world.server.url}/console/{DEEP}")
    expect(page.get_by_text("Subject 'orders-value' not found.").first).to_be_visible()
    expect(page.get_by_role("banner")).to_contain_text("ada")
    expect(page.get_by_role("link", name="Log", exact=True)).to_be_visible()
    (access,) = world.issuer.people.given
    assert stored(page).keys() == {"sigla.token"}
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(world.server.url).netloc, world.name}
    assert not any(access in url for url in asked)
    page.reload()
    expect(page.get_by_role("banner")).to_contain_text("ada")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_text("This registry asks who you are")).to_be_visible()
    world.server.wait_for(lambda server: f'"principal":"ada@{world.name}"' in server.output)


def test_a_code_is_no_way_back_into_the_history(opened: Opens, world: Guarded) -> None:
    page = opened(world.server, DEEP)
    log_in(page, world)
    expect(page.get_by_role("banner")).to_contain_text("ada")
    page.go_back()
    page.go_forward()
    assert "code=" not in page.url
    assert page.url.endswith(DEEP)


def test_whoever_signs_out_is_led_to_where_the_issuer_ends_its_session(opened: Opens, world: Guarded) -> None:
    """Nothing in that address is a secret."""
    page = opened(world.server, "contexts")
    log_in(page, world)
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_title("Logged out")
    said = parse_qs(urlsplit(page.url).query)
    assert said == {"client_id": ["sigla-console"], "post_logout_redirect_uri": [f"{world.server.url}/console/"]}
    page.goto(f"{world.server.url}/console/contexts")
    expect(page.get_by_text("This registry asks who you are")).to_be_visible()
    assert stored(page) == {}


def test_an_issuer_that_ends_no_session_leaves_nothing_in_the_tab(opened: Opens, world: Guarded) -> None:
    world.people(more={"end_session_endpoint": None})
    page = opened(world.server, "contexts")
    log_in(page, world)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("This registry asks who you are")).to_be_visible()
    assert stored(page) == {}


def test_a_key_opens_the_same_registry(opened: Opens, world: Guarded) -> None:
    page = opened(world.server, "contexts")
    sign_in(page, "eve", world.secret)
    expect(page.get_by_role("banner")).to_contain_text("eve")
    page.get_by_role("button", name="Sign out").click()
    log_in(page, world)
    expect(page.get_by_role("banner")).to_contain_text("ada")
    assert stored(page).keys() == {"sigla.token"}


def test_a_token_is_good_for_what_the_map_says(opened: Opens, world: Guarded) -> None:
    world.people(sub="bob")
    page = opened(world.server, "subjects/b-value")
    log_in(page, world, "bob")
    expect(page.get_by_text("Your token does not permit this.").first).to_be_visible()
    expect(page.get_by_role("link", name="Log", exact=True)).to_have_count(0)


def test_a_token_is_renewed_before_it_ends_where_the_issuer_gives_another(opened: Opens, world: Guarded) -> None:
    people = world.people(renews=True, lasts_s=20)
    page = opened(world.server, "contexts")
    log_in(page, world)
    expect(page.get_by_role("banner")).to_contain_text("ada")
    settled(page)
    before = len(people.given)
    page.get_by_role("link", name="Settings").click()
    settled(page)
    assert len(people.given) > before > 1
    assert json.loads(stored(page)["sigla.token"])["access"] == people.given[-1]
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_login_that_has_ended_says_so_once_and_the_page_stays(opened: Opens, world: Guarded) -> None:
    """Where the issuer gives no other token: no way leads round in circles."""
    people = world.people(lasts_s=-31)
    page = opened(world.server, DEEP)
    log_in(page, world)
    expect(page.get_by_text(f"The registry does not accept the token that {world.name} has given.")).to_be_visible()
    assert page.url.endswith(DEEP)
    assert len(people.given) == 1
    world.people()
    log_in(page, world)
    expect(page.get_by_role("banner")).to_contain_text("ada")
    expect(page.get_by_text("This registry asks who you are")).to_have_count(0)


def test_a_renewal_that_the_issuer_refuses_asks_to_sign_in_again(opened: Opens, world: Guarded) -> None:
    people = world.people(renews=True, lasts_s=-40)
    page = opened(world.server, "contexts")
    begin(page, world)
    people.more = {"end_session_endpoint": None}
    page.get_by_role("link", name="Log in as ada").click()
    expect(page.get_by_text("sign in again.").or_(page.get_by_text("does not accept the token")).first).to_be_visible()
    people.renewals.clear()
    page.reload()
    expect(page.get_by_text("This registry asks who you are")).to_be_visible()
    assert "refresh" not in json.loads(stored(page)["sigla.token"])


@pytest.mark.parametrize("hours", [-3, 3])
def test_a_clock_that_is_wrong_keeps_nobody_out(opened: Opens, world: Guarded, hours: int) -> None:
    page = opened(world.server, "contexts")
    page.clock.set_system_time(datetime.now(UTC) + timedelta(hours=hours))
    log_in(page, world)
    expect(page.get_by_role("banner")).to_contain_text("ada")
    expect(page.get_by_role("row", name="default")).to_be_visible()


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"claims": {"nonce": "another"}}, "is not of this login"),
        ({"claims": {"nonce": None}}, "is not of this login"),
        ({"claims": {"aud": "another-client"}}, "is not of this login"),
        ({"claims": {"iss": "https://another.example"}}, "is not of this login"),
        ({"answer": {"iss": "https://another.example"}}, "where the login began"),
        ({"answer": {"iss": None}}, "where the login began"),
        ({"answer": {"state": "another"}}, "not to a login of this tab"),
        ({"answer": {"code": "guessed"}}, "refused the login: invalid_grant: It is not good, or not any more."),
        ({"refuses": {"error": "invalid_scope"}}, "refused the login: invalid_scope."),
        ({"refuses": {"error": "server_error", "error_description": SCRIPTS[1]}}, SCRIPTS[1]),
    ],
)
def test_an_answer_that_is_not_of_this_login_signs_nobody_in(
    opened: Opens, world: Guarded, wrong: dict[str, Any], told: str
) -> None:
    """The page says why in a sentence, and nothing that the issuer says is run."""
    world.people(**wrong)
    page = opened(world.server, DEEP)
    log_in(page, world)
    expect(page.get_by_role("alert").filter(has_text=told)).to_be_visible()
    assert stored(page) == {}
    assert "state=" not in page.url
    assert page.evaluate("document.documentElement.dataset.hit") is None
    assert page.locator("main img").count() == 0


def test_a_login_that_is_cancelled_is_said_to_be(opened: Opens, world: Guarded) -> None:
    page = opened(world.server, DEEP)
    begin(page, world)
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_text(f"The login at {world.name} was cancelled.")).to_be_visible()
    assert page.url.endswith(DEEP)


def test_a_login_that_another_has_begun_signs_nobody_in(opened: Opens, world: Guarded) -> None:
    """A link with the code of another person would have this one work under a foreign name."""
    page = opened(world.server, "?code=foreign&state=foreign")
    expect(page.get_by_text("An issuer has answered, but not to a login of this tab")).to_be_visible()
    assert stored(page) == {}
    assert "code=" not in page.url


def test_an_answer_is_good_once(opened: Opens, world: Guarded) -> None:
    page = opened(world.server, "contexts")
    begin(page, world)
    way = page.get_by_role("link", name="Log in as ada").get_attribute("href")
    page.goto(str(way))
    expect(page.get_by_role("banner")).to_contain_text("ada")
    page.goto(str(way))
    expect(page.get_by_text("An issuer has answered, but not to a login of this tab")).to_be_visible()


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"issuer": "https://another.example"}, "calls itself https://another.example"),
        ({"token_endpoint": "https://tokens.example/token"}, "gives tokens at another host, tokens.example"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "does not say where people sign in."),
        ({"token_endpoint": None}, "does not say where people sign in."),
        ({"code_challenge_methods_supported": ["plain"]}, "does not know PKCE with S256."),
    ],
)
def test_an_issuer_where_nobody_can_sign_in_is_told_before_anything_is_asked(
    opened: Opens, world: Guarded, wrong: dict[str, Any], told: str
) -> None:
    world.people(more=wrong)
    page = opened(world.server, DEEP)
    begin(page, world)
    expect(page.get_by_role("alert").filter(has_text=told)).to_be_visible()
    assert page.url.endswith(DEEP)
    expect(page.get_by_label("Name of the key")).to_be_visible()


@pytest.mark.parametrize("gives_tokens", [False, True])
@pytest.mark.parametrize(
    "answer, told",
    [((503, b"{}"), "has failed (503): try again."), ((200, b"[]x"), "has answered what is not understood.")],
)
def test_an_issuer_that_fails_is_told_in_a_sentence(
    opened: Opens, world: Guarded, answer: tuple[int, bytes], told: str, *, gives_tokens: bool
) -> None:
    page = opened(world.server, DEEP)
    if gives_tokens:
        page.route("**/token", lambda route: route.fulfill(status=answer[0], body=answer[1]))
        log_in(page, world)
    else:
        world.issuer.wrong["/.well-known/openid-configuration"] = answer
        begin(page, world)
    expect(page.get_by_role("alert").filter(has_text=told)).to_be_visible()
    assert page.url.endswith(DEEP)


def test_an_issuer_that_does_not_answer_is_told_to(opened: Opens, world: Guarded) -> None:
    page = opened(world.server, DEEP)
    page.route("**/.well-known/**", lambda route: route.abort())
    begin(page, world)
    expect(
        page.get_by_text(f"{world.name} does not answer, or does not let pages of this registry ask.")
    ).to_be_visible()


def test_signing_in_can_be_read_by_all_and_stays_within_its_window(
    opened: Opens, packages: Path, world: Guarded, look: Look
) -> None:
    page = opened(world.server, "contexts", look)
    expect(page.get_by_text("This registry asks who you are")).to_be_visible()
    settled(page)
    assert violations(page, packages) == []
    assert page.evaluate("document.documentElement.scrollWidth") == look.width
