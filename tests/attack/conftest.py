"""Where the registries live that are attacked on AWS: DynamoDB is its own engine, S3 is in this process."""

import pytest

from tests.attack.aws import Store
from tests.attack.world import Fresh
from tests.contract.aws import Account, engine, forgetful, moto, of_two_parts

__all__ = ["engine", "forgetful", "moto"]


@pytest.fixture
def fresh(engine: Account) -> Fresh:
    return lambda: Store(engine)


@pytest.fixture
def small(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> Fresh:
    """For those who run hundreds of worlds and look at each."""
    of_two_parts(monkeypatch)
    return fresh
