"""What attacks on landing share with the tests of it."""

from tests.pipelines.land.conftest import unsynced

__all__ = ["unsynced"]
