"""The settings `events.…`."""

import re
from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together, is_known


@dataclass(frozen=True, slots=True)
class EventChoices:
    """Events of what is changed.

    bus: of EventBridge, which gets one for each commit of each registry that the journal's function serves: `default`,
        the name of another bus with rules and targets in the stack's account, or the ARN of one; empty: none does.
    """

    bus: str = ""

    @property
    def region(self) -> str:
        """The region of an ARN; empty where the stack's own is meant."""
        return self.bus.split(":")[3] if self.bus.startswith("arn:") else ""

    def arn(self, partition: str, region: str, account: str) -> str:
        """The ARN; of a name, one of these. What is known at the deployment alone is an ARN. Empty without a bus."""
        if not self.bus or self.bus.startswith("arn:") or not is_known(self.bus):
            return self.bus
        return f"arn:{partition}:events:{region}:{account}:event-bus/{self.bus}"


_BUS = re.compile(r"((arn:aws[\w-]*:events:[a-z0-9-]+:\d{12}:event-bus/)?[.\-\w]{1,256})?", re.ASCII)
"""Source: EventBridge API Reference, "PutEventsRequestEntry". Those with subscribers have another API."""

RULES: Rules = {
    "bus": (
        _BUS.fullmatch,
        "it must be default, the name or the ARN of an event bus with rules (…:event-bus/NAME), or empty",
    ),
}

TOGETHER: Together = ()
