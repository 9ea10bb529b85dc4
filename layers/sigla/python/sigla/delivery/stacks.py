"""CloudFormation at work: a change set is proposed, carried out or discarded, and told of until it has ended."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from sigla.delivery.accounts import FAILURES, Unreachable, sentence
from sigla.delivery.changes import Change, of_a_change_set
from sigla.delivery.guard import EMPTY, NotDeployed
from sigla.ports.clock import Clock

CAPABILITIES: Final = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM")
PAUSE_S: Final = 2.0
"""Between two looks: CloudFormation takes seconds for a resource, and throttles those who ask more often."""
UNCHANGED: Final = ("didn't contain changes", "No updates are to be performed")
CANCELLED: Final = "cancelled"
"""What CloudFormation says of resources that fail only because another one has."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change set. id: its ARN. is_new: whether the stack begins with it. is_empty: whether nothing changes.

    changes: of resources; empty where only outputs or tags change.
    """

    id: str
    is_new: bool
    changes: list[Change]
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Stacks:
    """One stack of an account. client: of CloudFormation. tell: a person, each event."""

    client: Any
    name: str
    clock: Clock
    tell: Callable[[str], None] = lambda _: None
    seen: set[str] = field(default_factory=set)

    def propose(self, template_url: str, *, is_new: bool, tags: Mapping[str, str]) -> Proposal:
        """What the template would change. Raises NotDeployed, Unreachable."""
        with _asking("make a change set"):
            made = self.client.create_change_set(
                StackName=self.name,
                ChangeSetName=f"sigla-{uuid4().hex}",
                ChangeSetType="CREATE" if is_new else "UPDATE",
                TemplateURL=template_url,
                Capabilities=list(CAPABILITIES),
                Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
            )
        proposal = Proposal(made["Id"], is_new, [])
        try:
            return self._described(proposal)
        except BaseException:
            self.discard(proposal)
            raise

    def _described(self, proposal: Proposal) -> Proposal:
        while True:
            with _asking("describe the change set"):
                told = self.client.describe_change_set(ChangeSetName=proposal.id, StackName=self.name)
            if told["Status"] not in ("CREATE_PENDING", "CREATE_IN_PROGRESS"):
                break
            self.clock.sleep(PAUSE_S)
        reason = told.get("StatusReason", "")
        is_empty = told["Status"] == "FAILED"
        if is_empty and not any(each in reason for each in UNCHANGED):
            raise NotDeployed(f"CloudFormation refused the change set: {_ended_by_a_dot(reason)}", 1)
        changes = list(told.get("Changes", []))
        while token := told.get("NextToken"):
            with _asking("describe the change set"):
                told = self.client.describe_change_set(ChangeSetName=proposal.id, StackName=self.name, NextToken=token)
            changes += told.get("Changes", [])
        return Proposal(proposal.id, proposal.is_new, of_a_change_set(changes), is_empty)

    def discard(self, proposal: Proposal) -> None:
        """Removes it, with the stack that would have begun with it. What is left of it harms nothing."""
        with suppress(*FAILURES):
            self.client.delete_change_set(ChangeSetName=proposal.id, StackName=self.name)
        if proposal.is_new:
            with suppress(*FAILURES):
                (there,) = self.client.describe_stacks(StackName=self.name)["Stacks"]
                if there["StackStatus"] == EMPTY:
                    self.client.delete_stack(StackName=self.name)

    def carry_out(self, proposal: Proposal, since: datetime) -> None:
        """Returns when CloudFormation has done it. since: the time of the last event before it.

        Raises NotDeployed with what failed, Unreachable.
        """
        with _asking("carry out the change set"):
            self.client.execute_change_set(ChangeSetName=proposal.id, StackName=self.name)
        status = self._ended(since)
        if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            raise NotDeployed(self._failure(status, since), 1)

    def protect(self, *, protected: bool) -> None:
        """Protects a stack from deletion, or no longer. Raises Unreachable."""
        with _asking("change the protection of the stack"):
            self.client.update_termination_protection(StackName=self.name, EnableTerminationProtection=protected)

    def template(self) -> Mapping[str, Any]:
        """The template of the stack that is there. Raises Unreachable."""
        with _asking("show the stack's template"):
            body = self.client.get_template(StackName=self.name)["TemplateBody"]
        told: Mapping[str, Any] = body
        return told

    def delete(self, id: str) -> None:
        """Takes its protection off, and returns when it is gone. id: its ARN, under which it is found afterwards.

        A stack that CloudFormation did not begin to delete is protected again. Raises NotDeployed, Unreachable.
        """
        since = self.newest_event()
        self.protect(protected=False)
        try:
            with _asking("delete the stack"):
                self.client.delete_stack(StackName=self.name)
        except Unreachable:
            with suppress(Unreachable):
                self.protect(protected=True)
            raise
        status = Stacks(self.client, id, self.clock, self.tell, self.seen)._ended(since)  # noqa: SLF001 - of this class
        if status != "DELETE_COMPLETE":
            raise NotDeployed(self._failure(status, since), 1)

    def id(self) -> str:
        """Its ARN. Raises Unreachable."""
        with _asking("describe the stack"):
            return str(self.client.describe_stacks(StackName=self.name)["Stacks"][0]["StackId"])

    def _ended(self, since: datetime) -> str:
        """The status in which it comes to rest; each event until then is told."""
        while True:
            for event in self._events(since):
                if event["EventId"] not in self.seen:
                    self.seen.add(event["EventId"])
                    self.tell(f"{event['ResourceStatus']:<28} {event['ResourceType']}  {event['LogicalResourceId']}")
            with _asking("describe the stack"):
                status = str(self.client.describe_stacks(StackName=self.name)["Stacks"][0]["StackStatus"])
            if not status.endswith("_IN_PROGRESS"):
                return status
            self.clock.sleep(PAUSE_S)

    def _events(self, since: datetime) -> list[dict[str, Any]]:
        """Those that came later, the first one first."""
        found = []
        with _asking("show the stack's events"):
            for page in self.client.get_paginator("describe_stack_events").paginate(StackName=self.name):
                new = [event for event in page["StackEvents"] if event["Timestamp"] > since]
                found += new
                if len(new) < len(page["StackEvents"]):
                    break
        return found[::-1]

    def newest_event(self) -> datetime:
        """The time of the last event, by CloudFormation's clock and not by this machine's. Raises Unreachable."""
        with _asking("show the stack's events"):
            events = self.client.describe_stack_events(StackName=self.name)["StackEvents"]
        newest: datetime = max((event["Timestamp"] for event in events), default=datetime.min.replace(tzinfo=UTC))
        return newest

    def _failure(self, status: str, since: datetime) -> str:
        """The resource that failed first, and why: all others failed because it did."""
        for event in self._events(since):
            reason = event.get("ResourceStatusReason", "")
            if event["ResourceStatus"].endswith("_FAILED") and CANCELLED not in reason.lower():
                what = f"{event['LogicalResourceId']} ({event['ResourceType']}) failed: {_ended_by_a_dot(reason)}"
                return f"The stack {self.name} is {status}: {what}"
        return f"The stack {self.name} is {status}: its events in CloudFormation say why."


def _ended_by_a_dot(reason: str) -> str:
    return f"{' '.join(reason.split()).rstrip('.')}."


@contextmanager
def _asking(what: str) -> Iterator[None]:
    """Raises Unreachable."""
    try:
        yield
    except FAILURES as failure:
        raise Unreachable(f"CloudFormation did not {what}: {sentence(failure)}") from None
