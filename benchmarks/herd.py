"""A thousand cold environments in each of three zones read 50 schemas at the same moment: how often is S3 read?

    python benchmarks/herd.py --instances 1000 --schemas 50 --zones 3 [--json]
    python benchmarks/herd.py --dead | --hung | --killed-holder    with trouble in the first zone
    python benchmarks/herd.py --compare DIRECTORY    then also without ring and without memory, as a table and a plot

Every environment is an application of its own, asked as a function URL asks it, in front of a ring of real servers
(`benchmarks/environments.py`). S3 is counted below the adapter, and takes 20 to 60 ms, 150 ms at the 99th percentile.

It may mislead: all environments share this machine's processors, so that a thousand of them begin within seconds here
and within milliseconds at AWS; the last answer comes when the processors are through. Who waits how long when they do
begin together is told on a virtual clock (`benchmarks/scale.py`, tests/attack/test_herd.py). A member that this
machine's own load keeps from answering within its time-out looks like one that fails; then S3 is read more often.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

if __package__ in {None, ""}:  # started as a file, it stands in the folder that would have to be found
    sys.path[0] = str(Path(__file__).parent.parent)

from benchmarks import compared
from benchmarks.environments import Job, Seen, work
from benchmarks.harness import Goal, Line, Lines, NotHere, report
from benchmarks.members import KINDS, a_member, address
from sigla import keys
from sigla.cache.breaker import REST_MS
from sigla.cache.members import member
from sigla.cache.ring import owner
from sigla.cache.servers import CacheServer
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId

MEMBERS = 2
PROCESSES = max(2, os.cpu_count() or 1)
EXPIRED = 2
"""Leases that may end before this machine has come to read what they are for."""

HOLDERS = 20
"""How many leases the processes hold that are killed."""

HEALTHY, DEAD, HUNG, KILLED_HOLDER = "healthy", "dead", "hung", "killed-holder"
TROUBLES = {
    HEALTHY: "",
    DEAD: ", a member killed",
    HUNG: ", a member stopped",
    KILLED_HOLDER: f", {HOLDERS} holders of leases killed",
}

Rings = Mapping[str, Sequence[CacheServer]]


@dataclass(frozen=True, slots=True)
class Herd:
    """What is asked. instances: in each zone. schemas: each reads all of them."""

    instances: int = 1_000
    schemas: int = 50
    zones: int = 3
    kind: str = "valkey"
    trouble: str = HEALTHY


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it. s3_gets: with those of environments that were killed. bound: of them."""

    herd: Herd
    seen: Seen
    s3_gets: int
    bound: int

    @property
    def seconds(self) -> float:
        return self.seen.ended - self.seen.began

    @property
    def most_failures(self) -> int:
        """The most failures of members that one environment met."""
        return max(map(len, self.seen.failed))

    @property
    def failures_allowed(self) -> int:
        """One for each time that a member is tried again."""
        return 1 + int(self.seconds * 1000 / REST_MS)

    def facts(self) -> dict[str, object]:
        seen = self.seen
        failures = [each for environment in seen.failed for each in environment]
        return {
            "instances": self.herd.instances,
            "schemas": self.herd.schemas,
            "zones": self.herd.zones,
            "trouble": self.herd.trouble,
            "requests": len(seen.reads),
            "wrong": len(seen.wrong),
            "s3_gets": self.s3_gets,
            "s3_gets_bound": self.bound,
            "s3_gets_by_zone": _by_zone(seen),
            "added_by_expired_leases_and_failures": max(0, self.s3_gets - self.herd.zones * self.herd.schemas),
            "from_ring": seen.counts.ring,
            "waits": seen.counts.waits,
            "ring_ms_p50": round(1000 * percentile(seen.round_trips, 0.5), 3),
            "ring_ms_p99": round(1000 * percentile(seen.round_trips, 0.99), 3),
            "request_ms_p50": round(1000 * percentile(seen.reads, 0.5), 3),
            "request_ms_p99": round(1000 * percentile(seen.reads, 0.99), 3),
            "last_answer_s": round(self.seconds, 3),
            "processors_busy": round(seen.cpu / self.seconds / (os.cpu_count() or 1), 2),
            "ring_failures": len(failures),
            "most_failures_in_one_environment": self.most_failures,
            "failures_allowed": self.failures_allowed,
            "longest_failure_ms": round(1000 * max(failures, default=0.0), 1),
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest that so large a share of all does not exceed; 0 of none."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def _by_zone(seen: Seen) -> dict[str, int]:
    found: dict[str, int] = {}
    for (zone, _), gets in seen.gets.items():
        found[zone] = found.get(zone, 0) + gets
    return dict(sorted(found.items()))


# --- running ----------------------------------------------------------------------------------------------------------


def run(herd: Herd) -> Result:
    """Raises NotHere without the servers, RuntimeError if an answer was wrong or missing."""
    with ring_servers(herd) as rings:
        made = {zone: tuple(address(each, herd.kind) for each in ring) for zone, ring in rings.items()}
        lost = {_name(next(iter(made.values()))[0])} if herd.trouble in {DEAD, HUNG} else set()
        job = Job(made, herd.instances, herd.schemas, silent=frozenset(lost))
        extra = _trouble(herd, rings, job)
        seen = together(job)
        return Result(herd, seen, seen.gets.total() + extra, _bound(herd, made, seen))


def together(job: Job, processes: int = PROCESSES) -> Seen:
    """The job's environments, dealt out to processes that begin in one moment. Raises RuntimeError."""
    shares = [len(range(number, job.environments, processes)) for number in range(processes)]
    jobs = [replace(job, environments=share, seed=job.seed + number) for number, share in enumerate(shares) if share]
    seen = Seen()
    with ExitStack() as running:
        for receiver in _started(jobs, running):
            try:
                seen.add(receiver.recv())
            except EOFError:
                raise RuntimeError("a process of environments ended without a result") from None
    if seen.wrong or len(seen.reads) != job.environments * len(job.rings) * job.schemas * job.rounds:
        raise RuntimeError(f"{len(seen.reads)} answers, {len(seen.wrong)} of them wrong: {seen.wrong[:3]}")
    return seen


def _started(jobs: Sequence[Job], running: ExitStack) -> list[Connection]:
    """Where each process tells what it sees; it is killed at the end."""
    context = get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    start = context.Barrier(len(jobs))
    running.callback(lambda _: None, start)  # it goes when no environment knows it, and they may not have met it yet
    receivers = []
    for job in jobs:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(job, start, sender))
        process.start()
        running.callback(process.join)
        running.callback(process.kill)
        sender.close()
        running.callback(receiver.close)
        receivers.append(receiver)
    return receivers


@contextmanager
def ring_servers(herd: Herd) -> Iterator[Rings]:
    """Raises NotHere."""
    with ExitStack() as running:
        yield {
            f"zone-{number}": [running.enter_context(a_member(herd.kind)) for _ in range(MEMBERS)]
            for number in range(1, herd.zones + 1)
        }


# --- trouble ----------------------------------------------------------------------------------------------------------


def _trouble(herd: Herd, rings: Rings, job: Job) -> int:
    """Befalls the first zone. How many reads from S3 it took that no process will tell."""
    first = next(iter(rings))
    if herd.trouble == KILLED_HOLDER:
        return _killed_holders(replace(job, rings={first: job.rings[first]}, environments=HOLDERS, hung=True))
    if herd.trouble in {DEAD, HUNG}:
        os.kill(rings[first][0].pid, signal.SIGKILL if herd.trouble == DEAD else signal.SIGSTOP)
    return 0


def _killed_holders(job: Job) -> int:
    """Environments that each hold the lease of another schema, while S3 keeps them waiting, and are killed so."""
    with ExitStack() as running:
        (receiver,) = _started([job], running)
        return len({receiver.recv() for _ in range(min(job.environments, job.schemas))})


def _bound(herd: Herd, rings: Mapping[str, Sequence[str]], seen: Seen) -> int:
    """The bound of reads from S3: one for each schema and zone, and what trouble adds.

    An environment that finds a member silent reads that one's schemas for itself; a holder that is killed has read, and
    the next one reads again.
    """
    met = sum(map(bool, seen.failed))
    once = herd.zones * herd.schemas
    if herd.trouble == KILLED_HOLDER:
        once += min(HOLDERS, herd.schemas)
    if herd.trouble in {DEAD, HUNG}:
        names = [_name(each) for each in next(iter(rings.values()))]
        ids = (BodyKey(DEFAULT_CONTEXT, SchemaId(id)) for id in range(1, herd.schemas + 1))
        lost = sum(owner(names, keys.ring_key("default", key)) == names[0] for key in ids)
        # Who met a failure in another zone has this machine to blame.
        return once + lost * (herd.instances - 1) + herd.schemas * max(0, met - herd.instances)
    return once + herd.schemas * met


def _name(address: str) -> str:
    return member(address, token=lambda _user, _group: "")[0]


# --- telling ----------------------------------------------------------------------------------------------------------


def told(result: Result) -> Lines:
    herd, facts = result.herd, result.facts()
    once = herd.zones * herd.schemas
    what = f"{herd.zones} × {herd.instances:,} cold environments{TROUBLES[herd.trouble]}"
    against = f"one for each schema and zone; the bound here is {result.bound:,}"
    goal = Goal(1.02) if herd.trouble == HEALTHY else Goal(result.bound, "")
    yield Line(f"{what}: reads from S3", result.s3_gets, "", once, against, goal)
    yield Line("  a question to a member, p50", percentile(result.seen.round_trips, 0.5), "s")
    yield Line("  a question to a member, p99", percentile(result.seen.round_trips, 0.99), "s")
    yield Line("  a request, p99", percentile(result.seen.reads, 0.99), "s")
    busy = f"processors busy: {facts['processors_busy']:.0%}; {len(result.seen.reads):,} requests"
    yield Line("  the last answer", result.seconds, "s", against=busy)
    yield Line("  waits for a lease", result.seen.counts.waits, "")
    yield Line("  failures of members, all environments", float(str(facts["ring_failures"])), "")
    allowed = Goal(result.failures_allowed, "")
    yield Line("  failures of a member that one environment met", result.most_failures, "", goal=allowed)


def lines(*, quick: bool = False) -> Lines:
    """The lines for the table of all benchmarks."""
    yield from told(run(Herd(instances=4, schemas=5) if quick else Herd()))
    environments, schemas = (2, 5) if quick else (50, compared.SCHEMAS)
    yield from compared.lines(compared.compare(environments=environments, schemas=schemas, run=together))


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all was answered, and S3 read no more than the bound says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1_000, help="cold environments in each zone")
    parser.add_argument(
        "--schemas", type=int, default=50, help="how many schemas each of them reads, each in its own order"
    )
    parser.add_argument("--zones", type=int, default=3)
    parser.add_argument("--kind", choices=KINDS, default="valkey", help="the kind of cache servers in the rings")
    trouble = parser.add_mutually_exclusive_group()
    for name in (DEAD, HUNG, KILLED_HOLDER):
        trouble.add_argument(f"--{name}", dest="trouble", action="store_const", const=name, default=HEALTHY)
    parser.add_argument("--compare", type=Path, metavar="DIRECTORY", help="write cost.md, cost.svg and herd.json there")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not how it goes")
    parser.add_argument("--json", action="store_true", help="the last line is one object with all figures")
    args = parser.parse_args(argv)
    try:
        if args.quick:
            report(lines(quick=True), as_json=args.json)
            return 0
        result = run(Herd(args.instances, args.schemas, args.zones, args.kind, args.trouble))
        report(told(result), as_json=False)
        facts = result.facts()
        if args.compare:
            found = compared.compare(environments=max(5, args.instances // 20), run=together)
            report(compared.lines(found), as_json=False)
            facts["compared"] = compared.write(found, args.compare)
            (args.compare / "herd.json").write_text(json.dumps(facts, indent=2) + "\n")
    except NotHere as reason:
        print(reason, file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(facts))
    return 0 if result.s3_gets <= result.bound + EXPIRED else 1


if __name__ == "__main__":
    sys.exit(main())
