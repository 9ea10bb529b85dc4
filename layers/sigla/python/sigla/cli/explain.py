"""`sigla explain`: one record, from its frame to its value, or to the byte at which it fails."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli import credentials, place
from sigla.cli.misuse import Misuse
from sigla.model import DEFAULT_CONTEXT
from sigla.terminal.arguments import context_argument

if TYPE_CHECKING:
    from sigla.decoding.explain import Given

DESCRIPTION = """\
Decodes one record and tells what it is made of: its frame, the schema that wrote it, what of it a reader gets, and its
value, or the byte at which it fails and why.

  sigla explain record.bin                           a value as it is in Kafka
  sigla explain 000000002a0461                       the same in hex, or in base64
  sigla explain payload.bin --id 42                  a payload that has no frame
  sigla explain --brokers localhost:9092 --topic orders --partition 0 --offset 1234
"""

EPILOG = """\
Exit status: 0 decoded, 1 not decodable, or a store is silent, 2 misused. Topics need what \
`pip install 'sigla-registry[kafka]'` brings, JSON Schema what `pip install 'sigla-registry[pipelines]'` does.
"""

INSTALL = "pip install 'sigla-registry[pipelines]'"

NO_FRAME = "; --id names the schema of a payload without a frame"

FORMS = ("file", "hex", "base64")
"""What RECORD may be."""

PARTS = ("value", "key")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "explain",
        help="decode one record, or show the byte at which it fails",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("record", nargs="?", default="", metavar="RECORD", help="a file, `-`, hex or base64")
    parser.add_argument("--as", dest="form", choices=FORMS, help="the form of RECORD, if it is not recognised")
    parser.add_argument("--id", type=int, metavar="ID", help="the schema of a payload that has no frame")
    parser.add_argument("--reader", type=int, metavar="ID", help="read it as this schema, and show how")
    parser.add_argument(
        "--context",
        type=context_argument,
        default=DEFAULT_CONTEXT,
        metavar="NAME",
        help="the context of the ids (the default context)",
    )
    topic = parser.add_argument_group("a record of a topic")
    topic.add_argument("--topic", metavar="NAME")
    topic.add_argument("--partition", type=int, default=0, metavar="N", help="the partition (0)")
    topic.add_argument("--offset", type=int, metavar="N")
    topic.add_argument("--brokers", metavar="HOST:PORT", help="the brokers, separated by commas")
    topic.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="settings of the consumer, such as credentials, as name=value lines",
    )
    topic.add_argument("--part", choices=PARTS, default="value", help="the part of the record (value)")
    place.add_to(parser)
    parser.add_argument("--registry-url", default="", metavar="URL", help="ask a registry's API instead")
    credentials.add_user_option(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0, or 1 for what cannot be decoded. Raises Misuse, Refused."""
    from sigla.cli import explain_schemas, explain_told
    from sigla.decoding.explain import Asked, LibraryMissing, explained
    from sigla.decoding.reasons import Reason

    asked = Asked(_given(args), args.part, args.id, args.reader, args.context)
    with explain_schemas.opened(args) as schemas:
        try:
            found = explained(asked, schemas)
        except LibraryMissing as missing:
            raise Misuse(f"{missing}: {INSTALL}.") from None
    if found.failure and found.failure["reason"] == Reason.BAD_MAGIC.value:
        found.failure["detail"] += NO_FRAME
    print(explain_told.as_json(found) if args.json else "\n".join(explain_told.as_text(found)))
    return int(found.failure is not None)


def _given(args: argparse.Namespace) -> "Given":
    """Raises Misuse, Refused."""
    from sigla.cli import explain_records, topics

    if bool(args.record) == bool(args.topic):
        raise Misuse("The record is missing: give RECORD, or --topic with --offset and --brokers.")
    if args.record:
        return explain_records.given(args.record, args.form)
    if args.offset is None or args.offset < 0 or args.partition < 0 or not args.brokers:
        raise Misuse("--topic needs --brokers and --offset; --partition and --offset are 0 or more.")
    settings = {**topics.properties(args.settings), "bootstrap.servers": args.brokers}
    return explain_records.fetched(args.topic, args.partition, args.offset, args.part, settings)
