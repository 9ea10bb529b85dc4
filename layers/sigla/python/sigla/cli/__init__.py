"""The `sigla` command: 0 fine, 1 refused, 2 misused. Why not is one sentence on standard error that says what to do."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from sigla import __version__
from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.output import escape_unprintable
from sigla.terminal.statuses import INTERRUPTED, UNHEARD

DESCRIPTION = """\
Sigla is a schema registry for Kafka that speaks the Confluent Schema Registry API.

  sigla serve                  a durable registry on http://127.0.0.1:8081, data in ./data
  sigla serve --memory         the same, forgotten when it stops
  sigla serve --port 9000      on another port
  sigla serve --auth           the same, for those who have an API key
  sigla serve --tls-cert FILE --tls-key FILE
                               over TLS
  sigla serve --zones 3        three zones, each with a URL and a cache ring
  sigla serve --registry a --registry b
                               several registries, a directory each
  sigla keys create NAME       makes an API key
  sigla log                    who changed what, and when
  sigla auth explain TOKEN     what a bearer token would be, or why it is refused
  sigla zone-url               URLs of a registry in AWS, the nearest zone's first
  sigla check                  would the schemas of sigla.yaml be accepted? Nothing is written
  sigla plan                   what has to be done so that a registry is as these files say
  sigla apply                  does it
  sigla pull                   writes the schemas of a registry to files, and sigla.yaml
  sigla import SOURCE          brings in what another registry holds: a dump of its topic, its URL
  sigla export FILE            a registry as such a dump
  sigla mirror URL             keeps a registry as another one is, until clients are moved over
  sigla promote URL            makes the follower of two regions the primary
  sigla regions URL            which region takes writes, and what the other one lacks
  sigla rejoin URL             a region comes back that was passed over by a forced promotion
  sigla backup FILE            a registry in one file, while it is served
  sigla restore FILE DIR       a registry from such a file, or into AWS with --store
  sigla explain RECORD         decodes one record, or shows the byte at which it fails
  sigla diff A B               what has changed between two schemas, and who can read whom
  sigla usage --subject S      who reads its versions, and when last
  sigla scrub                  compares bodies, catalog and journal
  sigla init                   gives a table and a bucket in AWS the identity of their deployment
  sigla stage STAGE.toml       the settings of a deployment to AWS, by asking
  sigla deploy STAGE.toml      a registry in AWS, or what has changed of it; `sigla destroy` removes it
  sigla ids                    how many ids are left, and where numbering goes on
  sigla land FILE              makes typed tables of topics; the jobs beside it are listed below
"""

EPILOG = """\
Settings are environment variables (SIGLA_DEFAULT_LEVEL=FULL, …); `sigla serve --help` lists them.
Any Confluent client works: point its schema.registry.url at the address that `sigla serve` prints.
"""


def main(argv: Sequence[str] | None = None) -> int:
    _open()
    escape_unprintable()
    try:
        status = _run(argv)
        sys.stdout.flush()
    except (Misuse, Refused) as problem:
        status = _say(problem, problem.status)
    except KeyboardInterrupt:
        status = _say("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        status = UNHEARD
    except OSError as failure:
        status = _say(f"{failure.filename or 'The output'} cannot be used ({failure.strerror}).", Misuse.status)
    _hush()
    return status


def _run(argv: Sequence[str] | None) -> int:
    from sigla.cli import jobs

    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in jobs.JOBS:
        return jobs.run(words)
    args = _parser().parse_args(words)
    if args.command is None:
        _parser().print_help()
        return 0
    return int(args.run(args))


def _open() -> None:
    """Has a stand-in for an output that the caller closed, so that whatever is written goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open as long as the process


def _say(problem: object, status: int) -> int:
    """The status tells it, too, where nothing can be written."""
    with suppress(OSError):
        print(f"sigla: {problem}", file=sys.stderr, flush=True)
    return status


def _hush() -> None:
    """What cannot be written goes nowhere: at its end the interpreter would try once more, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    from sigla.cli import (
        apply,
        auth,
        backup,
        check,
        deploy,
        diff,
        explain,
        export,
        ids,
        import_,
        init,
        jobs,
        keys,
        log,
        mirror,
        plan,
        promote,
        pull,
        regions,
        rejoin,
        restore,
        scrub,
        serve,
        stage,
        usage,
        zone_url,
    )

    parser = argparse.ArgumentParser(
        prog="sigla", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"sigla {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    serve.add_to(commands)
    keys.add_to(commands)
    auth.add_to(commands)
    zone_url.add_to(commands)
    log.add_to(commands)
    check.add_to(commands)
    plan.add_to(commands)
    apply.add_to(commands)
    pull.add_to(commands)
    import_.add_to(commands)
    export.add_to(commands)
    mirror.add_to(commands)
    promote.add_to(commands)
    regions.add_to(commands)
    rejoin.add_to(commands)
    backup.add_to(commands)
    restore.add_to(commands)
    scrub.add_to(commands)
    ids.add_to(commands)
    init.add_to(commands)
    stage.add_to(commands)
    deploy.add_to(commands)
    explain.add_to(commands)
    diff.add_to(commands)
    usage.add_to(commands)
    jobs.add_to(commands)
    return parser
