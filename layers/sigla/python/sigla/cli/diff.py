"""`sigla diff`: what is between two schemas, and who can read whom."""

import argparse
from pathlib import Path

from sigla.cli import credentials, declared
from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.arguments import context_argument

DESCRIPTION = """\
Tells what has changed from one schema to another, what each change breaks, and who can read whom. What is spelling or
documentation alone is told as such.

  sigla diff old.avsc new.avsc                     two files
  sigla diff HEAD~1:schemas/order.avsc schemas/order.avsc
                                                   a file as it was in a git revision, and as it is
  sigla diff orders-value:3 orders-value:latest --registry https://registry:8081
                                                   two versions of a registry
  sigla diff 42 order.avsc --data ./data           an id of a data directory, and a file
  sigla diff orders-value:latest orders-value      a version, and the file that sigla.yaml has for its subject
"""

EPILOG = """\
A and B are looked for in this order: a file, an id (digits alone), SUBJECT:VERSION or SUBJECT:latest, a file of a git
revision as REVISION:PATH, and the subject of a file of sigla.yaml. What a file of sigla.yaml references is found by it.
Nothing is written, and the verdict is ours, whatever registry the schemas are from.

0: the same schema, however it is spelled. 1: it differs; --fail-on says what counts. 2: it could not be told.
"""

FAILS: dict[str, str] = {
    "change": "any change, documentation too",
    "backward": "the new schema cannot read data of the old one",
    "forward": "the old schema cannot read data of the new one",
    "full": "either of the two",
    "never": "nothing",
}
TYPES = ("AVRO", "JSON", "PROTOBUF")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "diff",
        help="what is between two schemas: every change, and who can read whom",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("old", metavar="A", help="the old schema")
    parser.add_argument("new", metavar="B", help="the new schema")
    declared.add_config_option(parser)
    parser.add_argument("--type", choices=TYPES, help="what the files are, where their names do not say it")
    parser.add_argument(
        "--reference",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="what a file references, in the order of use; of a git revision it is read there. May be repeated",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--registry", default="", metavar="URL", help="where versions and ids are ($SIGLA_URL)")
    where.add_argument("--data", type=Path, metavar="DIR", help="or the data directory of a registry")
    where.add_argument("--store", default="", metavar="URL", help="or its store: file:DIR, dynamodb+s3://TABLE/BUCKET")
    credentials.add_user_option(parser)
    parser.add_argument(
        "--context", type=context_argument, default=".", metavar="NAME", help="the context of ids (the default context)"
    )
    parser.add_argument("--lenient", action="store_true", help="the policy LENIENT of JSON Schema")
    parser.add_argument(
        "--fail-on",
        choices=FAILS,
        default="change",
        help="exit with 1 on: " + "; ".join(f"{name}, {about}" for name, about in FAILS.items()),
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0, or 1 where it differs as --fail-on says. Raises Misuse also for what does not answer: 1 means different."""
    try:
        return _run(args)
    except Refused as refused:
        raise Misuse(str(refused)) from None


def _run(args: argparse.Namespace) -> int:
    import json

    from sigla.cli import diff_sides, diff_told
    from sigla.contract import STRICT
    from sigla.errors import CheckAbandoned, Malformed
    from sigla.languages import LANGUAGES
    from sigla.rules.difference import difference, form_of

    old, new = diff_sides.read(args)
    versions = (old.schema, new.schema) if old.schema and new.schema else None
    policy = "LENIENT" if args.lenient else STRICT
    try:
        told = difference(
            old.parsed, new.parsed, LANGUAGES, policy=policy, versions=versions, texts=(old.text, new.text)
        )
    except (CheckAbandoned, Malformed) as given_up:
        raise Misuse(f"{args.old} and {args.new} cannot be compared: {given_up}.") from None
    told = diff_told.with_spelling(told, old.text, new.text)
    if args.json:
        print(json.dumps({"old": args.old, "new": args.new, **form_of(told)}, ensure_ascii=False, indent=2))
    else:
        print("\n".join(diff_told.as_text(told, args.old, args.new)))
    failed = {
        "change": bool(told.changes),
        "backward": not told.backward.compatible,
        "forward": not told.forward.compatible,
        "full": not (told.backward.compatible and told.forward.compatible),
        "never": False,
    }
    return int(failed[args.fail_on])
