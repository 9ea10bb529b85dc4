"""The whole deployed stack on this machine, without AWS and without Docker: `make localstack`.

    make localstack             starts LocalStack behind your back, deploys, makes a key, says where the registry is
    make localstack             once more: deploys what has changed since
    make localstack-down        stops it; what it held is gone then
    AWS_ENDPOINT_URL=http://127.0.0.1:4566 make localstack      into a LocalStack that is there already

What is deployed is what `cdk deploy` deploys, with the settings stage=local and front_door.function_url=true.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path

from localstack.assembly import Assembly, Changed, NotDeployed, deploy
from localstack.installation import Unavailable
from localstack.server import CREDENTIALS, PORT, Server

ROOT = Path(__file__).parents[1]
CONTEXT = ("stage=local", "front_door.function_url=true")
ADMINISTRATOR = "admin"
"""What the first key is called."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Registry:
    """One that is deployed. rest, function: its two doors, without a slash at the end. key, secret: may do all."""

    rest: str
    function: str
    key: str
    secret: str

    def facts(self) -> str:
        """On lines of their own, for people and for `sed`."""
        return f"rest: {self.rest}\nfunction: {self.function}\nkey: {self.key}\nsecret: {self.secret}"


@dataclass(frozen=True, slots=True)
class Account:
    """Where to deploy. endpoint: of AWS there. environ: what commands need to reach it. folder: for what we write.

    function_url: the function URL's address, if it has one beside its name.
    """

    endpoint: str
    environ: Mapping[str, str]
    folder: Path
    function_url: str = ""

    @classmethod
    def of(cls, server: Server, environ: Mapping[str, str]) -> "Account":
        """The one that a LocalStack of ours has, whatever other account the environment is about."""
        others = {name: value for name, value in environ.items() if not name.startswith("AWS_")}
        ours = {**others, **CREDENTIALS, "AWS_ENDPOINT_URL": server.endpoint}
        return cls(server.endpoint, ours, server.folder, server.function_url)

    @classmethod
    def given(cls, server: Server, environ: Mapping[str, str]) -> "Account":
        """The one at AWS_ENDPOINT_URL."""
        return cls(environ["AWS_ENDPOINT_URL"].rstrip("/"), {**CREDENTIALS, **environ}, server.folder)

    def bring_up(self, tell: Tell, starting: Callable[[], object] = lambda: None) -> Registry:
        """starting: makes the endpoint answer, beside the synthesis. Raises Unavailable, NotDeployed, Changed."""
        tell("Synthesising the stack …")
        with ThreadPoolExecutor(1) as beside:
            started = beside.submit(starting)
            try:
                assembly = synthesise(self.folder / "cdk.out", self.environ)
            finally:
                started.result()
        tell(f"Deploying it to {self.endpoint} …")
        outputs = deploy(assembly, endpoint=self.endpoint, credentials=self.environ)
        rest = f"{self.endpoint}/_aws/execute-api/{outputs['RestApiId']}/{outputs['RestStage']}"
        tell("Asking it for an answer …")
        secret = self.secret(rest, outputs["BucketName"])
        function = self.function_url or outputs["FunctionUrl"].rstrip("/")
        return Registry(rest, function, ADMINISTRATOR, secret)

    def secret(self, rest: str, bucket: str) -> str:
        """Of the administrator's key: the one made before, if it still opens; else of a new one."""
        note = self.folder / "secret"
        if note.exists() and opens(rest, note.read_text()):
            return note.read_text()
        # One whose secret nobody knows any more is in the way.
        self.keys("revoke", ADMINISTRATOR, "--bucket", bucket)
        created = self.keys("create", ADMINISTRATOR, "--role", "admin", "--bucket", bucket, "--json")
        if created.returncode:
            raise NotDeployed(f"The key could not be made: {created.stderr}")
        secret: str = json.loads(created.stdout)["secret"]
        if not opens(rest, secret):
            raise NotDeployed(f"{rest} does not know the key that was just made")
        note.touch(mode=0o600)
        note.write_text(secret)
        return secret

    def keys(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """`sigla keys`, as a deployer runs it."""
        registry_name = json.loads((ROOT / "cdk.json").read_text())["context"]["registry_name"]
        command = [str(Path(sys.executable).with_name("sigla")), "keys", *arguments]
        environ = {**self.environ, "SIGLA_REGISTRY_NAME": registry_name}
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def synthesise(into: Path, environ: Mapping[str, str]) -> Assembly:
    """The stack as `cdk deploy` has it, with a layer for this machine's processor. Raises NotDeployed."""
    shutil.rmtree(into, ignore_errors=True)
    settings = [word for setting in CONTEXT for word in ("-c", setting)]
    command = [sys.executable, "-m", "infra.app", *settings, "--output", str(into)]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotDeployed(f"The stack cannot be synthesised:\n{done.stdout}{done.stderr}")
    return Assembly(into)


def opens(rest: str, secret: str) -> bool:
    """Whether the registry lets the administrator in. Raises NotDeployed if it has nothing to say to that."""
    shown = b64encode(f"{ADMINISTRATOR}:{secret}".encode()).decode()
    request = urllib.request.Request(f"{rest}/subjects", headers={"Authorization": f"Basic {shown}"})  # noqa: S310 - the endpoint that we deployed to
    try:
        urllib.request.urlopen(request, timeout=60).close()  # noqa: S310 - as above
    except urllib.error.HTTPError as refused:
        with refused:
            if refused.code != HTTPStatus.UNAUTHORIZED:
                raise NotDeployed(f"{rest} answers {refused.code}; LocalStack's log says why") from None
        return False
    return True


def need_node() -> None:
    """Raises Unavailable. Before anything is begun that would have to be ended."""
    if not shutil.which("node"):
        raise Unavailable("CDK needs Node.js 20 or newer, and there is no node on the PATH: install it")


def start(server: Server, tell: Tell) -> Registry:
    """The registry in a LocalStack of ours, which is started if need be. Raises Unavailable, NotDeployed."""
    account = Account.of(server, os.environ)
    if server.process():
        tell(f"LocalStack is there already, on {server.endpoint}")
        try:
            return account.bring_up(tell)
        except Changed:
            print("More than code has changed: beginning anew, with nothing in it.", file=sys.stderr)
            server.stop()
    tell("Starting LocalStack …")
    return account.bring_up(tell, partial(server.start, os.environ))


def report(registry: Registry, stops_by: str) -> None:
    """The facts on stdout, what to do with them on stderr."""
    print(registry.facts(), flush=True)
    words = ["", "Try it:", f"  curl -u {registry.key}:{registry.secret} {registry.rest}/subjects"]
    print("\n".join([*words, "", stops_by]), file=sys.stderr)


def main() -> int:
    """The command: 0 when the registry answers, 2 if something is missing here, 1 if it cannot be deployed."""
    options = argparse.ArgumentParser(prog="python -m localstack.up", description="The deployed stack, without AWS")
    options.add_argument("--port", type=int, default=PORT, help="of LocalStack; the function URL has the next one")
    server = Server.on(options.parse_args().port)

    def tell(step: str) -> None:
        if sys.stderr.isatty():
            print(step, file=sys.stderr)

    try:
        need_node()
        if os.environ.get("AWS_ENDPOINT_URL"):
            report(Account.given(server, os.environ).bring_up(tell), "It ends with the LocalStack that it is in.")
        else:
            report(start(server, tell), f"make localstack-down stops it. Its log: {server.log}")
    except KeyboardInterrupt:
        return 130
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 2
    except NotDeployed as reason:
        print(reason, file=sys.stderr)
        return 1
    except Changed:
        print("More than code has changed: delete the stack, LocalStack cannot update it.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
