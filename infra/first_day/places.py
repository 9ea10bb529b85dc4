"""Where the registry is that is asked: a stack in an account, one on LocalStack, or a URL alone."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Self
from urllib.parse import urlsplit

import boto3

from infra.first_day.asking import FUNCTION_URL, REST_API, SERVER, Door, Failed, Kind
from infra.first_day.day import Account
from localstack.server import CREDENTIALS, Server
from sigla.delivery.accounts import FAILURES, Unreachable, region, sentence
from sigla.deployment.settings import InvalidSetting
from sigla.deployment.stage_files import FLAG, path_of, settings_of

REACHED_WITHIN_S: Final = 3.0
"""A private door that does not take a connection in that time is not for this machine."""


class Misuse(Exception):
    """What was asked for cannot be; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """doors: those that can be reached from here. account: None where a URL is all that is known.

    unreached: doors that cannot be asked from this machine, a line for each.
    """

    doors: tuple[Door, ...]
    account: Account | None
    unreached: tuple[str, ...] = ()

    def by(self, names: Sequence[str]) -> Self:
        """With these doors alone; with all of them where none is named. Raises Misuse."""
        known = [door.name for door in self.doors]
        if unknown := [name for name in names if name not in known]:
            raise Misuse(f"Unknown door {', '.join(unknown)}. Doors that can be reached: {', '.join(known) or 'none'}.")
        return replace(self, doors=tuple(door for door in self.doors if not names or door.name in names))


def of_a_stage(name: str, key: str) -> Place:
    """The stack of stages/NAME.toml. Raises Misuse, also where the stack is not that of the file."""
    try:
        settings = settings_of({FLAG: str(path_of(name))})
    except InvalidSetting as wrong:
        raise Misuse(str(wrong)) from None
    place = of_a_stack(settings.stack_name, key)
    borne = place.account.outputs.get("Identity") if place.account else None
    if borne != settings.identity:
        raise Misuse(
            f"The stack {settings.stack_name} has the identity {borne or '(none)'}, which is not the stage file's."
        )
    return place


def of_a_stack(stack: str, key: str) -> Place:
    """In the account and region of the environment's credentials. Raises Misuse."""
    try:
        session = boto3.Session(region_name=region(os.environ))
    except Unreachable as unknown:
        raise Misuse(str(unknown)) from None
    except FAILURES as failure:
        raise Misuse(f"The stack {stack} cannot be asked: {sentence(failure)}") from None
    account = _account(stack, session.client, emulated=False)
    return behind(account, account.outputs.get("RestUrl", ""), key)


def of_localstack(port: int) -> Place:
    """The one that `make localstack` has deployed there, with the key that it has made. Raises Misuse."""
    server = Server.on(port)
    secret = server.folder / "secret"
    if not server.process() or not secret.exists():
        raise Misuse(f"Found no registry on LocalStack at port {port}: start one with make localstack.")

    def client(service: str, **more: Any) -> Any:
        session = boto3.Session(
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            region_name=CREDENTIALS["AWS_DEFAULT_REGION"],
        )
        return session.client(service, endpoint_url=server.endpoint, **more)

    stacks = client("cloudformation").describe_stacks()["Stacks"]
    (stack,) = (each["StackName"] for each in stacks if "RestApiId" in _outputs(each))
    account = _account(stack, client, emulated=True)
    rest = f"{server.endpoint}/_aws/execute-api/{account.outputs['RestApiId']}/{account.outputs['RestStage']}"
    return behind(account, rest, f"admin:{secret.read_text()}", rest_api=replace(REST_API, renames=False))


def of_urls(urls: Sequence[str], key: str) -> Place:
    """What stands in front of each is found out from its answers. Raises Misuse."""
    doors = []
    for number, url in enumerate(urls, 1):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise Misuse(
                f"Invalid URL {url!r}: expected https://HOST or http://HOST:PORT, and a path where it has one."
            )
        name = "url" if len(urls) == 1 else f"url {number}"
        doors.append(_recognised(Door(name, url.rstrip("/"), SERVER, key)))
    return Place(tuple(doors), None)


def _recognised(door: Door) -> Door:
    """The door with its kind: gateways and Lambda sign what they hand on. Raises Misuse."""
    try:
        headers = door.without_key().ask("GET", "/").headers
    except Failed as failure:
        raise Misuse(f"{door.url} does not answer: {failure}.") from None
    kind: Kind = SERVER
    if "x-amz-apigw-id" in headers:
        kind = REST_API
    elif "x-amzn-requestid" in headers:
        kind = FUNCTION_URL
    return Door(door.name, door.url, kind, door.key)


def _account(stack: str, client: Callable[..., Any], *, emulated: bool) -> Account:
    """Raises Misuse."""
    try:
        (described,) = client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except FAILURES as failure:
        raise Misuse(f"The stack {stack} cannot be asked: {sentence(failure)}") from None
    outputs = _outputs(described)
    if not {"BucketName", "TableName"} <= outputs.keys():
        raise Misuse(f"The stack {stack} lacks the outputs of a registry: check its name.")
    return Account(stack, outputs, cache(client), emulated)


def _outputs(described: Mapping[str, Any]) -> dict[str, str]:
    return {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}


def behind(account: Account, rest: str, key: str, *, rest_api: Kind = REST_API) -> Place:
    """All doors that the outputs tell of. rest: empty where nothing is public."""
    doors = [Door("rest", rest, rest_api, key)] if rest else []
    unreached = []
    for output, value in account.outputs.items():
        url = value.rstrip("/")
        if output == "FunctionUrl":
            doors.append(Door("function", url, FUNCTION_URL, key))
        elif output == "DomainUrl":
            if reached(url):
                doors.append(Door("domain", url, REST_API, key))
            else:
                target = account.outputs.get("DomainTarget", "the output DomainTarget")
                unreached.append(f"{'domain':<10} {url} cannot be reached: point its DNS record at {target}")
        elif output.startswith("ZoneUrl"):
            doors.append(Door(_zone(output, "ZoneUrl"), url, FUNCTION_URL, key))
        elif output.startswith("ZonePrivateUrl"):
            door = Door(f"private-{_zone(output, 'ZonePrivateUrl')}", url, REST_API, key)
            if reached(url):
                doors.append(door)
            else:
                unreached.append(
                    f"{'private':<10} {url} cannot be reached from here: run this in its network as well, with --url"
                )
    return Place(tuple(doors), account, tuple(unreached))


def _zone(output: str, prefix: str) -> str:
    """As it is called in the stack, in small letters: use1az1."""
    return output.removeprefix(prefix).lower()


def reached(url: str) -> bool:
    """Whether a connection can be made from here."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 443), REACHED_WITHIN_S).close()
    except OSError:
        return False
    return True


def key_of(given: str) -> str:
    """The administrator's key: what is given, else what clients are given. Raises Misuse."""
    key = given or os.environ.get("SCHEMA_REGISTRY_USER", "")
    if key and ":" not in key:
        raise Misuse("Invalid key: expected its name and its secret as NAME:SECRET.")
    return key
