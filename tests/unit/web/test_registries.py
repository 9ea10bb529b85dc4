"""Which of several registries a request is for: what its headers say, and nothing else."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from sigla.auth.credentials import LONGEST_HEADER, Slow
from sigla.auth.permissions import Principal, principal
from sigla.auth.tokens import issuers
from sigla.auth.tokens.issuers import Issuer as Known
from sigla.web.http.refusals import NoRegistryHere, NoRegistryNamed, SeveralRegistries
from sigla.web.registries import MOST_HOSTS, Choice, InvalidRegistries, OfRegistry, Unchosen, check_rows, read
from tests.issuer import Issuer

ISSUER = Issuer()
OF_BOTH = {"when": {"groups": "both"}, "role": "reader", "registry": ["payments", "ads"]}
OF_ADS = {"when": {"groups": "ads"}, "role": "writer", "registry": "ads"}
HOSTS = read(["payments=sr.example", "payments=Other.Example:443", "ads"])


def known(*rows: dict[str, Any]) -> tuple[Known, ...]:
    return issuers.read(json.dumps([ISSUER.setting(*rows)]))


CHOICE = Choice(HOSTS, known(OF_ADS, OF_BOTH))


def basic(said: str) -> bytes:
    return b"Basic " + base64.b64encode(said.encode())


def bearer(**claims: Any) -> bytes:
    return b"Bearer " + ISSUER.token("ec", **claims).encode()


def headers(host: str = "", authorization: bytes = b"", cluster: str = "") -> Mapping[bytes, bytes]:
    named = {b"host": host.encode(), b"authorization": authorization, b"target-sr-cluster": cluster.encode()}
    return {name: value for name, value in named.items() if value}


@pytest.mark.parametrize(
    "host, name",
    [
        ("sr.example", "payments"),
        ("SR.Example.:8081", "payments"),
        ("other.example", "payments"),
        ("payments.localhost:8081", "payments"),
        ("ads.localhost", "ads"),
        ("localhost", ""),
        ("127.0.0.1:8081", ""),
        ("xsr.example", ""),
        ("sr.example@ads.localhost", ""),
        ("sr.example,ads.localhost", ""),
        ("[::1]:8081", ""),
        ("\xff", ""),
        ("", ""),
    ],
)
def test_a_host_name_chooses_however_it_is_spelled(host: str, name: str) -> None:
    """A port, a dot at the end and capitals are the same host; what cannot be a host name chooses nothing."""
    assert CHOICE(headers(host)) == name


def test_the_host_name_goes_before_credentials() -> None:
    """So that no user name and no token leads out of the registry that was asked; there they are unknown."""
    assert CHOICE(headers("sr.example", basic("etl@ads:s"))) == "payments"
    assert CHOICE(headers("sr.example", bearer(groups="ads"))) == "payments"


@pytest.mark.parametrize(
    "said, name",
    [
        ("etl@payments:s", "payments"),
        ("etl@ads:pass@payments", "ads"),
        ("a@payments@ads:s", "ads"),
        ("@ads:s", "ads"),
        ("etl@Ads:s", ""),
        ("etl@nowhere:s", ""),
        ("etl:s", ""),
        ("payments:s", ""),
        ("etl@ads" + "x" * LONGEST_HEADER, ""),
    ],
)
def test_a_user_names_its_registry_behind_the_last_at(said: str, name: str) -> None:
    """No key has an '@' in its name, so that nothing is read in two ways."""
    assert CHOICE(headers("localhost", basic(said))) == name


@pytest.mark.parametrize(
    "said", [b"Basic !", b"Basic", b"Digest x@ads", b"Bearer", b"Bearer x", b"Bearer a.b.c", b"\xff"]
)
def test_credentials_that_are_none_choose_nothing(said: bytes) -> None:
    """They become a 401 where they are judged, and never a fault."""
    assert CHOICE(headers("localhost", said)) == ""


def test_a_token_chooses_the_registry_of_its_rows_and_target_sr_cluster_among_several() -> None:
    """With one there is nothing to choose: clients of Confluent's send some cluster beside each token."""
    assert CHOICE(headers("", bearer(groups="ads"), "lsrc-1")) == "ads"
    assert CHOICE(headers("", bearer(groups="both"))) == ""
    assert CHOICE(headers("", bearer(groups="both"), "payments")) == "payments"
    assert CHOICE(headers("", bearer(groups=["both", "ads"]), "ads")) == "ads"
    assert CHOICE(headers("", bearer(groups="both"), "lsrc-1")) == ""
    assert CHOICE(headers("", bearer(groups="none"), "ads")) == ""
    assert CHOICE(headers("", bearer(groups="ads", iss="https://another"), "ads")) == ""
    no_name = base64.urlsafe_b64encode(b'{"iss":["https://issuer.test"],"groups":"ads"}').rstrip(b"=")
    assert CHOICE(headers("", b"Bearer e30." + no_name + b".e30", "ads")) == ""


def test_the_cluster_chooses_nothing_for_who_shows_no_token() -> None:
    """A header alone must not lead into any registry."""
    assert CHOICE(headers("", b"", "ads")) == ""
    assert CHOICE(headers("", basic("etl:s"), "ads")) == ""


def test_hosts_that_clients_make_up_are_not_remembered() -> None:
    """The header may have 64 KB, and each request another one."""
    choice = Choice(HOSTS)
    for port in range(2 * MOST_HOSTS):
        assert choice(headers(f"ads.localhost:{port}")) == "ads"
        assert choice(headers(f"made-up-{port}")) == ""
    assert len(choice._hosts) == MOST_HOSTS


@pytest.mark.parametrize(
    "listed, why",
    [
        (["Payments"], "'Payments' cannot be the name of a registry: it must be 1 to 63 of a-z, 0-9 and '-'"),
        (["../x"], "cannot be the name"),
        ([""], "cannot be the name"),
        (["a=b c"], "'a=b c' names no host: expected NAME=HOST"),
        (["a="], "'a=' names no host"),
        (["a=sr.example,b=sr2.example"], "names no host"),
        (["a=*.example"], "names no host"),
        (["a=b\u00fccher.example"], "names no host"),
        (["a=sr.example", "b=SR.example:80"], "sr.example is the host name of a: b needs another one"),
        (["a", "b=a.localhost"], "a.localhost is the host name of a"),
    ],
)
def test_a_list_that_says_nothing_or_two_things_is_refused(listed: list[str], why: str) -> None:
    """At the start, and not when the first client is led into another registry than it meant."""
    with pytest.raises(InvalidRegistries) as wrong:
        read(listed)
    assert why in str(wrong.value)


def test_a_row_of_a_map_says_for_which_of_several_registries_it_is() -> None:
    """A map that was written for one registry must not open a second one that is served beside it some day."""
    check_rows(known(OF_ADS, OF_BOTH), HOSTS)
    with pytest.raises(InvalidRegistries, match=r'Row 1 of the map of .* names no "registry"'):
        check_rows(known({"when": {"sub": "*"}, "role": "reader"}), HOSTS)
    with pytest.raises(InvalidRegistries, match="names the registry 'adz'; here are payments, ads"):
        check_rows(known({**OF_ADS, "registry": ["ads", "adz"]}), HOSTS)


def test_rows_for_a_registry_that_is_served_elsewhere_choose_nothing_here() -> None:
    """A map is of all registries of a stage: where some have functions of their own, the pool is not asked."""
    rows = known({**OF_ADS, "registry": "walled"}, {**OF_BOTH, "registry": ["walled", "payments"]}, OF_BOTH)
    check_rows(rows, HOSTS, elsewhere=True)
    with pytest.raises(InvalidRegistries, match='names no "registry"'):
        check_rows(known({"when": {"sub": "*"}, "role": "reader"}), HOSTS, elsewhere=True)
    choice = Choice(HOSTS, rows)
    assert choice(headers("", bearer(groups="ads"), "walled")) == ""
    assert choice(headers("", bearer(groups="both"), "walled")) == ""
    assert choice(headers("", bearer(groups="both"), "payments")) == "payments"
    assert Choice(HOSTS, rows[:1])(headers("", bearer(groups="ads"))) == ""


def test_below_a_domain_each_registry_has_its_name() -> None:
    """Also those that are added later: one certificate, one record of the DNS."""
    choice = Choice(read(["payments=sr.example", "ads"], "Registry.example"))
    assert choice(headers("PAYMENTS.registry.example:443")) == "payments"
    assert choice(headers("ads.registry.example")) == "ads"
    assert choice(headers("sr.example")) == "payments"
    assert choice(headers("other.registry.example")) == ""
    for domain in ("*.example", "a b", "x/y"):
        with pytest.raises(InvalidRegistries, match="names no domain"):
            read(["ads"], domain)
    with pytest.raises(InvalidRegistries, match=r"x\.example is the host name of b: x needs another one"):
        read(["b=x.example", "x"], "example")


def test_rows_of_other_registries_say_nothing() -> None:
    """The first row that holds decides in each registry; who is a writer here may be a reader there."""
    (issuer,) = known(
        {**OF_ADS, "when": {"sub": "*"}}, {"when": {"sub": "*"}, "role": "reader", "registry": "payments"}, OF_BOTH
    )
    claims = {"sub": "etl", "groups": "both"}
    assert [issuer.row(claims, name) for name in ("ads", "payments", "third", "")] == [0, 1, None, 0]
    assert issuer.registries(claims) == ("ads", "payments")
    (single,) = known({"when": {"sub": "*"}, "role": "reader"})
    assert single.row(claims, "whichever") == 0


class Strict:
    """An authenticator that knows one header."""

    schemes = ("Basic",)

    def __init__(self, *accepted: bytes, slow: bool = False, may: str = "reader") -> None:
        self.accepted, self.slow, self.asked = accepted, slow, list[bytes | None]()
        self.principal = principal("etl", may, ()) if may else Principal("etl", ())

    def __call__(self, header: bytes | None) -> Principal | None:
        self.asked.append(header)
        found = self.principal if header in self.accepted else None
        if self.slow:
            raise Slow(lambda: found)
        return found


def test_a_registry_takes_its_own_name_behind_a_user_and_no_other() -> None:
    """The user of another registry is one that no key has, judged as every wrong one."""
    keys = Strict(basic("etl:s"))
    of_ads = OfRegistry("ads", keys)
    assert of_ads(basic("etl@ads:s"))
    assert of_ads(basic("etl:s"))
    for wrong in (
        basic("etl@payments:s"),
        basic("etl@ads@ads:s"),
        basic("etl@ads:t"),
        basic("@ads:s"),
        b"Basic !",
        None,
    ):
        assert of_ads(wrong) is None
    assert keys.asked[2] == basic("etl@payments:s")


def test_where_nothing_was_chosen_a_client_hears_how_to() -> None:
    """401 where credentials have to change, 403 for a token that is good for more than one, 404 without keys."""
    token, strangers = b"Bearer t", Strict(basic("etl:s"))
    unchosen = Unchosen(OfRegistry("ads", strangers), Strict(token))
    for said in (None, basic("etl:s"), basic("unknown:s"), b"Basic !", b"Digest x"):
        with pytest.raises(NoRegistryNamed):
            unchosen(said)
    assert not strangers.asked, "a key must not be tried against a registry that was not named"
    with pytest.raises(SeveralRegistries):
        unchosen(token)
    assert unchosen(basic("etl@unknown:s")) is None
    assert unchosen(b"Bearer forged") is None
    with pytest.raises(NoRegistryHere):
        Unchosen()(basic("etl:s"))


def test_where_nothing_was_chosen_no_credentials_let_anybody_in() -> None:
    """What stands there tells of all registries: a key of one of them must not open it, however it was sent."""
    let_in = Strict(basic("etl@ads:s"), basic("etl:s"))
    assert Unchosen(OfRegistry("ads", let_in))(basic("etl@ads:s")) is None


def test_a_token_that_is_good_for_nothing_is_told_so_and_one_that_takes_long_waits() -> None:
    """As in a registry that is alone: 403 without a word about others, and off the thread that answers."""
    nothing = Unchosen(OfRegistry("ads", Strict()), Strict(b"Bearer t", may=""))(b"Bearer t")
    assert nothing == Principal("etl", ())
    with pytest.raises(Slow) as slow:
        Unchosen(OfRegistry("ads", Strict()), Strict(b"Bearer t", slow=True))(b"Bearer t")
    with pytest.raises(SeveralRegistries):
        slow.value.answer()
