"""Another registry's URL: what is no such URL, and who may not read all of it."""

from pathlib import Path
from typing import Any

import pytest

from sigla.cli import remote
from sigla.cli.misuse import Misuse, Refused
from sigla.embedded.keys import EmbeddedKeys
from sigla.registry import Registry
from tests.build import FixedClock
from tests.unit.auth.guarded import SUBJECTS, guarded
from tests.unit.cli.answering import Answer, behind_a_url
from tests.unit.web.test_permissions_stories import asking


def read(answer: Answer) -> Any:
    with behind_a_url(answer) as url:
        return remote.read(url, "", FixedClock(), lambda *_: None)


def as_seen_by(who: str, registry: Registry) -> Answer:
    """who: a role and its prefixes."""
    ask = asking(registry)

    def answer(path: str, _: str) -> tuple[int, str]:
        answered = ask(who, "GET", path)
        return answered.status, answered.text

    return answer


@pytest.mark.parametrize("path", ["/contexts/.ctx", "/api/contexts/.ctx/", "/contexts/%3A.ctx%3A"])
def test_one_context_alone_is_not_imported(path: str) -> None:
    """It has no settings for everybody: under it those are the context's own."""
    with pytest.raises(Misuse, match=r"whole, with all of its contexts: give http://h(/api)?\.$"):
        remote.read(f"http://u:secret@h{path}", "", FixedClock(), lambda *_: None)


def test_a_path_may_lead_to_a_registry() -> None:
    """Which stands behind others."""
    assert remote.Remote("http://u:secret@h/api/", "", FixedClock()).shown == "http://h/api/"


@pytest.mark.parametrize("rest", ["?a=1", "/x?a=1", "#a"])
def test_a_url_with_more_than_a_path_is_refused(rest: str) -> None:
    with pytest.raises(Misuse, match=r"no query and no fragment: give http://h(/x)?\.$"):
        remote.Remote(f"http://h{rest}", "", FixedClock())


@pytest.mark.parametrize("who", ["reader a-", "reader :.:", "reader :*:a- :.team:", "admin :.team:"])
def test_a_key_for_a_part_imports_nothing(tmp_path: Path, who: str) -> None:
    """Lists leave out the rest, and nobody would be told that it is missing."""
    with (
        guarded(EmbeddedKeys(tmp_path), {}) as world,
        pytest.raises(Refused, match="does not let these credentials read everything"),
    ):
        read(as_seen_by(who, world.registry))


@pytest.mark.parametrize("who", ["reader", "reader :*:"])
def test_a_key_for_everything_imports_everything(tmp_path: Path, who: str) -> None:
    with guarded(EmbeddedKeys(tmp_path), {}) as world:
        assert {str(subject) for subject in read(as_seen_by(who, world.registry)).subjects} >= set(SUBJECTS)
