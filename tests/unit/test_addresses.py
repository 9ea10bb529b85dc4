"""Where a registry is, said as a URL: the scheme alone chooses the kind of store."""

from pathlib import Path

import pytest

from sigla import opening
from sigla.model import Subject
from sigla.settings import Address, InvalidSetting, Settings
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


@pytest.mark.parametrize("url", ["data", "", "file:", "memory:data", "dynamodb+s3://t", "dynamodb+s3://t/", "s3://b"])
def test_a_url_that_names_no_whole_store_is_refused_with_those_that_do(url: str) -> None:
    """A forgotten bucket must not be another registry, and a forgotten directory not the one that one is in."""
    with pytest.raises(InvalidSetting, match=r"expected file:DIR, memory: or dynamodb\+s3://TABLE/BUCKET\.$"):
        Address.read(url)


def test_a_function_is_told_its_store_by_one_url_or_by_its_parts() -> None:
    by_parts = Settings.read({"SIGLA_TABLE": "t", "SIGLA_BUCKET": "b", "SIGLA_IDENTITY": "0" * 32})
    by_url = Settings.read({"SIGLA_STORE": "dynamodb+s3://t/b", "SIGLA_IDENTITY": "0" * 32})
    assert by_url.address == by_parts.address
    assert Settings.read({"SIGLA_STORE": "file:data"}).address == Settings.read({"SIGLA_DATA": "data"}).address


@pytest.mark.parametrize(
    "given, why",
    [
        ({"SIGLA_STORE": "memory:", "SIGLA_DATA": "data"}, "leave out SIGLA_TABLE, SIGLA_BUCKET and SIGLA_DATA"),
        ({"SIGLA_STORE": "file:"}, "SIGLA_STORE: Invalid address of a store 'file:'"),
        ({"SIGLA_STORE": "file:data", "SIGLA_IDENTITY": "0" * 32}, "SIGLA_IDENTITY is that of a table and a bucket"),
        ({"SIGLA_STORE": "file:data", "SIGLA_RING": "valkey://h:1"}, "SIGLA_RING keeps what is in a bucket"),
    ],
)
def test_a_store_that_is_said_twice_or_not_wholly_is_refused(given: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidSetting, match=why):
        Settings.read(given)


def test_every_kind_offers_what_is_asked_of_kinds() -> None:
    """A row is only worth something if whoever chooses by the scheme finds the same verbs behind it."""
    for open_kind in (*(row.kind for row in kinds.STORES.values()), *kinds.BODIES.values()):
        kind = open_kind()
        assert callable(kind.bodies)
        assert callable(kind.keys)
    assert {scheme: row.shared for scheme, row in kinds.STORES.items()} == {
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
