"""Where a registry is, said as a URL: the scheme alone chooses the kind of store."""

from pathlib import Path

import pytest

from sigla import opening
from sigla.model import Subject
from sigla.settings import Address, InvalidSetting
from sigla.stores import kinds
from tests.build import a_draft

POINT = "arn:aws:s3:eu-central-1:123456789012:accesspoint/schemas"


@pytest.mark.parametrize("path", ["data", "/srv/sigla", "//srv", "a b#c?d%20e", "\udcff"])
def test_a_directory_keeps_its_name_in_a_url(path: str) -> None:
    address = Address.of(data=path)
    assert (address.scheme, address.path, str(address)) == ("file", path, path)


def test_options_of_today_are_addresses() -> None:
    """A bucket alone has the bodies; its name may be the ARN of an access point, with slashes of its own."""
    assert Address.of().url == "memory:"
    assert Address.of(data="/srv/sigla").url == "file:///srv/sigla"
    assert Address.of(bucket="b").url == "s3://b"
    both = Address.of(bucket=POINT, table="t", registry="orders")
    assert (both.url, both.names, both.registry) == (f"dynamodb+s3://t/{POINT}", ("t", POINT), "orders")
    assert str(both) == f"s3://{POINT} and the table t"


def test_an_unknown_kind_of_store_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidSetting, match=r"Unknown kind of store 'redis'\. Valid kinds: file, memory, dynamodb"):
        opening.reading(Address("redis://here"))


def test_every_kind_offers_what_is_asked_of_kinds() -> None:
    """A row is only worth something if whoever chooses by the scheme finds the same verbs behind it."""
    for row in (*kinds.STORES.values(), *kinds.BODIES.values()):
        kind = row()
        assert callable(kind.bodies)
        assert callable(kind.keys)
    assert {scheme: row().shared for scheme, row in kinds.STORES.items()} == {
        "file": False,
        "memory": False,
        "dynamodb+s3": True,
    }


def test_a_registry_is_written_and_read_by_its_url(tmp_path: Path) -> None:
    where = Address(f"file://{tmp_path}/my%20data")
    orders = Subject(".", "orders")
    with opening.writing(where) as writing:
        writing.registry.register(orders, a_draft())
    with opening.reading(where) as store:
        assert [row.version for row in store.catalog.history(orders)] == [1]
    assert (tmp_path / "my data" / "catalog.sqlite").is_file()
