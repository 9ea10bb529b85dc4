"""Another registry's URL: what is no such URL, and who may not read all of it."""

import pytest

from sigla.cli import remote
from sigla.cli.misuse import Misuse
from tests.build import FixedClock


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
