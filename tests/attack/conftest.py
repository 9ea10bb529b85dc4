"""Where the registries live that are attacked on AWS: S3 in this process, DynamoDB as its own engine.

For hundreds of worlds one after the other DynamoDB is in this process, too, at a third of the time: what an adapter
asks of it, the contract asks of the engine as well (tests/contract).
"""

import pytest

from tests.attack.aws import Store
from tests.attack.world import Fresh
from tests.contract.aws import Account, engine, forgetful, moto, of_two_parts

__all__ = ["engine", "forgetful", "moto"]


@pytest.fixture
def fresh(engine: Account) -> Fresh:
    return lambda: Store(engine)


@pytest.fixture
def small(moto: Account, monkeypatch: pytest.MonkeyPatch) -> Fresh:
    """For those who run hundreds of worlds and look at each."""
    of_two_parts(monkeypatch)
    return lambda: Store(moto)
