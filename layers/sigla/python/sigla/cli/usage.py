"""`sigla usage`: who reads the versions of a subject, and what that does not say."""

import argparse
import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sigla.cli import credentials, place
from sigla.cli.misuse import Misuse, Refused, reading_remote
from sigla.terminal.arguments import name_argument

if TYPE_CHECKING:
    from sigla.registry import Registry
    from sigla.registry.usages import Usage
    from sigla.remote.client import Remote, RemoteAnswer

DESCRIPTION = """\
Tells who has read the versions of a subject by their ids, and on which day last; in which topics records of them
were found by the last `sigla audit --for-usage`; and what that does not say. It is evidence: that no use is known
never means that a version is not used.

  sigla usage --registry URL --subject SUBJECT              all versions, soft-deleted ones too
  sigla usage --registry URL --subject SUBJECT --version 3  one of them
"""

EPILOG = """\
Exit status: 0, 1 if the subject or the version is not there (or the registry does not answer), 2 misused.
"""

NOWHERE: Final = "Usage is told by a registry: give --registry URL (or set SIGLA_URL), --data DIR or --store URL."
NO_ROUTE: Final = (
    "{url} does not count reads by id: that needs a registry of Sigla, of a release that has `sigla usage`."
)
NAMELESS: Final = {"anyone": "a client that was asked for no key"}
DAY_MS: Final = 86_400_000
HOUR_MS: Final = 3_600_000
SHOWN: Final = 20
"""So many readers of a version are named; the rest is counted. --json has them all."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "usage",
        help="who reads the versions of a subject, and when last",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--subject", required=True, type=name_argument, metavar="SUBJECT", help="of which subject")
    parser.add_argument("--version", type=name_argument, metavar="N", help="this version alone: a number, or latest")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--registry", default="", metavar="URL", help="the registry ($SIGLA_URL)")
    where.add_argument("--data", type=Path, metavar="DIR", help="or its data directory; it may be served meanwhile")
    where.add_argument("--store", default="", metavar="URL", help="or its store: file:DIR, dynamodb+s3://TABLE/BUCKET")
    credentials.add_user_option(parser)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Raises Misuse, Refused."""
    form = _found(args)
    if args.json:
        print(json.dumps(form, ensure_ascii=False, indent=2))
    else:
        print("\n".join(usage_lines(form)))
    return 0


def _found(args: argparse.Namespace) -> Mapping[str, Any]:
    from sigla.settings import REMOTE_URL
    from sigla.terminal.environment import of_another_registry

    if args.data or args.store:
        return _stored(args)
    url = args.registry or of_another_registry(REMOTE_URL)
    if not url:
        raise Misuse(NOWHERE)
    return _remote(args, url)


def _remote(args: argparse.Namespace, url: str) -> Mapping[str, Any]:
    from sigla.remote.client import Remote
    from sigla.stores.clock import SystemClock

    with reading_remote(), closing(Remote(url, credentials.user_of(args, url), SystemClock())) as remote:
        answer = ask_for_usage(remote, args.subject, args.version)
        if answer.status == 200:
            form: Mapping[str, Any] = json.loads(answer.body)
            return form
        if answer.code == 404:
            raise Misuse(NO_ROUTE.format(url=remote.shown))
        kind = Misuse if answer.status == 422 else Refused
        raise kind(f"{remote.shown} answers {answer.code}: {answer.sentence.rstrip('.')}.")


def ask_for_usage(remote: "Remote", subject: str, version: str = "") -> "RemoteAnswer":
    """What the registry answers. Raises RemoteRefused, RemoteMisused."""
    path = f"/subjects/{quote(subject, safe='')}/usage"
    return remote.send("GET", path, version=version) if version else remote.send("GET", path)


def _stored(args: argparse.Namespace) -> Mapping[str, Any]:
    from sigla import opening
    from sigla.errors import InvalidVersion, Refusal
    from sigla.registry import Registry
    from sigla.rules import names

    address = place.of_url(args.store or f"file:{args.data}")
    with place.explained(address), opening.reading(address) as held:
        registry = Registry(
            held.catalog, held.bodies, held.clock, principals=held.principals, reads=held.reads, audits=held.audits
        )
        try:
            version = names.version(args.version) if args.version else None
            found = registry.usage(names.subject(args.subject), version)
        except InvalidVersion as invalid:
            raise Misuse(f"Invalid --version {args.version}: {invalid.message}") from None
        except Refusal as refusal:
            raise Refused(f"In {address}: {refusal.message}") from None
        return stored_form(registry, found)


def stored_form(registry: "Registry", found: "Usage") -> Mapping[str, Any]:
    """What the API would answer; whether reads are counted now, a store does not know."""
    from sigla.registry.usages import form_of_usage

    return form_of_usage(found, registry.names_of(found.tokens), is_counting=None)


def usage_lines(form: Mapping[str, Any]) -> list[str]:
    """What people read. form: as the API has it."""
    lines: list[str] = []
    for version in form["versions"]:
        deleted = ", soft-deleted" if version["deleted"] else ""
        lines.append(f"{form['subject']} {version['version']} (id {version['id']}{deleted})")
        lines += [f"  {line}" for line in evidence(version)] or ["  no use is known"]
    lines += ["", "What this does not say:", *(f"- {limit}" for limit in form["limits"])]
    return lines


def evidence(version: Mapping[str, Any]) -> list[str]:
    """A line for each reader, and for each topic with records, that is known of a version."""
    reads = version["reads"]
    lines = [_read_line(read) for read in reads[:SHOWN]]
    if len(reads) > SHOWN:
        lines.append(f"and {len(reads) - SHOWN} more readers, the last of them on {reads[SHOWN]['day']}")
    return [*lines, *map(_records_line, version["records"])]


def _records_line(records: Mapping[str, Any]) -> str:
    seen = f", the last one of {records['last'][:10]}" if "last" in records else ""
    kept = f"; {records['topic']} keeps records {_duration(records['retentionMs'])}" if "retentionMs" in records else ""
    return f"{records['rows']} records of it seen in the topic {records['topic']}{seen}{kept}"


def _duration(milliseconds: int) -> str:
    if milliseconds < 0:
        return "for ever"
    days, hours = milliseconds / DAY_MS, milliseconds / HOUR_MS
    return f"for {days:g} days" if days >= 1 else f"for {hours:.2g} hours"


def _read_line(read: Mapping[str, str]) -> str:
    who = read.get("name") or NAMELESS.get(read["by"], read["by"])
    asked = f", for {read['subject']}" if "subject" in read else ""
    return f"last read by {who} on {read['day']}{asked}"
