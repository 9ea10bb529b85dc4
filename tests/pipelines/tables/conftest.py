"""What tests of lakes share with those of landing."""

from tests.pipelines.land.conftest import bucket, unsynced

__all__ = ["bucket", "unsynced"]
