"""The part `dead_letter` of `land.yaml`."""

import re
from collections.abc import Container, Iterable
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

TOPIC: Final = "^[a-zA-Z0-9._-]{1,249}$"
"""Source: Kafka's `Topic.validate`."""


class DeadLetterPart(BaseModel):
    """topic: where records of the quarantine are sent, too; `{topic}` in it is the record's own.

    brokers, options: of Kafka's producer; those of a source of Kafka if no brokers are said.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    topic: str = Field(min_length=1)
    brokers: str = ""
    options: dict[str, str] = {}

    def topic_of(self, topic: str) -> str:
        return self.topic.replace("{topic}", topic)

    def reached(self, source: Any) -> tuple[str, dict[str, str]]:
        """Brokers and options. source: of the job; one of Kafka has both."""
        if self.brokers:
            return self.brokers, self.options
        return getattr(source, "brokers", ""), getattr(source, "options", {}) | self.options

    def check(self, topics: Iterable[str], bound: Container[str], source: Any) -> None:
        """topics: that are landed, of a pattern one. bound: all of them. Raises ValueError."""
        if not self.reached(source)[0]:
            raise ValueError("set `dead_letter.brokers`: a source of files has no brokers")
        for topic in topics:
            name = self.topic_of(topic)
            if not re.fullmatch(TOPIC, name):
                raise ValueError(f"invalid topic name '{name}': choose another `dead_letter.topic`")
            if name in bound:
                raise ValueError(
                    f"dead letters of {topic} would be landed again: `bind` names their topic {name}, too; where a "
                    "pattern does, `skip` it"
                )
