"""What an operator may write into SIGLA_ISSUERS, and what is said of what is wrong."""

import json
from typing import Any

import pytest

from sigla.auth.tokens.issuers import ConsoleClient, InvalidIssuers, read
from sigla.settings import InvalidSetting, Settings

ROW = {"when": {"groups": "data-eng"}, "role": "writer", "subjects": ["orders-"]}
ISSUER = {"issuer": "https://id.example/realms/data", "audience": "sigla", "map": [ROW]}


def with_row(**changed: Any) -> dict[str, Any]:
    row = {name: value for name, value in {**ROW, **changed}.items() if value is not None}
    return {**ISSUER, "map": [row]}


def test_an_issuer_is_read_with_its_map() -> None:
    """An audience may be one or several; without subjects a row is good for all."""
    first, second = read(
        json.dumps([ISSUER, {**with_row(subjects=None), "issuer": "https://b", "audience": ["x", "y"]}])
    )
    assert (first.audiences, first.jwks, first.map[0].subjects) == (("sigla",), "", ("orders-",))
    assert (second.audiences, second.map[0].subjects) == (("x", "y"), ())


@pytest.mark.parametrize(
    "told, why",
    [
        ({}, "It is not a list of issuers"),
        ([1], "issuer 1 is not an object"),
        ([{**ISSUER, "mapp": []}], "unknown mapp. Valid: audience, console, issuer, jwks, map"),
        ([{**ISSUER, "issuer": ""}], "issuer must be a text"),
        (
            [{**ISSUER, "issuer": "http://id.example"}],
            "is not a URL with https://: set jwks",
        ),
        ([{**ISSUER, "issuer": "https://id.example?tenant=a"}], "set jwks"),
        ([{**ISSUER, "issuer": "https://me@id.example"}], "cannot be the name of an issuer"),
        (
            [{**ISSUER, "jwks": "http://id.example/keys"}],
            "jwks is 'http://id.example/keys'; it must",
        ),
        ([{**ISSUER, "jwks": "https://me:secret@id.example/keys"}], "it must be a URL with https://"),
        ([{**ISSUER, "jwks": "file:///etc/passwd"}], "or the path of a file"),
        ([{**ISSUER, "audience": []}], "audience must be a text, or a list of texts"),
        ([{**ISSUER, "audience": None}], "audience must be a text, or a list of texts"),
        ([{**ISSUER, "map": []}], "map must be a list of rows"),
        ([ISSUER, ISSUER], "is there twice"),
        ([{**ISSUER, "console": "c"}], "issuer 1, console is not an object"),
        ([{**ISSUER, "console": {}}], "issuer 1, console: client must be a text"),
        ([{**ISSUER, "console": {"client": "c", "secret": "s"}}], "console: unknown secret. Valid: client, scope"),
        ([{**ISSUER, "console": {"client": "c", "scope": "sigla"}}], "scope is 'sigla'; it must have the word openid"),
        ([{**ISSUER, "console": {"client": "c", "scope": ["openid"]}}], "it must have the word openid"),
        (
            [{**ISSUER, "issuer": "accounts.example", "jwks": "https://id.example/keys", "console": {"client": "c"}}],
            "is not a URL with https://, where a browser could sign in",
        ),
        (
            [{**ISSUER, "issuer": "https://id.example;script-src", "console": {"client": "c"}}],
            "is not a URL with https://, where a browser could sign in",
        ),
        ([with_row(when={})], "when must name a claim"),
        ([with_row(when={"groups": ["a"]})], "a claim is compared with a text"),
        ([with_row(when={"groups": ""})], "a claim is compared with a text"),
        ([with_row(when={"sub": "a*b"})], "* may be the last character alone"),
        ([with_row(when={"sub": "**"})], "* may be the last character alone"),
        ([with_row(role="root")], "row 1 of map: Unknown role 'root'. Valid roles: reader, writer, admin"),
        ([with_row(delete="yes")], "row 1 of map: delete is 'yes'; it must be true or false"),
        ([with_row(role="reader", delete=True)], "row 1 of map: A reader cannot delete"),
        ([with_row(subjects="orders-*")], "would mean names with a star"),
        ([with_row(subjects=[""])], "subjects must be a text, or a list of texts"),
        ([with_row(role="admin", subjects=None, when={"sub": "*"})], "an admin of everything needs conditions without"),
        ([with_row(role="admin", subjects=[":*:"], when={"sub": "a", "groups": "b*"})], "an admin of everything"),
        ([with_row(subjects=[])], "subjects names none; leave it out where all subjects are meant"),
    ],
)
def test_a_mistake_is_told_with_its_place(told: object, why: str) -> None:
    """One sentence at the start, instead of a 403 without a reason."""
    with pytest.raises(InvalidIssuers) as wrong:
        read(json.dumps(told))
    assert why in str(wrong.value)


def test_what_is_no_json_and_what_says_a_thing_twice_is_told() -> None:
    """A second map under the same name would be passed by."""
    with pytest.raises(InvalidIssuers, match="It is not JSON"):
        read("[{]")
    with pytest.raises(InvalidIssuers, match="It is not JSON"):
        read("[" * 100_000)
    with pytest.raises(InvalidIssuers, match="'map' occurs twice"):
        read('[{"map": [], "map": []}]')


def test_an_admin_of_a_part_may_be_known_by_a_prefix() -> None:
    assert read(json.dumps([with_row(role="admin", when={"sub": "arn:aws:iam::1:role/*"})]))


def test_an_issuer_with_keys_of_its_own_place_needs_no_url() -> None:
    """Kubernetes calls its issuer what it likes; a path is read from this machine."""
    for jwks in ("https://keys.example/jwks.json", "/etc/sigla/keys.json", "keys.json"):
        assert read(json.dumps([{**ISSUER, "issuer": "kubernetes/serviceaccount", "jwks": jwks}]))


def test_tokens_and_an_open_registry_exclude_each_other() -> None:
    """No caller would be asked for one."""
    with pytest.raises(InvalidSetting, match="SIGLA_AUTH=none opens the registry to every caller"):
        Settings.read({"SIGLA_ISSUERS": json.dumps([ISSUER]), "SIGLA_AUTH": "none"})


def test_people_sign_in_to_the_console_by_a_public_client_with_openid_at_least() -> None:
    (plain,) = read(json.dumps([{**ISSUER, "console": {"client": "sigla-console"}}]))
    assert plain.console == ConsoleClient("sigla-console", "openid")
    (without,) = read(json.dumps([ISSUER]))
    assert without.console is None
