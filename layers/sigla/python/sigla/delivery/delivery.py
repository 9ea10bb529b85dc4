"""A stage on its way into an account without CDK: compared, shown, asked about, deployed; a stack on its way out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3

from sigla.delivery.accounts import FAILURES, Account, Unreachable, sentence
from sigla.delivery.bucket import PackagesBucket
from sigla.delivery.changes import Change, kept_resources, of_a_new_stack, summary_of
from sigla.delivery.guard import FAILED, Guard, NotDeployed
from sigla.delivery.stacks import Proposal, Stacks
from sigla.delivery.templates import template_for, zipped
from sigla.deployment.settings import Settings
from sigla.deployment.targets import Stack
from sigla.deployment.translation import Released, Template, placed_settings
from sigla.ports.clock import Clock
from sigla.terminal.statuses import INTERRUPTED

Ask = Callable[[str], bool]
"""Puts a question to a person; whether the answer is yes."""

DATA: Final = {"BucketName": "bucket", "TableName": "table"}
"""What a stack leaves, by names of outputs."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A stage, and the account that it goes to.

    guard: has the stage and what a person is told by. packages: a folder of a release with zips; None: they are built
    here.
    """

    guard: Guard
    account: Account
    clock: Clock
    packages: Path | None = None

    @property
    def settings(self) -> Settings:
        return placed_settings(self.guard.settings, account=self.account.number(), region=self.account.region)

    def show(self) -> list[str]:
        """What a deployment would change, in lines; no change set is left. Raises NotDeployed, Unreachable."""
        there, template, _ = self._prepared()
        if there is None:
            return _change_lines(of_a_new_stack(template))
        stacks = self._stacks()
        proposal = self._proposed(stacks, template, is_new=False)
        stacks.discard(proposal)
        return _lines_of(proposal)

    def deploy(self, ask: Ask) -> Stack:
        """The stack as it is afterwards; it has yet to be given the identity. Raises NotDeployed, Unreachable."""
        there, template, released = self._prepared()
        stacks = self._stacks()
        proposal = self._proposed(stacks, template, is_new=there is None)
        begun = False
        try:
            self._show(proposal)
            if not proposal.is_empty:
                if not ask(f"Deploy these changes to {self.settings.stack_name}?"):
                    raise NotDeployed("Nothing was deployed.", 1)
                self._upload(released)
                since = stacks.newest_event()
                begun = True
                stacks.carry_out(proposal, since)
        except KeyboardInterrupt:
            what = _GOES_ON if begun else "Nothing was deployed."
            raise NotDeployed(f"Interrupted. {what}", INTERRUPTED) from None
        except Unreachable as failure:
            if not begun:
                raise
            raise NotDeployed(f"{failure} {_GOES_ON}", 1) from None
        finally:
            if not begun:
                stacks.discard(proposal)
        # Also where nothing has changed: the deployment before may have been cut off.
        stacks.protect(protected=True)
        found = self.account.stack(self.settings.stack_name)
        if found is None:
            raise NotDeployed(f"CloudFormation reported success, but {self.settings.stack_name} does not exist.", 1)
        return found

    def destroy(self, ask: Ask) -> list[str]:
        """Removes the stack; what stays, a line each. Raises NotDeployed, Unreachable."""
        self.guard.recognise(self.account, nothing_was="removed")
        name = self.settings.stack_name
        there = self.account.stack(name)
        if there is None:
            raise NotDeployed(f"The stack {name} does not exist in region {self.account.region}.")
        identity = there.outputs.get("Identity", "")
        # A stack that was never whole has no outputs.
        if identity != self.settings.identity and (identity or there.status not in FAILED):
            raise NotDeployed(f"Nothing was removed: the stack {name} has another identity than {self.guard.path}.")
        stacks = self._stacks()
        left = [f"the {what} {there.outputs[output]}" for output, what in DATA.items() if output in there.outputs]
        stays = " and ".join(left) or "it has none"
        self.guard.tell(f"The stack {name} will be removed, and every URL with it. Data stays: {stays}.")
        for each in kept_resources(stacks.template()):
            self.guard.tell(f"  stays        {each}")
        if not ask(f"Remove the stack {name}?"):
            raise NotDeployed("Nothing was removed.", 1)
        try:
            stacks.delete(stacks.id())
        except KeyboardInterrupt:
            raise NotDeployed("Interrupted. CloudFormation goes on removing the stack.", INTERRUPTED) from None
        return [f"{each[0].upper()}{each[1:]} is still there. To delete it: docs/deploy.md#teardown" for each in left]

    def _prepared(self) -> tuple[Stack | None, Template, Released]:
        """The stack that is there, and what shall be. The shape is known before anything of AWS is asked."""
        released = template_for(self.guard.settings, self.guard.path)
        there = self.guard.compare(self.account)
        return there, released.of(self.settings, bucket=self._bucket().name), released

    def _proposed(self, stacks: Stacks, template: Template, *, is_new: bool) -> Proposal:
        try:
            bucket = self._bucket()
            bucket.make()
            url = bucket.put_template(json.dumps(template, indent=1).encode())
        except FAILURES as failure:
            raise Unreachable(f"The template could not be uploaded: {sentence(failure)}") from None
        return stacks.propose(url, is_new=is_new, tags=self.settings.platform.tag_values)

    def _show(self, proposal: Proposal) -> None:
        for line in _lines_of(proposal):
            self.guard.tell(line)

    def _upload(self, released: Released) -> None:
        bucket = self._bucket()
        try:
            for key, name in released.packages.items():
                if bucket.put(key, partial(zipped, name, key, self.packages)):
                    self.guard.tell(f"Uploaded the package {name}.")
        except FAILURES as failure:
            raise Unreachable(f"A package could not be uploaded: {sentence(failure)}") from None

    def _bucket(self) -> PackagesBucket:
        region = self.account.region
        return PackagesBucket(boto3.client("s3", region_name=region), self.account.number(), region)

    def _stacks(self) -> Stacks:
        client: Any = boto3.client("cloudformation", region_name=self.account.region)
        return Stacks(client, self.settings.stack_name, self.clock, self.guard.tell)


_GOES_ON: Final = (
    "CloudFormation goes on with what it has begun; a new stack accepts no writes before it has the identity. When "
    "CloudFormation has ended, deploy again."
)


def _lines_of(proposal: Proposal) -> list[str]:
    if not proposal.changes and not proposal.is_empty:
        return ["Resources stay as they are; outputs or tags of the stack change."]
    return _change_lines(proposal.changes)


def _change_lines(changes: Sequence[Change]) -> list[str]:
    """Lines for a person, the sum of them last."""
    return [*(change.line() for change in changes), f"{summary_of(changes)}."]
