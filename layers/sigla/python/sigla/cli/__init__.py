"""The `sigla` command: 0 fine, 1 refused, 2 misused. Why not is one sentence on standard error that says what to do."""

import argparse
import sys
from collections.abc import Sequence

from sigla import __version__
from sigla.cli.misuse import Misuse, Refused

DESCRIPTION = """\
Sigla is a schema registry for Kafka that speaks the Confluent Schema Registry API.

  sigla serve                  a durable registry on http://127.0.0.1:8081, data in ./data
  sigla serve --memory         the same, forgotten when it stops
  sigla serve --port 9000      on another port
  sigla serve --auth           the same, for those who have an API key
  sigla serve --zones 3        three zones, each with a URL and a cache ring
  sigla keys create NAME       makes one
  sigla zone-url               URLs of a registry in AWS, the nearest zone's first
  sigla import SOURCE          brings in what another registry holds: a dump of its topic, or its URL
  sigla export FILE            a registry as such a dump
  sigla explain RECORD         decodes one record, or shows the byte at which it fails
  sigla scrub                  compares bodies, catalog and journal
"""

EPILOG = """\
Settings are environment variables (SIGLA_DEFAULT_LEVEL=FULL, …); `sigla serve --help` lists them.
Any Confluent client works: point its schema.registry.url at the address that `sigla serve` prints.
"""


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    if args.command is None:
        _parser().print_help()
        return 0
    try:
        return int(args.run(args))
    except (Misuse, Refused) as problem:
        print(f"sigla: {problem}", file=sys.stderr)
        return problem.status


def _parser() -> argparse.ArgumentParser:
    from sigla.cli import explain, export, import_, keys, scrub, serve, zone_url

    parser = argparse.ArgumentParser(
        prog="sigla", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"sigla {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    serve.add_to(commands)
    keys.add_to(commands)
    zone_url.add_to(commands)
    import_.add_to(commands)
    export.add_to(commands)
    scrub.add_to(commands)
    explain.add_to(commands)
    return parser
