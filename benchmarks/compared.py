"""What memory and a ring save: the same requests without both, with memory alone, with both; in dollars a month.

Each environment reads each of 50 schemas four times, in three zones. From what that takes of S3 follows what a million
requests take; a ring costs the same in a month without requests, so what it saves depends on how many there are.

It may mislead: how often an environment is asked for the same schema, and how many environments there are for one that
is asked, decide everything; clients keep what they know, so real environments are asked less often. What a herd does to
S3, and how long its requests take, has no price in this table.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.environments import MEMORY_BYTES, Job, Seen
from benchmarks.harness import Line, Lines
from benchmarks.members import a_member, address
from infra.prices import CHEAPER, HOURS, NODE_HOUR
from infra.usage import MILLION, S3

ZONES, MEMBERS, SCHEMAS, ROUNDS = 3, 2, 50, 4
MEMBER_MONTH = NODE_HOUR["cache.t4g.micro"] * CHEAPER["valkey"] * HOURS
MONTHS = (1, 10, 100, 1_000, 10_000)
"""Millions of requests."""

NO_CACHE, MEMORY, RING = "no cache", "memory alone", "memory and ring"


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one way to do it. idle: dollars a month that its ring costs without a request."""

    name: str
    requests: int
    gets: int
    idle: float

    @property
    def gets_per_million(self) -> float:
        return self.gets / self.requests * MILLION

    def per_million(self, millions: float) -> float:
        """Dollars, in a month of so many millions of requests."""
        return self.gets_per_million * S3["GetObject"] + self.idle / millions


def compare(*, environments: int, schemas: int = SCHEMAS, run: Callable[[Job], Seen]) -> list[Figures]:
    """environments: in each zone, each of which reads so many schemas. Raises NotHere without the servers of a ring."""
    with ExitStack() as running:
        rings = {
            f"zone-{number}": [address(running.enter_context(a_member())) for _ in range(MEMBERS)]
            for number in range(1, ZONES + 1)
        }
        none: Mapping[str, Sequence[str]] = dict.fromkeys(rings, ())
        ways = {NO_CACHE: (none, 0), MEMORY: (none, MEMORY_BYTES), RING: (rings, MEMORY_BYTES)}
        figures = []
        for name, (ring, memory) in ways.items():
            seen = run(Job(ring, environments, schemas, rounds=ROUNDS, memory_bytes=memory))
            idle = ZONES * MEMBERS * MEMBER_MONTH if any(ring.values()) else 0.0
            figures.append(Figures(name, len(seen.reads), seen.gets.total(), idle))
        return figures


def lines(compared: Sequence[Figures]) -> Lines:
    least = compared[0]
    for each in compared:
        what = f"{each.name}: reads from S3 per million requests"
        yield Line(what, each.gets_per_million, "", least.gets_per_million, least.name)


def table(compared: Sequence[Figures]) -> str:
    """The table in Markdown."""
    head = ["", "S3 GETs per million requests", *(f"$ per million, {each:,} million a month" for each in MONTHS)]
    rows = [
        [each.name, f"{each.gets_per_million:,.0f}", *(f"{each.per_million(millions):,.4f}" for millions in MONTHS)]
        for each in compared
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def write(compared: Sequence[Figures], folder: Path) -> dict[str, object]:
    """cost.md and cost.svg; the figures once more."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cost.md").write_text(table(compared), encoding="utf-8")
    draw(compared, folder / "cost.svg")
    return {
        each.name: {
            "s3_gets_per_million": each.gets_per_million,
            "dollars_per_million": {f"{millions} million a month": each.per_million(millions) for millions in MONTHS},
        }
        for each in compared
    }


def draw(compared: Sequence[Figures], path: Path) -> None:
    """Dollars per million requests over millions of requests a month."""
    import matplotlib as mpl  # noqa: PLC0415 - it takes a second, and only plots need it
    from matplotlib.figure import Figure  # noqa: PLC0415 - see above

    # The same figures make the same bytes.
    with mpl.rc_context({"svg.hashsalt": "sigla", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        for each in compared:
            axes.plot(MONTHS, [each.per_million(millions) for millions in MONTHS], marker="o", label=each.name)
        axes.set(xscale="log", yscale="log", xlabel="million requests a month", ylabel="$ per million: S3 and ring")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend()
        figure.savefig(path, metadata={"Date": None})
