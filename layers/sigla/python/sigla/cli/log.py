"""`sigla log`: who changed what, and when."""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Final

from sigla.cli import place
from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.arguments import name_argument

if TYPE_CHECKING:
    from sigla.ports.log import LogEntry, Matter
    from sigla.ports.store import Store

DESCRIPTION = """\
Shows every change of a registry with its time, who asked for it and by which way, the oldest first. It only reads, and
the registry may be served meanwhile.

Names are kept for a while after the last change of their principal, and then their token is shown. (anyone) is whoever
was asked for no key, (sigla) what the registry does by itself, (unknown) what releases up to 0.2 wrote.
"""

EPILOG = """\
Exit status: 0, or 1 if --verify finds that something does not fit together (or a store does not answer), 2 misused.
--forget takes a name away from its token: what it changed stays in the log. In a directory that needs the registry to
be stopped.
"""

UNKNOWN: Final = "unknown"
PLAIN: Final = ("anyone", "sigla")
"""Tokens that need no name."""

VERBS: Final[Mapping[str, str]] = {
    "Registered": "registered",
    "Imported": "imported",
    "Displaced": "imported what was written over",
    "VersionDeleted": "deleted",
    "SubjectDeleted": "deleted",
    "VersionPurged": "deleted for good",
    "SubjectPurged": "deleted for good",
    "ConfigChanged": "changed the config of",
    "ModeChanged": "changed the mode of",
    "ImportBegun": "prepared for an import",
    "ContextListed": "listed the context",
    "ContextDropped": "deleted the context",
    "NumberingSet": "set the numbering of",
    "IdBuried": "imported the id of what was deleted,",
    "KekChanged": "changed the key",
    "DeksChanged": "changed keys under",
    "AssociationsChanged": "changed associations of",
    "ExporterChanged": "changed the exporter",
}
"""What is said of a change, by its kind."""

_WORD: Final = re.compile(r'[^\s,()\[\]"]+')
"""What stands in a line as it is."""

SHOWN: Final = 3
"""So many things that a change is about are named in its line."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "log",
        help="show who changed what, and when",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    place.add_to(parser)
    parser.add_argument("--subject", type=name_argument, metavar="SUBJECT", help="only what is about this subject")
    parser.add_argument(
        "--by", type=name_argument, metavar="WHO", help="only changes by this API key, user (cli:NAME) or token"
    )
    parser.add_argument(
        "--since", type=_moment, default=0, metavar="TIME", help="only changes since then, as 2026-11-30T09:00:00Z"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    parser.add_argument(
        "--verify", action="store_true", help="check that nothing of the journal was changed, removed or told twice"
    )
    parser.add_argument(
        "--from",
        dest="hash",
        type=_hash,
        metavar="HASH",
        help="verify from what an earlier --verify ended with",
    )
    parser.add_argument("--forget", type=name_argument, metavar="NAME", help="take a name away from its token")
    parser.set_defaults(run=run)


def _moment(text: str) -> int:
    """Milliseconds. A time without a zone is that of this machine. Raises ArgumentTypeError."""
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"Invalid time {text!r}: expected one as 2026-11-30T09:00:00Z.") from None


def _hash(text: str) -> str:
    """Raises ArgumentTypeError."""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise argparse.ArgumentTypeError(f"Invalid hash {text!r}: expected 64 of 0-9 and a-f.")
    return text


def run(args: argparse.Namespace) -> int:
    """0, or 1 if --verify finds that something does not fit together. Raises Misuse, Refused."""
    from sigla import opening
    from sigla.journal.log_entries import form_of_entry

    address = place.address(args)
    if args.hash and not args.verify:
        raise Misuse("--from says where --verify begins: add --verify.")
    if args.forget:
        return _forget(args)
    if args.verify:
        return _verify(args)
    with place.explained(address), opening.reading(address) as held:
        told = _Told(held)
        for entry in _chosen(held, told, args):
            print(json.dumps(form_of_entry(entry, told.name(entry))) if args.json else told.line(entry))
    return 0


def _forget(args: argparse.Namespace) -> int:
    from sigla import opening

    _check_alone(args, "--forget takes a name away")
    address = place.address(args)
    with place.explained(address), opening.reading(address) as held:
        if all(kept.name != args.forget for kept in held.principals.names(held.clock.now())):
            raise Refused(f"No name {args.forget} is kept in {address}.")
    with place.explained(address), opening.writing(address) as writing:
        writing.store.principals.forget(args.forget)
    print(f"The name {args.forget} is forgotten." if not args.json else json.dumps({"forgotten": args.forget}))
    return 0


def _check_alone(args: argparse.Namespace, what: str) -> None:
    """Raises Misuse."""
    if args.subject or args.by or args.since or (args.verify and args.forget):
        raise Misuse(f"{what} and shows nothing: leave the other options out.")


def _verify(args: argparse.Namespace) -> int:
    """0, or 1 if something does not fit together."""
    from sigla import opening
    from sigla.upkeep.chain import verify

    _check_alone(args, "--verify checks the whole journal")
    address = place.address(args)
    with place.explained(address), opening.reading(address) as held:
        what, found = held.log.link, verify(held.log, since=args.hash or "")
    if args.json:
        flaws = [{"kind": flaw.kind.value, "sentence": flaw.sentence} for flaw in found.flaws]
        print(json.dumps({**asdict(found), "flaws": flaws}))
        return int(bool(found.flaws))
    for flaw in found.flaws:
        print(f"{flaw.kind.value}: {flaw.sentence}")
    if found.unchained:
        print(f"{found.unchained} {what}s of an earlier release name none before them.")
    if found.links and not found.flaws:
        several = "s" * (found.links != 1)
        print(f"Nothing was changed: {found.links} {what}{several}, from {found.first} to {found.last}.")
    if found.links:
        print(f"Keep this for a later --from: {found.hash}")
    elif not found.flaws:
        print("There is nothing to verify yet.")
    return int(bool(found.flaws))


def _chosen(held: "Store", told: "_Told", args: argparse.Namespace) -> "Iterator[LogEntry]":
    from sigla.rules import names

    subject = None if args.subject is None else names.subject(args.subject).qualified
    for entry in held.log.entries(args.since):
        if (args.by is None or told.is_by(entry, args.by)) and (subject is None or entry.is_about(subject)):
            yield entry


class _Told:
    """Entries in words, with the names that are kept."""

    def __init__(self, held: "Store") -> None:
        self._names = {kept.token: kept.name for kept in held.principals.names(held.clock.now())}

    def name(self, entry: "LogEntry") -> str | None:
        """None where no name is kept."""
        return self._names.get(entry.by)

    def is_by(self, entry: "LogEntry", who: str) -> bool:
        return who in (entry.by or UNKNOWN, self.name(entry))

    def line(self, entry: "LogEntry") -> str:
        from sigla.journal.log_entries import time_text

        verb = VERBS.get(entry.change, "changed")
        return _printable(
            f"{time_text(entry.at)}  {self._author(entry)} {verb} {_matters(entry)}{_way(entry)}".rstrip()
        )

    def _author(self, entry: "LogEntry") -> str:
        if not entry.by or entry.by in PLAIN:
            return f"({entry.by or UNKNOWN})"
        return _quoted(self._names.get(entry.by, entry.by))


def _matters(entry: "LogEntry") -> str:
    """The first of them, and how many more. A context that a registration lists is not what that is about."""
    about = [each for each in entry.matters if each.type != "CONTEXT"] or list(entry.matters)
    distinct = list(dict.fromkeys(map(_matter, about)))
    more = f" and {len(distinct) - SHOWN} more" if len(distinct) > SHOWN else ""
    return ", ".join(distinct[:SHOWN]) + more


def _matter(matter: "Matter") -> str:
    version = f" {matter.version}" if matter.version is not None else ""
    id = f" (id {matter.id})" if matter.id is not None else ""
    named = " of ".join(_quoted(each) for each in (matter.name, matter.subject) if each)
    return f"{named or 'everything'}{version}{id}"


def _way(entry: "LogEntry") -> str:
    via = entry.via
    parts = [via.get("way", "") if via.get("way") != "api" else "", via.get("request", ""), via.get("address", "")]
    said = ", ".join(_quoted(part) for part in parts if part)
    return f"  [{said}]" if said else ""


def _quoted(text: str) -> str:
    """In quotes where it could be taken for other parts of the line: clients choose names of subjects and requests."""
    return text if _WORD.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _printable(text: str) -> str:
    """A line stays one, whatever a client has called its request."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
