"""The whole deployed stack on this machine, without AWS and without Docker: `make localstack`.

    make localstack             starts LocalStack behind your back, deploys, makes a key, says where the registry is
    make localstack             once more: deploys what has changed since
    make localstack ARGS="--zones 3"    with three zones, each with a URL and a ring of caches
    make localstack-down        stops it; what it held is gone then
    AWS_ENDPOINT_URL=http://127.0.0.1:4566 make localstack      into a LocalStack that is there already

What is deployed is what `cdk deploy` deploys, with the settings stage=local, front_door.function_url=true and an
identity, which `sigla init` then writes to the table and the bucket.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from localstack.assembly import Assembly, Changed, NotDeployed, deploy
from localstack.server import CREDENTIALS, PORT, ZONES, Server
from sigla.cache import servers as cache_servers
from sigla.delivery.guard import claiming
from sigla.deployment.choices.ring import NONE
from sigla.deployment.choices.rules import titled
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.stage_files import pairs, settings_of
from sigla.terminal.statuses import INTERRUPTED
from sigla_pipelines.connectors.maven import Unavailable

ROOT = Path(__file__).parents[1]
IDENTITY = sha256(b"LocalStack").hexdigest()[:32]
"""The identity of every deployment here: what LocalStack holds goes with it, and no records outside have its ids."""
CONTEXT = ("stage=local", "front_door.function_url=true", f"identity={IDENTITY}")
ZONE = "use1-az{}"
"""The region that our LocalStack is in."""
ADMINISTRATOR = "admin"
"""What the first key is called."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Registry:
    """One that is deployed. rest, function: its two doors, without a slash at the end. key, secret: may do all.

    zones: the URLs of its zones, by their ids. beside: those of further registries, by their names.
    """

    rest: str
    function: str
    key: str
    secret: str
    zones: dict[str, str]
    beside: dict[str, str]

    def facts(self) -> str:
        """On lines of their own, for people and for `sed`."""
        facts = {"rest": self.rest, "function": self.function, "key": self.key, "secret": self.secret}
        return "\n".join(f"{name}: {value}" for name, value in (facts | self.zones | self.beside).items())


@dataclass(frozen=True, slots=True)
class Account:
    """Where to deploy. endpoint: of AWS there. environ: what commands need to reach it. folder: for what we write.

    settings: what the stack is told, each as `name=value`.
    """

    endpoint: str
    environ: Mapping[str, str]
    folder: Path
    settings: Sequence[str]

    @classmethod
    def of(cls, server: Server, environ: Mapping[str, str], settings: Sequence[str]) -> "Account":
        """The one that a LocalStack of ours has, whatever other account the environment is about."""
        others = {name: value for name, value in environ.items() if not name.startswith("AWS_")}
        ours = {**others, **CREDENTIALS, "AWS_ENDPOINT_URL": server.endpoint}
        return cls(server.endpoint, ours, server.folder, settings)

    @classmethod
    def given(cls, server: Server, environ: Mapping[str, str], settings: Sequence[str]) -> "Account":
        """The one at AWS_ENDPOINT_URL."""
        ours = {**CREDENTIALS, **environ}
        ours["AWS_DEFAULT_REGION"] = ours["AWS_REGION"] = ours.get("AWS_REGION") or ours["AWS_DEFAULT_REGION"]
        return cls(environ["AWS_ENDPOINT_URL"].rstrip("/"), ours, server.folder, settings)

    def bring_up(self, tell: Tell, starting: Callable[[], object] = lambda: None) -> Registry:
        """starting: makes the endpoint answer, beside the synthesis. Raises Unavailable, NotDeployed, Changed."""
        tell("Synthesising the stack …")
        with ThreadPoolExecutor(1) as beside:
            started = beside.submit(starting)
            try:
                assembly = synthesise(self.folder / "cdk.out", self.environ, self.settings)
            finally:
                started.result()
        tell(f"Deploying it to {self.endpoint} …")
        outputs = deploy(assembly, endpoint=self.endpoint, credentials=self.environ)
        rest = self.rest_url(outputs)
        others = {name: self.rest_url(outputs, titled(name)) for name in read(self.settings).more_registries}
        self.claim(outputs["TableName"], outputs["BucketName"])
        tell("Waiting for its first answer …")
        secret = self.secret(rest, outputs["BucketName"])
        return Registry(rest, outputs["FunctionUrl"].rstrip("/"), self.user, secret, zones_of(outputs), others)

    @property
    def user(self) -> str:
        """As the administrator is called by clients: behind a pool every user names its registry."""
        settings = read(self.settings)
        return f"{ADMINISTRATOR}@{settings.registry_name}" if settings.pool else ADMINISTRATOR

    def rest_url(self, outputs: Mapping[str, str], registry: str = "") -> str:
        """The REST API of the stack's own registry, or of one whose outputs end in this name."""
        return f"{self.endpoint}/_aws/execute-api/{outputs[f'RestApiId{registry}']}/{outputs['RestStage']}"

    def claim(self, table: str, bucket: str) -> None:
        """Says that table and bucket are this deployment's. Raises NotDeployed where they are another's."""
        settings = read(self.settings)
        if not settings.identity:
            return
        for words in claiming(settings, {"BucketName": bucket, "TableName": table}):
            claimed = self.sigla(*words)
            if claimed.returncode:
                raise NotDeployed(claimed.stderr.strip())

    def secret(self, rest: str, bucket: str) -> str:
        """The secret of the administrator's key: the one made before, if it still opens; else of a new one."""
        note = self.folder / "secret"
        if note.exists() and opens(rest, self.user, note.read_text()):
            return note.read_text()
        # A key whose secret is lost is in the way.
        self.sigla("keys", "revoke", ADMINISTRATOR, "--bucket", bucket)
        created = self.sigla("keys", "create", ADMINISTRATOR, "--role", "admin", "--bucket", bucket, "--json")
        if created.returncode:
            raise NotDeployed(f"The key could not be created: {created.stderr}")
        secret: str = json.loads(created.stdout)["secret"]
        if not opens(rest, self.user, secret):
            raise NotDeployed(f"{rest} does not know the key that was just made")
        note.touch(mode=0o600)
        note.write_text(secret)
        return secret

    def sigla(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """The command, as a deployer runs it."""
        command = [str(Path(sys.executable).with_name("sigla")), *arguments]
        environ = {**self.environ, "SIGLA_REGISTRY_NAME": read(self.settings).registry_name}
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def zones_of(outputs: Mapping[str, str]) -> dict[str, str]:
    """The URL of each zone by its id: the stack calls that of use1-az1 ZoneUrlUse1Az1."""
    titles = {name.removeprefix("ZoneUrl"): url for name, url in outputs.items() if name.startswith("ZoneUrl")}
    return {"-".join(re.findall("[A-Z][a-z0-9]*", title)).lower(): url.rstrip("/") for title, url in titles.items()}


def synthesise(into: Path, environ: Mapping[str, str], settings: Sequence[str] = ()) -> Assembly:
    """The stack as `cdk deploy` has it, with a layer for this machine's processor. Raises NotDeployed."""
    shutil.rmtree(into, ignore_errors=True)
    chosen = [word for setting in (*CONTEXT, *settings) for word in ("-c", setting)]
    command = [sys.executable, "-m", "infra.app", *chosen, "--output", str(into)]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotDeployed(f"The stack cannot be synthesised:\n{done.stdout}{done.stderr}")
    return Assembly(into)


def opens(rest: str, user: str, secret: str) -> bool:
    """Whether the registry lets the administrator in. Raises NotDeployed if it has nothing to say to that."""
    shown = b64encode(f"{user}:{secret}".encode()).decode()
    request = urllib.request.Request(f"{rest}/subjects", headers={"Authorization": f"Basic {shown}"})
    try:
        urllib.request.urlopen(request, timeout=60).close()
    except urllib.error.HTTPError as refused:
        with refused:
            if refused.code != HTTPStatus.UNAUTHORIZED:
                raise NotDeployed(f"{rest} answers {refused.code}; LocalStack's log has the reason") from None
        return False
    return True


def need_node() -> None:
    """Raises Unavailable. Before anything is begun that would have to be ended."""
    if not shutil.which("node"):
        raise Unavailable("CDK needs Node.js 20 or newer, but node is not on the PATH: install it")


def read(settings: Sequence[str]) -> Settings:
    """Reads them as CDK will. Raises NotDeployed."""
    try:
        return settings_of(pairs((*CONTEXT, *settings)))
    except InvalidSetting as refused:
        raise NotDeployed(str(refused)) from None


def need_caches(settings: Settings) -> None:
    """Raises Unavailable if zones are wanted whose rings cannot be had here."""
    if settings.zones and settings.ring.kind != NONE:
        try:
            cache_servers.program(settings.ring.kind)
        except cache_servers.ServerMissing as missing:
            raise Unavailable(
                f"Zones need a cache server, but {missing}: install one, or set -c ring.kind=none"
            ) from None


def start(server: Server, settings: Sequence[str], tell: Tell) -> Registry:
    """The registry in a LocalStack of ours, which is started if need be. Raises Unavailable, NotDeployed."""
    account = Account.of(server, os.environ, settings)
    if server.process():
        tell(f"LocalStack is running already, on {server.endpoint}")
        try:
            return account.bring_up(tell)
        except Changed:
            print("LocalStack cannot update the stack: starting again with an empty one.", file=sys.stderr)
            server.stop()
    tell("Starting LocalStack …")
    return account.bring_up(tell, partial(server.start, os.environ))


def report(registry: Registry, stops_by: str) -> None:
    """The facts on stdout, what to do with them on stderr."""
    print(registry.facts(), flush=True)
    words = ["", "Try it:", f"  curl -u {registry.key}:{registry.secret} {registry.rest}/subjects"]
    if registry.zones:
        words.append(f"  curl {registry.rest}/zones")
    print("\n".join([*words, "", stops_by]), file=sys.stderr)


def main() -> int:
    """The command: 0 when the registry answers, 2 if something is missing here, 1 if it cannot be deployed."""
    options = argparse.ArgumentParser(
        prog="python -m localstack.up", description="Deploys the stack to LocalStack, without AWS"
    )
    options.add_argument(
        "--port", type=int, default=PORT, help="the port of LocalStack; function URLs use the ports after it"
    )
    options.add_argument("--zones", type=int, default=0, choices=range(ZONES + 1), help="the number of zones")
    options.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    given = options.parse_args()
    server = Server.on(given.port)
    zones = ",".join(ZONE.format(number) for number in range(1, given.zones + 1))
    settings = (f"zones={zones}", *given.context)

    def tell(step: str) -> None:
        if sys.stderr.isatty():
            print(step, file=sys.stderr)

    try:
        need_node()
        need_caches(read(settings))
        if os.environ.get("AWS_ENDPOINT_URL"):
            account = Account.given(server, os.environ, settings)
            report(account.bring_up(tell), "It stops when this LocalStack stops.")
        else:
            report(start(server, settings, tell), f"make localstack-down stops it. Its log: {server.log}")
    except KeyboardInterrupt:
        return INTERRUPTED
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 2
    except NotDeployed as reason:
        print(reason, file=sys.stderr)
        return 1
    except Changed:
        print("LocalStack cannot update the stack: delete it, and start again.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
