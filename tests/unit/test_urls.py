"""What is the URL of a registry, and how one that is not is shown."""

import pytest

from sigla.remote.urls import has_user, is_misread, is_url, shown_url

URLS = ("http://sr", "https://sr.example/v1", "http://127.0.0.1:8081/", "http://[::1]:8081", "http://etl:s@sr")
NAMELESS = ("", "sr", "http://", "http://:80", "http://[::1", "http://a b", "http://a\x00", "http://etl:s@[::1")
OTHERS = (*NAMELESS, "https://sr:x", "http://sr:0", "http://sr:99999", "file:///etc/passwd")


def test_a_registry_can_be_asked_at_its_url() -> None:
    assert [url for url in URLS if not is_url(url)] == []


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_no_url_is_told_and_shown_without_its_secret(text: str) -> None:
    """An administrator of a region names any: it was answered with 500, and a traceback in the log."""
    assert not is_url(text)
    assert not has_user(text)
    assert not is_misread(text)
    assert "s@" not in shown_url(text)
