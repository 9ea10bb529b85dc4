"""`sigla keys`: who may ask a registry that asks for keys."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.auth.api_keys import ApiKey, Keys
from sigla.cli import place
from sigla.cli.misuse import Misuse, Refused
from sigla.ports.clock import Clock
from sigla.rules import names
from sigla.terminal.arguments import bucket_argument, duration_argument, name_argument, path_argument

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
BOTH = "The secret before opens the key, too, until {until}; then it opens nothing."
AT_ONCE = "Secrets before open nothing any more: a registry that has just accepted one does so for a minute at most."
A_MINUTE = "Key {name} is revoked: a registry that has just accepted it goes on doing so for a minute at most."


NOT_ONE_CONTEXT = "{prefix} is every context whose name begins so. For this one alone, write {prefix}: with a colon."
DAMAGED = "The key {name} in {place} opens nothing, because {why}."


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "keys",
        help="API keys: create, list, rotate, revoke",
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
    made.add_argument(
        "--expires",
        type=_expiry,
        metavar="DURATION|TIME",
        help="when the key ends: after a duration as in 90d, or at a day or time as in 2027-01-31T09:00:00Z",
    )
    made.set_defaults(run=create)
    listed = actions.add_parser("list", help="list the keys")
    listed.add_argument("--revoked", action="store_true", help="also those that were revoked, with who did it and when")
    listed.set_defaults(run=show)
    rotated = actions.add_parser(
        "rotate",
        help="give a key a new secret; the one before is good for a while",
        description="Makes a new secret for a key, and shows it once. Those before open the key for a while, too.",
    )
    rotated.add_argument("name", metavar="NAME")
    rotated.add_argument(
        "--for",
        dest="lasts_ms",
        type=duration_argument,
        default="1d",
        metavar="DURATION",
        help="for how long the secrets before are good, as in 12h or 7d; 0: no longer (default %(default)s)",
    )
    rotated.set_defaults(run=rotate)
    revoked = actions.add_parser("revoke", help="revoke a key, within a minute")
    revoked.add_argument("name", metavar="NAME")
    revoked.set_defaults(run=revoke)
    for action in (made, listed, rotated, revoked):
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
    from sigla.opening import operator

    with _kept_in(args) as (keys, clock):
        now = clock.now()
        try:
            key, secret = api_keys.create(
                keys,
                args.name,
                args.role,
                args.subjects,
                now=now,
                deletes=args.delete,
                expires=args.expires and args.expires(now),
                by=operator(),
            )
        except api_keys.NotAKey as problem:
            raise Misuse(str(problem)) from None
        except api_keys.KeyTaken:
            raise Refused(f"The key {args.name} exists already: revoke it first, or choose another name.") from None
    for prefix in args.subjects:
        if names.search(prefix).context_prefix not in ("", "."):
            print(f"sigla: {NOT_ONE_CONTEXT.format(prefix=prefix)}", file=sys.stderr)
    try:
        _show_secret(args, key, secret)
    except OSError:
        with _kept_in(args) as (keys, _):
            keys.remove(key.name)  # its secret was not shown
        raise
    print(SHOWN_ONCE, file=sys.stderr)
    return 0


def rotate(args: argparse.Namespace) -> int:
    from sigla.auth import api_keys, rotation

    with _kept_in(args) as (keys, clock):
        now = clock.now()
        try:
            rotated = rotation.rotate(keys, args.name, now=now, lasts_ms=args.lasts_ms)
        except rotation.UnknownKey:
            raise Refused(_unknown(args)) from None
        except api_keys.DamagedKey as damage:
            raise Refused(DAMAGED.format(name=args.name, place=_store_name(args), why=damage.advice)) from None
        except rotation.NotRotated as why:
            raise Refused(str(why)) from None
    try:
        _show_secret(args, rotated.key, rotated.secret)
    except OSError:
        with _kept_in(args) as (keys, _):
            keys.replace(rotated.key.name, rotated.after, rotated.before)  # the new secret was not shown
        raise
    print(SHOWN_ONCE, file=sys.stderr)
    former = rotated.key.former
    print(BOTH.format(until=api_keys.shown_moment(former[0].until)) if former else AT_ONCE, file=sys.stderr)
    return 0


def _show_secret(args: argparse.Namespace, key: ApiKey, secret: str) -> None:
    """Raises OSError where it is not shown."""
    from sigla.auth.listed_keys import key_facts

    if args.json:
        print(json.dumps({"key": key.name, "secret": secret, **key_facts(key)}), flush=True)
    else:
        print(f"key: {key.name}\nsecret: {secret}", flush=True)


def show(args: argparse.Namespace) -> int:
    from sigla.auth.listed_keys import key_facts, listed_keys

    address = _address(args)
    if address.scheme == "file" and not Path(address.path).exists():
        print(f"sigla: Directory not found: {address.path}, so it has no keys.", file=sys.stderr)
    with _kept_in(args) as (keys, clock):
        found = listed_keys(keys, revoked=args.revoked)
        now = clock.now()
    if args.json:
        broken = [{"key": name, "damaged": str(why)} for name, why in found.damaged.items()]
        shown = [{"key": key.name, **key_facts(key), "used": found.used(key) or None} for key in found.keys]
        print(json.dumps(shown + broken))
    else:
        head = ("key", "role", "subjects", "created", "expires", "secrets", "used", "by")
        _print_table([head, *(_table_row(key, found.used(key), now) for key in found.keys)])
    for name, broken_key in found.damaged.items():
        print(f"sigla: {DAMAGED.format(name=name, place=_store_name(args), why=broken_key.advice)}", file=sys.stderr)
    return int(bool(found.damaged))


def revoke(args: argparse.Namespace) -> int:
    from sigla.auth import api_keys
    from sigla.opening import operator

    with _kept_in(args) as (keys, clock):
        try:
            was_there = api_keys.revoke(keys, args.name, now=clock.now(), by=operator())
        except api_keys.KeyChanged as why:
            raise Refused(str(why)) from None
    if not was_there:
        raise Refused(_unknown(args))
    if args.json:
        print(json.dumps({"key": args.name, "revoked": True}))
    print(A_MINUTE.format(name=args.name), file=sys.stderr)
    return 0


def _unknown(args: argparse.Namespace) -> str:
    return f"Unknown key {args.name} in {_store_name(args)}: `sigla keys list` shows the keys."


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


def _table_row(key: ApiKey, day: str, now: int) -> tuple[str, ...]:
    expires = "never" if key.expires is None else _minute(key.expires)
    if key.until <= now:
        expires = f"{expires}, expired"
    if key.revoked is not None:
        expires = f"revoked {_minute(key.revoked.at)} by {key.revoked.by}"
    former = [each.until for each in key.secrets[1:] if now < each.until]
    secrets = f"{1 + len(former)}, until {_minute(max(former))}" if former else "1"
    role = f"{key.role}, delete" if key.deletes else key.role
    subjects = " ".join(key.subjects) or "all"
    if key.revoked is not None:
        secrets = "0"
    used, by = day or "-", key.by or "-"
    return key.name, role, subjects, _minute(key.created), expires, secrets, used, by


def _minute(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def _expiry(text: str) -> Callable[[int], int]:
    """The end of a key that is made now. Raises ArgumentTypeError. A time without a zone is that of this machine."""
    with suppress(argparse.ArgumentTypeError):
        lasts_ms = duration_argument(text)
        return lambda now: now + lasts_ms
    try:
        at = round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(
            f"Invalid end {text!r}: expected a duration as in 90d, or a day or time as in 2027-01-31T09:00:00Z."
        ) from None
    return lambda _: at


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
