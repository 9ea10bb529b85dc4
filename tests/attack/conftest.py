"""Where the registries live that are attacked on AWS: DynamoDB is its own engine, S3 is in this process."""

import pytest

from sigla import keys
from sigla.aws import journal, places
from tests.attack.aws import Store
from tests.attack.world import Fresh
from tests.contract.aws import Account, engine, moto

__all__ = ["engine", "moto"]


@pytest.fixture
def fresh(engine: Account) -> Fresh:
    return lambda: Store(engine)


@pytest.fixture
def small(fresh: Fresh, monkeypatch: pytest.MonkeyPatch) -> Fresh:
    """Each list is merged of two parts instead of sixteen: for those who run hundreds of worlds and look at each."""
    monkeypatch.setattr(keys, "LIST_SHARDS", 2)
    monkeypatch.setattr(places, "JOURNAL_SHARDS", 2)
    monkeypatch.setattr(journal, "JOURNAL_SHARDS", 2)
    return fresh
