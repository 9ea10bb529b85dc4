"""Contexts come with their first schema and go when they are told to (CTX-1 to CTX-5)."""

import pytest

from sigla.errors import ContextNotEmpty
from sigla.model import Page
from sigla.registry import Registry
from tests.unit.registry.tell import ALL, register, s


def test_a_context_appears_with_its_first_schema(registry: Registry) -> None:
    """Settings alone do not make one; the default one is always first (CTX-1)."""
    registry.change_config(s(":.z:"), {"level": "NONE"})
    registry.change_mode(s(":.y:a"), "READONLY")
    for subject in (":.b:a", ":.a:a", ":.\U0001f600:a", ":.\uff5e:a"):
        register(registry, subject)
    assert registry.contexts(page=ALL) == [".", ".a", ".b", ".\U0001f600", ".\uff5e"]


def test_contexts_are_listed_by_prefix_and_in_pages(registry: Registry) -> None:
    """The prefix first, then the window."""
    for subject in (":.aa:s", ":.ab:s", ":.b:s"):
        register(registry, subject)
    assert registry.contexts(".a", page=ALL) == [".aa", ".ab"]
    assert registry.contexts("", page=Page(1, 2)) == [".aa", ".ab"]
    assert registry.contexts("x", page=ALL) == []


def test_a_context_goes_only_when_it_is_empty(registry: Registry) -> None:
    """Soft-deleted versions are not nothing (CTX-2, CTX-3); what never was is gone already (CTX-4)."""
    register(registry, ":.c:a")
    for step in (lambda: None, lambda: registry.delete_subject(s(":.c:a"))):
        step()
        with pytest.raises(ContextNotEmpty) as refused:
            registry.drop_context(".c")
        assert refused.value.message == "The specified context ':.c:' is not empty."
    registry.delete_subject(s(":.c:a"), permanent=True)
    assert registry.contexts(page=ALL) == [".", ".c"]
    registry.drop_context(".c")
    registry.drop_context(".never")
    assert registry.contexts(page=ALL) == ["."]


def test_a_dropped_context_keeps_its_settings_and_its_numbers(registry: Registry) -> None:
    """A client that comes back finds the mode it left, and no id twice (CTX-5)."""
    register(registry, ":.c:a")
    registry.delete_subject(s(":.c:a"))
    registry.delete_subject(s(":.c:a"), permanent=True)
    registry.change_config(s(":.c:"), {"level": "NONE"})
    registry.drop_context(".c")
    assert registry.config(s(":.c:")).level == "NONE"
    assert register(registry, ":.c:a").id == 2
    assert registry.contexts(page=ALL) == [".", ".c"]
