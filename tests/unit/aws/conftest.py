"""Accounts for every test of an adapter."""

from collections.abc import Iterator

import pytest

from tests.contract.aws import Account, AwsStores, forgetful, moto

__all__ = ["forgetful", "moto"]


@pytest.fixture
def stores(moto: Account) -> Iterator[AwsStores]:
    """A fresh registry, in this process."""
    with moto.stores() as made:
        yield made
