"""Deploys a stage, and never points a registry at other data unless that is said: `make deploy STAGE=prod`.

python -m infra.deploy prod
python -m infra.deploy prod --i-mean-it          also where data or URLs would move
python -m infra.deploy prod -- --require-approval never      with options of `cdk deploy`

First it compares the stage file with the outputs of the stack that is there, then CDK deploys it, and last the table
and the bucket are given the identity, without which the functions write nothing. A plain `cdk deploy` does only what
is in the middle: there the identity is the guard.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sigla.cli import main as sigla
from sigla.delivery.accounts import ACCOUNT, REGION, Account, Unreachable, here, region
from sigla.delivery.guard import Guard, NotDeployed, claiming, not_claimed, place_lines, unheard
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.stage_files import COMPARED, FLAG, fingerprint, pairs, path_of, settings_of
from sigla.deployment.targets import Stack
from sigla.deployment.translation import STACK
from sigla.terminal.statuses import INTERRUPTED

CDK = "aws-cdk@2.1148.1"
INSIST = "--i-mean-it"
DECIDED = ("--context", "--app", "--output", "--profile", "--region", "--ec2creds")
"""Options of CDK that would deploy something else than what was compared, or elsewhere."""
PENDING = ("--execute", "--no-execute", "--method", "--help", "--version")
"""Options of CDK with which nothing is deployed when it is done."""
LETTERS = {**dict.fromkeys("caoi", DECIDED), **dict.fromkeys("mh", PENDING)}
"""The same, of options that have one letter, as in `-c` and `-fc`."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A stage on its way.

    flags: settings of the command line. options: for `cdk deploy`. meant: data may move. tell: a person, on the way.
    """

    name: str
    path: Path
    settings: Settings
    flags: Sequence[str] = ()
    options: Sequence[str] = ()
    meant: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    tell: Callable[[str], None] = lambda _: None

    @property
    def guard(self) -> Guard:
        """What is asked before anything is deployed."""
        again = f"make deploy STAGE={self.name} ARGS={INSIST}"
        return Guard(self.path, self.settings, again, self.meant, self.tell)

    def run(self, account: Account) -> Stack:
        """The stack as it is afterwards. Raises InvalidSetting, NotDeployed, Unreachable."""
        self.guard.compare(account)
        self.deploy(account)
        stack = account.stack(self.settings.stack_name)
        if stack is None:
            raise NotDeployed(f"CDK reported success, but the stack {self.settings.stack_name} does not exist.", 1)
        self.claim(stack)
        return stack

    def deploy(self, account: Account) -> None:
        """Raises NotDeployed. CDK is told what was compared, and where: it may have other credentials and settings."""
        npx = shutil.which("npx", path=self.environ.get("PATH"))
        if not npx:
            raise NotDeployed("CDK needs Node.js, but npx is not on the PATH: `make setup` brings it.")
        compared = (
            f"{ACCOUNT}={account.number()}",
            f"{REGION}={account.region}",
            f"{COMPARED}={fingerprint(self.settings)}",
        )
        flags = [word for pair in (f"{FLAG}={self.path}", *self.flags, *compared) for word in ("-c", pair)]
        command = [npx, "--yes", CDK, "deploy", STACK, *flags, *self.options]
        try:
            status = _ended(command, self.environ)
        except KeyboardInterrupt:
            raise NotDeployed(
                "Interrupted. CloudFormation goes on with what it has begun; a new stack accepts no writes before it "
                f"has the identity. When CloudFormation has ended, run make deploy STAGE={self.name} again.",
                INTERRUPTED,
            ) from None
        if status:
            raise NotDeployed(f"CDK did not deploy {self.settings.stack_name}: see its output above.", 1)

    def claim(self, stack: Stack) -> None:
        """Gives the table and the bucket the identity. Raises NotDeployed."""
        for words in claiming(self.settings, stack.outputs):
            if sigla(words):
                raise not_claimed(words)


def _ended(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """How it ended. Ctrl-C is heard by it as well, and so it ends by itself."""
    with subprocess.Popen(command, env=dict(environ)) as running:
        try:
            return running.wait()
        except KeyboardInterrupt:
            running.wait()
            raise


def asked(words: Sequence[str]) -> argparse.Namespace:
    """What a command line says; what stands behind `--` is CDK's. Raises SystemExit with 2 where it cannot be."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.deploy",
        description="Deploys a stage to AWS",
        usage=f"%(prog)s NAME [-c NAME=VALUE] [{INSIST}] [-- OPTION ...]",
        epilog="Words after -- are options of `cdk deploy`.",
    )
    parser.add_argument("name", help="the name of the stage, such as prod for stages/prod.toml")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    parser.add_argument(INSIST, action="store_true", dest="meant", help="deploy even where data or URLs would move")
    dashes = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:dashes])
    arguments.options = list(words[dashes + 1 :])
    if any(pair.partition("=")[0] == FLAG for pair in arguments.context):
        parser.error(
            f"-c {FLAG} cannot be set here: the stage {arguments.name} always uses stages/{arguments.name}.toml."
        )
    if other := _among(DECIDED, arguments.options):
        parser.error(
            f"Invalid options of CDK {', '.join(other)}: CDK must deploy the settings that were checked. Set settings "
            "with -c before --, the account with AWS_PROFILE, the region with AWS_REGION."
        )
    if pending := _among(PENDING, arguments.options):
        parser.error(f"{', '.join(pending)} would deploy nothing: use `npx {CDK} deploy -c {FLAG}=…` itself.")
    return arguments


def _among(unfit: Sequence[str], options: Sequence[str]) -> list[str]:
    """Those of the options that are of a kind; one word may hold several of one letter, the last with its value."""
    return [
        word
        for word in options
        if re.split("[=.]", word)[0] in unfit
        or (re.match("-[^-]", word) and any(LETTERS.get(each) is unfit for each in word[1:].partition("=")[0]))
    ]


def main() -> int:
    """The command: 0 when it is deployed, 1 if it could not be, 2 if something has to be corrected first."""
    arguments = asked(sys.argv[1:])
    try:
        path = path_of(arguments.name)
        settings = settings_of({**pairs(arguments.context), FLAG: str(path)})
        # Whatever is asked below is asked in one region: boto3 does not know every variable that CDK does.
        os.environ["AWS_REGION"] = os.environ["AWS_DEFAULT_REGION"] = region(os.environ)
        deployment = Deployment(
            *(arguments.name, path, settings, arguments.context, arguments.options, arguments.meant, os.environ),
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        )
        account = here()
        print(place_lines(deployment.run(account)))
        if advice := deployment.guard.advice(account):
            print(advice, file=sys.stderr)
        if sentence := unheard(settings):
            print(sentence, file=sys.stderr)
    except (InvalidSetting, Unreachable) as wrong:
        print(wrong, file=sys.stderr)
        return 2
    except NotDeployed as reason:
        print(reason, file=sys.stderr)
        return reason.status
    except KeyboardInterrupt:
        print(f"\nInterrupted. Nothing is lost: run make deploy STAGE={arguments.name} again.", file=sys.stderr)
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
