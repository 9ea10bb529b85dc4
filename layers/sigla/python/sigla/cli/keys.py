"""`sigla keys`: who may ask a registry that asks for keys."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.auth.api_keys import ApiKey, Keys
from sigla.auth.permissions import DELETE
from sigla.cli import place
from sigla.cli.misuse import Misuse, Refused
from sigla.ports.clock import Clock
from sigla.terminal.arguments import bucket_argument, name_argument, path_argument

if TYPE_CHECKING:
    from sigla.settings import Address

DESCRIPTION = """\
API keys for a registry that was started with --auth, or that is deployed in AWS. They are kept beside its data, without
their secrets, and are made and revoked while it runs. With --bucket your own AWS credentials are used.
"""

ROLES = """\
roles:
  reader    reads schemas, looks them up, checks compatibility
  writer    the same, and registers; with --delete also deletes softly
  admin     everything: config, modes, contexts, permanent deletes

Without --subjects a key is good for all subjects; with it, for those that begin with one of the prefixes, which are
written as in `subjectPrefix`: orders-   :.team:orders-   :*:orders-   and :.team: for a context as a whole.
"""

SHOWN_ONCE = "The secret is not kept anywhere and cannot be shown again."
A_MINUTE = "Key {name} is revoked: a registry that has just accepted it goes on doing so for a minute at most."


DAMAGED = "The key {name} in {place} opens nothing, because {why}."


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "keys",
        help="API keys: create, list, revoke",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", title="actions", metavar="ACTION", required=True)
    made = actions.add_parser(
        "create", help="make a key", epilog=ROLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("name", metavar="NAME", help="the name of the key; clients send it as the user")
    made.add_argument("--role", default="reader", metavar="ROLE", help="reader, writer or admin (default %(default)s)")
    made.add_argument("--delete", action="store_true", help="a writer's: it may also delete, softly")
    made.add_argument(
        "--subjects", nargs="+", default=[], metavar="PREFIX", help="allow only subjects that begin with PREFIX"
    )
    made.set_defaults(run=create)
    listed = actions.add_parser("list", help="list the keys")
    listed.set_defaults(run=show)
    revoked = actions.add_parser("revoke", help="revoke a key, within a minute")
    revoked.add_argument("name", metavar="NAME")
    revoked.set_defaults(run=revoke)
    for action in (made, listed, revoked):
        where = action.add_mutually_exclusive_group()
        where.add_argument(
            "--data", type=path_argument, default=Path("data"), metavar="DIR", help="the data directory (./data)"
        )
        where.add_argument("--bucket", type=bucket_argument, metavar="NAME", help="the bucket of a registry in AWS")
        where.add_argument(
            "--store", type=name_argument, metavar="URL", help="either as a URL: file:DIR, dynamodb+s3://TABLE/BUCKET"
        )
        action.add_argument(
            "--registry",
            type=name_argument,
            metavar="NAME",
            help="the name of the registry (SIGLA_REGISTRY_NAME, or default)",
        )
        action.add_argument("--json", action="store_true", help="print JSON")


def create(args: argparse.Namespace) -> int:
    from sigla.auth import api_keys

    with _kept_in(args) as (keys, clock):
        try:
            key, secret = api_keys.create(
                keys, args.name, args.role, args.subjects, now=clock.now(), deletes=args.delete
            )
        except api_keys.NotAKey as problem:
            raise Misuse(str(problem)) from None
        except api_keys.KeyTaken:
            raise Refused(f"The key {args.name} exists already: revoke it first, or choose another name.") from None
    told = (
        json.dumps({"key": key.name, "secret": secret, **_key_facts(key)})
        if args.json
        else f"key: {key.name}\nsecret: {secret}"
    )
    try:
        print(told, flush=True)
    except OSError:
        with _kept_in(args) as (keys, _):
            keys.remove(key.name)  # its secret was not shown
        raise
    print(SHOWN_ONCE, file=sys.stderr)
    return 0


def show(args: argparse.Namespace) -> int:
    from sigla.auth import api_keys

    address = _address(args)
    if address.scheme == "file" and not Path(address.path).exists():
        print(f"sigla: Directory not found: {address.path}, so it has no keys.", file=sys.stderr)
    with _kept_in(args) as (keys, _):
        records = list(keys.list())
    listed: list[ApiKey] = []
    damaged: dict[str, api_keys.DamagedKey] = {}
    for name, record in records:
        try:
            listed.append(api_keys.read_key(name, record))
        except api_keys.DamagedKey as damage:
            damaged[name] = damage
    if args.json:
        broken = [{"key": name, "damaged": str(why)} for name, why in damaged.items()]
        print(json.dumps([{"key": key.name, **_key_facts(key)} for key in listed] + broken))
    else:
        _print_table([("key", "role", "subjects", "created"), *(_table_row(key) for key in listed)])
    for name, broken_key in damaged.items():
        print(f"sigla: {DAMAGED.format(name=name, place=_store_name(args), why=broken_key.advice)}", file=sys.stderr)
    return int(bool(damaged))


def revoke(args: argparse.Namespace) -> int:
    with _kept_in(args) as (keys, _):
        if not keys.remove(args.name):
            raise Refused(f"Unknown key {args.name} in {_store_name(args)}: `sigla keys list` shows the keys.")
    if args.json:
        print(json.dumps({"key": args.name, "revoked": True}))
    print(A_MINUTE.format(name=args.name), file=sys.stderr)
    return 0


@contextmanager
def _kept_in(args: argparse.Namespace) -> Iterator[tuple[Keys, Clock]]:
    from sigla import wiring

    with place.explained(_store_name(args)), wiring.keys(_address(args), args.registry or "") as kept:
        yield kept


def _address(args: argparse.Namespace) -> "Address":
    """Raises Misuse."""
    from sigla.settings import Address

    if args.store:
        return place.of_url(args.store)
    return Address.of(data=str(args.data), bucket=args.bucket or "")


def _store_name(args: argparse.Namespace) -> str:
    address = _address(args)
    return address.path if address.scheme == "file" else f"the bucket {address.names[1]}"


def _key_facts(key: ApiKey) -> Mapping[str, object]:
    return {
        "role": key.role,
        "delete": DELETE in key.principal.may,
        "subjects": list(key.subjects),
        "created": key.created,
    }


def _table_row(key: ApiKey) -> tuple[str, str, str, str]:
    created = datetime.fromtimestamp(key.created / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    role = f"{key.role}, delete" if key.deletes else key.role
    return key.name, role, " ".join(key.subjects) or "all", created


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
