"""A role is read by each release that knows of roles: what is stored and told does not change with how it is held."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.regions.nouns import Joins, KnownBy, RegionKind, Role
from sigla.regions.role_form import form_of_role, role_of_form, told_token

TEXT = st.text(max_size=12)
URL = st.sampled_from(["http://b.example:8081", "https://b/path", "dynamodb+s3://table/bucket?region=eu-west-1", "://"])
HOW = st.sampled_from(["rejoining", "anew", "restored primary", "restored follower", "restored joining"])
NUMBER = st.integers(0, 2**53)
MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    "epoch": NUMBER,
    "kind": st.sampled_from(["primary", "follower", "joining"]),
    "peer": TEXT | URL,
    "open": st.booleans(),
    "token": TEXT | HOW,
    "reconciled": st.booleans(),
    "armed": NUMBER,
    "at": TEXT | URL,
    "name": TEXT,
    "lost": TEXT,
    "pair": TEXT,
    "adopts": st.booleans(),
    "traces": TEXT,
    "turn": NUMBER,
}
"""In the order in which they are written, which a drawn dictionary need not keep."""
FORM = st.fixed_dictionaries(MEMBERS).map(lambda form: {name: form[name] for name in MEMBERS})

FOLLOWED = (
    b'{"epoch":1,"kind":"primary","peer":"b-0f","open":true,"token":"","reconciled":true,"armed":1700000000000,'
    b'"at":"http://b:8081","name":"a-0e","lost":"","pair":"p","adopts":false,"traces":"","turn":2}'
)
BY_FORCE = (
    b'{"epoch":3,"kind":"primary","peer":"http://a:8081","open":true,"token":"","reconciled":false,"armed":0,"at":"",'
    b'"name":"b-0f","lost":"c-1","pair":"p","adopts":true,"traces":"c-1\\thttp://c\\t7","turn":9}'
)
FORGETS = (
    b'{"epoch":3,"kind":"joining","peer":"dynamodb+s3://a/a","open":true,"token":"rejoining","reconciled":false,'
    b'"armed":0,"at":"","name":"b-0f","lost":"","pair":"p","adopts":false,"traces":"","turn":4}'
)


@given(FORM)
def test_each_stored_role_is_written_as_it_was_read(form: dict[str, Any]) -> None:
    """Byte for byte: a release of before reads it."""
    stored = orjson.dumps(form)
    assert orjson.dumps(form_of_role(role_of_form(orjson.loads(stored)))) == stored


@given(FORM)
def test_what_the_other_region_is_told_of_a_token_is_what_is_stored(form: dict[str, Any]) -> None:
    assert told_token(role_of_form(form)) == form["token"]


@pytest.mark.parametrize("stored", [FOLLOWED, BY_FORCE, FORGETS])
def test_what_a_release_of_before_wrote_is_written_as_it_was(stored: bytes) -> None:
    assert orjson.dumps(form_of_role(role_of_form(orjson.loads(stored)))) == stored


def test_a_role_of_a_release_that_knew_less_is_read() -> None:
    form = {"epoch": 1, "kind": "follower", "peer": "http://a", "open": True, "token": "t", "reconciled": True}
    assert role_of_form(form) == Role(1, RegionKind.FOLLOWER, peer=KnownBy(url="http://a"), token="t")


def test_a_region_that_joins_has_no_token_of_a_promotion() -> None:
    """Why it joins is told in its place."""
    role = role_of_form(orjson.loads(FORGETS))
    assert (role.joins, role.token) == (Joins.FORGETS, "")
    was = Role(2, RegionKind.PRIMARY, token="t").restored()
    assert (was.joins, was.token, was.is_restored, was.was_primary) == (Joins.RESTORED_PRIMARY, "", True, True)
    assert [Role(2, kind).restored().was_primary for kind in RegionKind] == [True, False, False]


@given(FORM)
def test_a_region_is_known_by_its_name_or_by_a_url(form: dict[str, Any]) -> None:
    """Never by both, and by nothing where nothing is stored."""
    peer = role_of_form(form).peer
    assert (peer.name, peer.url) == (("", form["peer"]) if "://" in form["peer"] else (form["peer"], ""))
    assert bool(peer) == bool(form["peer"])
