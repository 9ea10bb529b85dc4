"""`maintain` in `land.yaml`: how far the upkeep of Iceberg tables goes."""

from datetime import timedelta
from typing import Self

from pydantic import Field, model_validator

from sigla_pipelines.land.setting_values import Duration, Part, Size


class MaintainPart(Part):
    """How `maintain` keeps Iceberg tables. target: the size of a compacted file. min_files: fewer of a partition stay.

    snapshots, orphans: the age they reach.
    """

    target: Size = 256 * 2**20
    min_files: int = Field(default=5, ge=2, lt=2**31)
    snapshots: Duration = timedelta(days=5)
    orphans: Duration = timedelta(days=7)

    @model_validator(mode="after")
    def _careful(self) -> Self:
        if self.orphans < timedelta(days=1):
            raise ValueError("expected at least 1d for `orphans`: a younger file may belong to a commit in progress")
        return self
