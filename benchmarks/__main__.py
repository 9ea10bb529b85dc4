"""Every benchmark, one table: `python -m benchmarks [NAME …] [--quick] [--json] [--with-playground]`."""

import importlib
import sys
import time
import traceback
from collections.abc import Sequence

from benchmarks.harness import LEGEND, Line, NotHere, arguments, report

NAMES = (
    "avro_check",
    "json_check",
    "protobuf_check",
    "import_time",
    "warm_get",
    "body_check",
    "tokens",
    "serve_cpu",
    "client_calls",
    "register",
    "register_on_aws",
    "cold_start",
    "console",
    "start_up",
    "check_files",
    "member_cost",
    "herd",
    "growth",
    "hostile",
    "unread",
    "waits",
    "largest",
    "tls",
    "guesses",
    "upgrade",
    "exporters",
    "following",
    "following_on_aws",
    "keys_on_aws",
)
ON_SPARK = ("load_topic", "land", "many_topics", "upsert", "audit")
"""Those that take Java and Spark minutes, also in small; `make bench` runs them, the tests do not."""
ON_DEMAND = ("playground", "uvx")
"""Those that need the network."""


def main(argv: Sequence[str] | None = None, usual: Sequence[str] = NAMES + ON_SPARK) -> int:
    """0 if every benchmark ran, whatever the figures; a figure depends on the machine. usual: where none is named."""
    parser = arguments(__doc__)
    every = (*usual, *ON_DEMAND)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(every)}")
    parser.add_argument(
        "--with-playground", action="store_true", help="also `make playground` and `uvx`, from the network"
    )
    args = parser.parse_args(argv)
    names = args.names or (*usual, *(ON_DEMAND if args.with_playground else ()))
    if strangers := set(names) - {*every}:
        parser.error(f"unknown benchmark {', '.join(sorted(strangers))}. Valid names: {', '.join(every)}")
    if not args.json:
        print(LEGEND)
    lines: list[Line] = []
    broken = []
    for name in names:
        begun = time.monotonic()
        if not args.json:
            print(name, flush=True)
        try:
            module = importlib.import_module(f"benchmarks.{name}")
            lines += report(module.lines(quick=args.quick), as_json=args.json)
        except NotHere as reason:
            print(f"  not measured: {reason}", file=sys.stderr)
        except Exception:  # noqa: BLE001 - the others are worth running
            traceback.print_exc()
            broken.append(name)
        if not args.json:
            print(f"  ({time.monotonic() - begun:.0f} s)\n", flush=True)
    if not args.json:
        print(_summary(lines, broken))
    return 1 if broken else 0


def _summary(lines: Sequence[Line], broken: Sequence[str]) -> str:
    judged = [line for line in lines if line.goal]
    missed = [line.what for line in judged if not line.holds]
    told = [f"{len(judged) - len(missed)} of {len(judged)} goals hold."]
    told += [f"  missed: {what}" for what in missed]
    told += [f"  did not run: {name}" for name in broken]
    return "\n".join(told)


if __name__ == "__main__":
    sys.exit(main())
