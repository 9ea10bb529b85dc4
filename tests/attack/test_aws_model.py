"""The registry on AWS against its model, each step on another instance: what one has written, the next one sees.

Their clocks are hours apart, and the journal is in order all the same.
"""

from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
from hypothesis import HealthCheck

from sigla.registry import Registry
from tests.attack.aws import Store
from tests.attack.test_model import RegistryAgainstModel, run
from tests.attack.world import Fresh, World
from tests.build import NOW, FixedClock

HOUR_MS = 3_600_000
CLOCKS = [FixedClock(NOW + ahead) for ahead in (0, 2 * HOUR_MS, HOUR_MS)]


def machine(fresh: Fresh) -> type[RegistryAgainstModel]:
    class AwsAgainstModel(RegistryAgainstModel):
        """An invariant costs more calls than a step."""

        looked_at = 10

        def begun(self) -> World:
            world = World(store=fresh())
            assert isinstance(world.store, Store)
            self.instances = cycle([Registry(*world.store.instance(), clock) for clock in CLOCKS])
            return world

        def both(self, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Any:
            self.registry = next(self.instances)
            return super().both(ours, theirs)

    return AwsAgainstModel


def test_the_registry_on_aws_does_as_its_model(small: Fresh) -> None:
    """A hundred steps: every answer, every list and every id agree; ids have no gaps without other writers."""
    against = machine(small)
    run(against, 3, 40, HealthCheck.too_slow)
    assert against.steps >= 60


@pytest.mark.soak
def test_the_registry_on_aws_does_as_its_model_for_long(small: Fresh) -> None:
    """Some thousand steps, in longer lives."""
    against = machine(small)
    run(against, 60, 100, HealthCheck.too_slow)
    assert against.steps >= 5_000
