"""What comes to `/regions/…` from whoever may ask there: it is refused in words, and changes nothing."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.auth.guesses import Guesses
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import FixedClock
from tests.served_region import region_alone
from tests.unit.web.conftest import Client


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Client, EmbeddedStore]]:
    with EmbeddedStore() as store, ExitStack() as until:
        region = region_alone(store, None, Guesses(FixedClock()), until)
        registry = Registry(store.catalog, store.bodies, FixedClock())
        yield Client(app.build(registry, beside=region.routes)), store


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NUMBER = st.integers().map(str) | st.sampled_from(["", "0", "1", "01", "1e3", "0x1", "½", "١", "1_0", "inf"])
VALUE = {
    "follower": st.text(max_size=8),
    "after": NUMBER,
    "hash": st.text(max_size=8),
    "epoch": NUMBER,
    "wait": NUMBER,
    "ceilings": st.sampled_from(["all", "", "x"]),
    "heard": JSON.map(json.dumps) | st.text(max_size=8),
    "served": st.text(max_size=8) | st.sampled_from(["http://:1", "http://x:y", "://:", "http://[", "file://x"]),
}


@given(query=st.fixed_dictionaries({}, optional=VALUE), raw=st.text(max_size=6))
def test_whatever_a_question_says_it_is_refused_in_our_words(
    served: tuple[Client, EmbeddedStore], query: dict[str, str], raw: str
) -> None:
    client, store = served
    said = urlencode(query, errors="replace")
    for target in (f"/regions/journal?{said}", f"/regions/journal?{said}&{raw.encode().hex()}=%ff%00"):
        answer = client("GET", target)
        assert answer.status in (400, 422), answer
        assert set(answer.json) == {"error_code", "message"}
    assert store.region.role() is None, "a question alone makes no primary"
