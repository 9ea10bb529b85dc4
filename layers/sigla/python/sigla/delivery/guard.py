"""Compares a stage with the account and the stack that are there: no deployment moves data that is not meant to move.

A stack is recognised by its outputs (`deployment/targets.py`). Whoever deploys asks here first, with CDK or without.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sigla.delivery.accounts import Account
from sigla.deployment.settings import Settings
from sigla.deployment.targets import Stack, Target, elsewhere, is_url, moved, stuck

FAILED = {
    "ROLLBACK_COMPLETE": "a-first-deployment-that-failed",
    "ROLLBACK_FAILED": "a-first-deployment-that-failed",
    "CREATE_FAILED": "a-first-deployment-that-failed",
    "DELETE_FAILED": "when-it-does-not-deploy",
    "UPDATE_ROLLBACK_FAILED": "when-it-does-not-deploy",
}
"""States of a stack that nothing can be deployed onto, and where docs/deploy.md says what to do."""

EMPTY = "REVIEW_IN_PROGRESS"
"""The status of a stack that exists only by name."""


class NotDeployed(Exception):
    """Why not, for people. status: how the command ends."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Guard:
    """What stands between a stage and an account.

    path: the stage file. again: the command that deploys although data would move. meant: it was that command. tell: a
    person, on the way.
    """

    path: Path
    settings: Settings
    again: str
    meant: bool = False
    tell: Callable[[str], None] = lambda _: None

    def compare(self, account: Account) -> Stack | None:
        """The stack that is there. Raises InvalidSetting, NotDeployed, Unreachable."""
        self.recognise(account)
        there = account.stack(self.settings.stack_name)
        if there and there.status != EMPTY:
            self.check(there)
            return there
        self.insist(elsewhere(account.with_identity(self.settings.identity), Target.of(self.settings)))
        self.tell(self.beginning(account))
        return None

    def beginning(self, account: Account) -> str:
        """What a stack that is not there yet will be: whoever meant another one sees it before anything is asked."""
        settings, found = self.settings, (self.settings.bucket_name, self.settings.table_name)
        what = f"with the data of {' and '.join(filter(None, found))}" if any(found) else "which will be empty"
        return (
            f"The stack {settings.stack_name} does not exist in account {account.number()}, region {account.region}: "
            f"it will be created for the registry {settings.registry_name}, {what}."
        )

    def recognise(self, account: Account, *, nothing_was: str = "deployed") -> None:
        """Raises NotDeployed where the stage is of LocalStack, or of another account or region.

        Locally nothing is kept, and elsewhere its stack would begin anew. Raises InvalidSetting where its zones are of
        another region. nothing_was: what the command would have done.
        """
        if self.settings.local:
            raise NotDeployed(
                f'Nothing was {nothing_was}: {self.path} has stage = "local", which is for LocalStack and keeps no '
                "data. Remove it for a stage in AWS, or use `make localstack`."
            )
        for name, meant, found in self.home(account):
            if meant and meant != found:
                raise NotDeployed(
                    f"Nothing was {nothing_was}: {self.path} is for the {name} {meant}, but this environment uses "
                    f"{found}. Set AWS_PROFILE or AWS_REGION, or correct the file."
                )
        # Where the file names no region, this is the first to know it.
        replace(self.settings, region=account.region)

    def home(self, account: Account) -> list[tuple[str, str, str]]:
        """Settings of where the stage is deployed: their names, what the file says, and what the environment does."""
        return [
            ("account", self.settings.account, account.number()),
            ("region", self.settings.region, account.region),
        ]

    def advice(self, account: Account) -> str:
        """What the stage file should say besides; empty: nothing."""
        missing = [f'{name} = "{found}"' for name, meant, found in self.home(account) if not meant]
        if not missing:
            return ""
        return (
            f"{self.path} names no account or region: with other credentials it would deploy another, empty registry. "
            f"Write above its first table: {' and '.join(missing)}"
        )

    def check(self, there: Stack) -> None:
        """Raises NotDeployed where the stack is in a state that nothing can be deployed onto, or data would move."""
        stack = self.settings.stack_name
        if there.status in FAILED:
            raise NotDeployed(f"The stack {stack} is {there.status}: docs/deploy.md#{FAILED[there.status]}.")
        if there.status.endswith("_IN_PROGRESS"):
            raise NotDeployed(f"The stack {stack} is {there.status}: wait until this has ended.")
        target = Target.of(self.settings)
        if sentences := stuck(there.outputs, target):
            raise NotDeployed(
                "\n".join(["Nothing was deployed: CloudFormation would fail halfway.", *_below(sentences)])
            )
        self.insist(moved(there.outputs, target))

    def insist(self, sentences: Sequence[str]) -> None:
        """Raises NotDeployed if there is something to be said, and the command does not say that it is meant."""
        if sentences and not self.meant:
            raise NotDeployed(
                "\n".join(
                    [
                        f"Nothing was deployed: the stack {self.settings.stack_name} would point elsewhere.",
                        *_below(sentences),
                        f"Correct {self.path}; or, if you mean it: {self.again}",
                    ]
                )
            )


def claiming(settings: Settings, outputs: Mapping[str, str]) -> Iterator[list[str]]:
    """The words of `sigla`, for each registry, that give the table and the bucket of a stack the identity.

    For further ones they say as well whose journal function theirs is.
    """
    place = {"--bucket": outputs["BucketName"], "--table": outputs["TableName"]}
    of = {"--journal-of": settings.registry_name}
    for registry in settings.all_registries:
        whose = {"--registry": registry, "--identity": settings.identity}
        given = place | whose | (of if registry != settings.registry_name else {})
        yield ["init", *(word for option in given.items() for word in option)]


def not_claimed(words: Sequence[str]) -> NotDeployed:
    """That these words have not done it, although the stack is there."""
    return NotDeployed(
        f"The stack is deployed, but accepts no writes before its data has the identity: sigla {' '.join(words)}", 1
    )


def place_lines(stack: Stack) -> str:
    """Where the registry is, on lines of their own."""
    urls = {name: value for name, value in stack.outputs.items() if is_url(name)}
    stored = {name: stack.outputs[name] for name in ("BucketName", "TableName")}
    return "\n".join(f"{name}: {value}" for name, value in (urls | stored).items())


def unheard(settings: Settings) -> str:
    """A sentence, if alarms exist and have no recipient; else nothing."""
    watch = settings.watch
    if not watch.alarms or watch.topic_arn or watch.email:
        return ""
    return "Alarms notify no address: set watch.email or watch.topic_arn (docs/deploy.md#settings)."


def _below(sentences: Sequence[str]) -> list[str]:
    """Lines below one that says what they are."""
    return [f"  {sentence}" for sentence in sentences]
