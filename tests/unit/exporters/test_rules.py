"""Which subjects an exporter takes, what they are called at the destination, and what of its settings is secret."""

from dataclasses import replace

import pytest

from sigla.exporters.nouns import ContextType, Exporter
from sigla.exporters.rules import destination_subject, is_secret, renamed_kek, takes
from sigla.model import Subject
from sigla.rules import names

AUTO, CUSTOM, NONE, DEFAULT = ContextType
PLACES = ("orders", "orders-value", "a*", ":.c:orders", ":.cc:orders")


@pytest.mark.parametrize(
    "patterns, taken",
    [
        (("*",), ("orders", "orders-value", "a*")),
        (("orders",), ("orders",)),
        ((":.:orders",), ("orders",)),
        (("orders*",), ("orders", "orders-value")),
        (("orders", "a*"), ("orders", "a*")),
        ((":*:*",), PLACES),
        ((":*:",), PLACES),
        ((":*:orders",), ("orders", ":.c:orders", ":.cc:orders")),
        ((":.c:*",), (":.c:orders",)),
        ((":.c:",), (":.c:orders",)),
        ((":.c:ord*",), (":.c:orders",)),
        ((":.c:ord",), ()),
        ((":.c*",), (":.c:orders", ":.cc:orders")),
    ],
)
def test_a_subject_is_taken_by_its_name_or_by_how_it_begins(patterns: tuple[str, ...], taken: tuple[str, ...]) -> None:
    """A star alone is the default context, as everywhere in the API: other contexts are named."""
    exporter = Exporter("e", subjects=patterns)
    assert tuple(each for each in PLACES if takes(exporter, names.subject(each))) == taken


@pytest.mark.parametrize(
    "kind, context, there",
    [
        (NONE, "", ("s", ":.c:s")),
        (DEFAULT, "", ("s", "s")),
        (CUSTOM, ".d", (":.d:s", ":.d.c:s")),
        (CUSTOM, ".", ("s", ":.c:s")),
        (AUTO, "", (":.here:s", ":.here.c:s")),
    ],
)
def test_a_context_of_the_source_has_its_place_at_the_destination(
    kind: ContextType, context: str, there: tuple[str, str]
) -> None:
    """Ids are unique within a context: two of the source must not meet in one of the destination."""
    exporter = Exporter("e", context_type=kind, context=context)
    told = tuple(destination_subject(exporter, Subject(each, "s"), "here").qualified for each in (".", ".c"))
    assert told == there


def test_names_are_put_into_the_format_and_contexts_are_not() -> None:
    """A context as a whole has settings, too, under an empty name."""
    exporter = Exporter("e", context_type=NONE, subject_rename_format="dc_${subject}", kek_rename_format="dc_${kek}")
    assert destination_subject(exporter, Subject(".c", "s"), "here") == Subject(".c", "dc_s")
    assert destination_subject(exporter, Subject(".c", ""), "here") == Subject(".c", "")
    assert renamed_kek(exporter, "k") == "dc_k"
    assert renamed_kek(replace(exporter, kek_rename_format=""), "k") == "k"


def test_a_setting_is_secret_unless_it_is_known_to_tell_nothing() -> None:
    """A setting that this release has never heard of may be a password."""
    plain = ("schema.registry.url", "basic.auth.credentials.source", "bearer.auth.credentials.source")
    assert not any(map(is_secret, plain))
    assert is_secret("basic.auth.user.info")
    assert is_secret("schema.registry.ssl.keystore.password")
    assert is_secret("Schema.Registry.Url")
