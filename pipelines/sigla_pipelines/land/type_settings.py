"""The part `types` of `land.yaml`."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sigla_pipelines.land.decoders.times import CHOICES, As, Times


class TypesPart(BaseModel):
    """How columns say times that they have been text, or numbers, for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date_time: As = Field(default=As.PLAIN, alias="date-time")
    date: As = As.PLAIN
    time: As = As.PLAIN
    duration: As = As.PLAIN
    nanos: As = As.PLAIN
    debezium: As = As.PLAIN

    @model_validator(mode="before")
    @classmethod
    def _known(cls, said: Any) -> Any:
        for name, chosen in said.items() if isinstance(said, dict) else ():
            choices = [each.value for each in CHOICES.get(name, ())]
            if name not in CHOICES:
                raise ValueError(f"unknown type {name}. Valid types: {', '.join(CHOICES)}")
            if chosen not in choices:
                raise ValueError(f"invalid value of {name}: expected one of {', '.join(choices)}")
        return said

    @property
    def times(self) -> Times:
        return Times(self.date_time, self.date, self.time, self.duration, self.nanos, self.debezium)
