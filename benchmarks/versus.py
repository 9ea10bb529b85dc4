"""Another commit beside this one: the same benchmarks in alternating runs, and what became worse.

    python -m benchmarks.versus REVISION [NAME …] [--rounds 5]

The other commit is checked out below `build/versus`, with an environment of its own. In each round either side runs
each benchmark once; who begins changes from round to round. What is compared is a line's ratio to the baseline that ran
in turns with it, or its figure without a baseline. A line is worse if its median is more than 5 % worse and the
distance is also larger than the spread: that of the middle runs of either side, without the best and the worst of five.

It may mislead: two commits that quote different baselines under one name are compared all the same, and what disturbs
the machine for longer than a round looks like a difference.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.harness import ROOT, shown

NAMES = (
    "avro_check",
    "json_check",
    "protobuf_check",
    "import_time",
    "warm_get",
    "serve_cpu",
    "client_calls",
    "register",
    "cold_start",
    "start_up",
    "growth",
)
"""Those compared where none are named: what a change of the registry may slow down, in minutes."""

ROUNDS = 5
TOLERATED = 0.05

Told = dict[str, list[dict[str, object]]]
"""By a line's name, its facts in each run."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One line on both sides. rises: a larger figure is better. unit: as in `Line`."""

    what: str
    before: Sequence[float]
    now: Sequence[float]
    unit: str
    rises: bool = False

    @property
    def change(self) -> float:
        """The share by which the median became worse; below zero where it became better."""
        before, now = median(self.before), median(self.now)
        if not before:
            return 0.0
        return (before - now) / before if self.rises else (now - before) / before

    @property
    def spread(self) -> float:
        """The distance within the middle runs of the less steady side, as a share of the median before."""
        return max(map(_middle, (self.before, self.now))) / (median(self.before) or 1.0)

    @property
    def is_worse(self) -> bool:
        return self.change > max(TOLERATED, self.spread)

    def row(self) -> str:
        before, now = (shown(median(each), self.unit) for each in (self.before, self.now))
        verdict = "WORSE" if self.is_worse else ""
        return f"  {self.what:<64} {before:>9} {now:>9} {self.change:>+8.1%} {self.spread:>8.1%}  {verdict}".rstrip()


def _middle(runs: Sequence[float]) -> float:
    ordered = sorted(runs)
    inner = ordered[1:-1] if len(ordered) >= ROUNDS else ordered
    return inner[-1] - inner[0]


def main(argv: Sequence[str] | None = None) -> int:
    """0 if nothing became worse, 1 if something did, or if a benchmark did not run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", metavar="REVISION", help="the commit to compare with, as git names it")
    parser.add_argument("names", nargs="*", metavar="NAME", default=NAMES, help=f"(default: {', '.join(NAMES)})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="runs of either side (default 5)")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not how fast")
    args = parser.parse_args(argv)
    if args.rounds < 1:
        parser.error(f"Invalid number of rounds {args.rounds}: expected 1 or more.")
    options = ["--quick"] if args.quick else []
    other = checked_out(args.revision)
    worse = 0
    print(f"  {'':<64} {'before':>9} {'now':>9} {'worse by':>8} {'spread':>8}")
    for name in args.names:
        print(name, flush=True)
        for each in compared(*alternating(other, ROOT, name, options, args.rounds)):
            print(each.row(), flush=True)
            worse += each.is_worse
    print(f"{worse or 'No'} line{'' if worse == 1 else 's'} became worse.")
    return 1 if worse else 0


def checked_out(revision: str) -> Path:
    """Another commit of this repository, with its environment. Ends the command where git does not know it."""
    asked = ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    if not found:
        sys.exit(f"Unknown commit {revision}: choose one that `git log` shows.")
    place = ROOT / "build" / "versus" / found[:12]
    if not place.is_dir():
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", place, found], cwd=ROOT, check=True)
    subprocess.run(["requirements/install.sh", "dev"], cwd=place, check=True)
    # Servers that are installed here serve both sides.
    installed = place / ".localstack"
    if not installed.exists() and (ROOT / ".localstack").exists():
        installed.symlink_to(ROOT / ".localstack")
    return place


def alternating(before: Path, now: Path, name: str, options: Sequence[str], rounds: int) -> tuple[Told, Told]:
    """The lines of each run of either side, by their names."""
    told: dict[Path, Told] = {before: {}, now: {}}
    for number in range(rounds):
        for place in (before, now) if number % 2 == 0 else (now, before):
            for line in lines_of(place, name, options):
                told[place].setdefault(str(line["what"]), []).append(line)
    return told[before], told[now]


def lines_of(place: Path, name: str, options: Sequence[str]) -> list[dict[str, object]]:
    python = place / ".venv" / "bin" / "python"
    # Either side keeps its filled stores for itself: it would remove those of another form as stale.
    temporary = place / "build" / "benchmarks"
    temporary.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        [python, "-m", "benchmarks", name, "--json", *options],
        cwd=place,
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode or not ran.stdout:
        sys.exit(f"{name} did not run in {place}:\n{ran.stderr}")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def compared(before: Told, now: Told) -> list[Compared]:
    """The lines that both sides have, in today's order."""
    return [_compared(what, before[what], lines) for what, lines in now.items() if what in before]


def _compared(what: str, before: Sequence[Mapping[str, object]], now: Sequence[Mapping[str, object]]) -> Compared:
    rated = all(line["ratio"] is not None for line in (*before, *now))
    column = "ratio" if rated else "figure"
    unit = str(now[0]["unit"])
    earlier, later = ([float(str(line[column])) for line in side] for side in (before, now))
    return Compared(what, earlier, later, "×" if rated else unit, rises=unit == "/s")


if __name__ == "__main__":
    sys.exit(main())
