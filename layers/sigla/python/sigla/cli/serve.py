"""`sigla serve`: a registry on this machine."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from sigla import __version__
from sigla.cli.misuse import Misuse

DESCRIPTION = """\
Serves the Confluent Schema Registry API from this machine: one process, no other service.
What it acknowledged is on disk; stop it as you like, it starts again where it was.
"""

BANNER = """\
Sigla {version}: a schema registry for Kafka

  url       {url}
  data      {data}
  access    {access}
  try       curl {url}/subjects
  clients   schema.registry.url={url}
  docs      {url}/docs   metrics {url}/metrics   health {url}/health

Stop with Ctrl-C.
"""


HIGHEST_PORT = 65_535


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "serve",
        help="a registry on this machine",
        description=DESCRIPTION,
        epilog=_settings_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--port", type=_port, default=8081, help="port to listen on (default %(default)s; 0 for any)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--data", type=Path, default=Path("data"), metavar="DIR", help="where data lives (default ./data)"
    )
    where.add_argument("--memory", action="store_true", help="keep nothing: for tests and trials")
    parser.add_argument("--auth", action="store_true", help="ask for API keys, which `sigla keys` makes")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serves until it is told to stop; 0 then. Raises Misuse."""
    from sigla import wiring

    data = None if args.memory else args.data
    try:
        wiring.serve(data, args.host, args.port, closed=args.auth, announce=_announcement(data))
    except wiring.STARTUP_PROBLEMS as problem:
        raise Misuse(_sentence(problem, data)) from None
    return 0


def _sentence(problem: Exception, data: Path | None) -> str:
    if isinstance(problem, OSError) and problem.errno is not None:
        return f"The data cannot be kept in {data} ({problem.strerror}); choose another directory with --data."
    return str(problem)


def _announcement(data: Path | None) -> Callable[[str, str], None]:
    where = "in memory, forgotten at the end" if data is None else str(data.resolve())

    def announce(url: str, access: str) -> None:
        # Standard error: standard output is for the log, a line of JSON per request.
        url = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
        print(BANNER.format(version=__version__, url=url, data=where, access=access), file=sys.stderr, flush=True)

    return announce


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; ports are 0 to {HIGHEST_PORT}")
    return int(text)


def _settings_help() -> str:
    from sigla.settings import described

    lines = "\n".join(f"  {name:<36} {default}" for name, default in described())
    return f"settings (environment variables) and their defaults:\n{lines}"
