"""What every benchmark shares: a line of the table and its goal, measuring in turns, servers as processes."""

import argparse
import http.client
import json
import math
import os
import signal
import socket
import ssl
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

ROOT = Path(__file__).parent.parent
ANSWERS_WITHIN_S = 120.0

LEGEND = """\
here      what was measured, on this machine
ratio     here divided by the figure beside it, which ran in turns with it; without a ratio it is there for orientation
goal      what we promise: of the ratio where it ends in ×, else of the figure itself
"""


# --- lines ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on a line's ratio, or, with a unit, on its figure. least: at least so much; else at most."""

    bound: float
    unit: str = "×"
    least: bool = False

    def __str__(self) -> str:
        return f"{'≥' if self.least else '≤'} {shown(self.bound, self.unit)}"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. unit: of figure and beside; `s`, `B`, `/s` or another word. against: what is beside."""

    what: str
    figure: float
    unit: str
    beside: float | None = None
    against: str = ""
    goal: Goal | None = None

    @property
    def ratio(self) -> float | None:
        return self.figure / self.beside if self.beside else None

    @property
    def holds(self) -> bool | None:
        """None without a goal."""
        if self.goal is None:
            return None
        judged = self.ratio if self.goal.unit == "×" else self.figure
        if judged is None or math.isnan(judged):
            return False
        return judged >= self.goal.bound if self.goal.least else judged <= self.goal.bound

    def facts(self) -> dict[str, object]:
        return {
            "what": self.what,
            "figure": self.figure,
            "unit": self.unit,
            "beside": self.beside,
            "against": self.against,
            "ratio": self.ratio,
            "goal": str(self.goal) if self.goal else None,
            "holds": self.holds,
        }


Lines = Iterator[Line]


def shown(figure: float, unit: str) -> str:
    """A figure with three digits and a unit in which it is easy to read."""
    for scale, larger in _SCALES.get(unit, ()):
        if figure >= scale:
            figure, unit = figure / scale, larger
            break
    number = f"{figure:,.0f}" if figure >= 99.95 else f"{figure:.3g}"
    return number + ("" if unit in ("×", "/s") else " ") + unit


_SCALES = {
    "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1e6, "MB"), (1e3, "kB")),
}


def row(line: Line) -> str:
    ratio = "" if line.ratio is None else shown(line.ratio, "×")
    beside = "" if line.beside is None else f"{shown(line.beside, line.unit)} {line.against}"
    goal = f"{line.goal}  {'holds' if line.holds else 'MISSED'}" if line.goal else ""
    return (
        f"  {line.what:<64} {shown(line.figure, line.unit):>9} {ratio:>8}  {beside or line.against:<52} {goal}".rstrip()
    )


def arguments(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not how fast")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    return parser


def report(lines: Iterable[Line], *, as_json: bool) -> list[Line]:
    """Prints every line when it is known."""
    printed = []
    for line in lines:
        print(json.dumps(line.facts(), ensure_ascii=False) if as_json else row(line), flush=True)
        printed.append(line)
    return printed


class NotHere(Exception):
    """A benchmark needs something that this machine has not; the sentence says what."""


def main(lines: Callable[..., Lines], description: str | None) -> None:
    """One benchmark as a command."""
    args = arguments(description).parse_args()
    try:
        report(lines(quick=args.quick), as_json=args.json)
    except NotHere as reason:
        print(reason, file=sys.stderr)
        sys.exit(2)


# --- measuring --------------------------------------------------------------------------------------------------------


def in_turns(rounds: int, *works: Callable[[], float]) -> list[list[float]]:
    """What each work measured, round by round; in a round each has its turn."""
    figures: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for kept, work in zip(figures, works, strict=True):
            kept.append(work())
    return figures


def best_of(rounds: int, *works: Callable[[], float]) -> list[float]:
    """The least of each: what disturbs a measurement only ever adds to it."""
    return [min(figures) for figures in in_turns(rounds, *works)]


def median_of(rounds: int, *works: Callable[[], float]) -> list[float]:
    return [median(figures) for figures in in_turns(rounds, *works)]


def per_call(work: Callable[[], object], calls: int) -> Callable[[], float]:
    """A work for `in_turns`: seconds per call."""

    def timed() -> float:
        begun = time.perf_counter()
        for _ in range(calls):
            work()
        return (time.perf_counter() - begun) / calls

    return timed


def per_piece(rounds: int, works: Mapping[int, Callable[[], float]], piece: str) -> Lines:
    """What a check costs for each field of a schema, beside the size before. works: by the number of pieces.

    With few pieces, most of the time is what every check costs, so the first two sizes are there for orientation.
    """
    sizes = [*works]
    figures = [figure / size for figure, size in zip(best_of(rounds, *works.values()), sizes, strict=True)]
    for n, size in enumerate(sizes):
        what = f"check, per {piece}, of {size:,}"
        if n < 2:
            yield Line(what, figures[n], "s")
        else:
            yield Line(what, figures[n], "s", figures[n - 1], f"of {sizes[n - 1]:,}", Goal(1.2))


# --- servers ----------------------------------------------------------------------------------------------------------


class NoAnswer(Exception):
    """A server ended, or did not begin to answer in time."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. first_answer: seconds from starting its process to its first 200."""

    port: int
    first_answer: float
    process: psutil.Process

    def cpu(self) -> float:
        """Seconds of user and system time, of all its threads, by its own account."""
        if sys.platform == "linux":
            # The clock of another process (clock_getcpuclockid): nanoseconds where psutil has hundredths of a second.
            return time.clock_gettime(~self.process.pid << 3 | 2)
        times = self.process.cpu_times()
        return times.user + times.system

    def memory(self) -> int:
        """Bytes that are resident."""
        return int(self.process.memory_info().rss)

    def forget_peak(self) -> None:
        """`memory_peak` begins anew, where the system can do that."""
        if sys.platform == "linux":
            Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def memory_peak(self) -> int:
        """The most bytes that were resident at a time; where the system does not say, those that are."""
        if sys.platform == "linux":
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            return int(status.split("VmHWM:")[1].split()[0]) * 1024
        return self.memory()


@contextmanager
def serving(
    command: Sequence[str], *, ready: str = "/subjects", authority: str = "", **environment: str
) -> Iterator[Server]:
    """A server on a free port, as `{port}` in its command; stopped at the end. Raises RuntimeError if it gives up.

    authority: whom clients trust, where it speaks TLS.
    """
    port = free_port()
    with tempfile.TemporaryFile() as complaints:
        begun = time.perf_counter()
        process = subprocess.Popen(
            [part.replace("{port}", str(port)) for part in command],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            wait_for_answer(port, ready, process, authority)
            yield Server(port, time.perf_counter() - begun, psutil.Process(process.pid))
        except NoAnswer as failure:
            complaints.seek(0)
            raise RuntimeError(f"{failure}\n{complaints.read().decode(errors='replace')}") from None
        finally:
            stop(process)


def sigla(*options: str) -> list[str]:
    """The command of `sigla serve`, as it is installed beside this Python."""
    return [str(Path(sysconfig.get_path("scripts")) / "sigla"), "serve", "--port", "{port}", *options]


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def wait_for_answer(port: int, path: str, process: "subprocess.Popen[bytes]", authority: str = "") -> None:
    """Asks every two milliseconds until the answer is 200. Raises NoAnswer."""
    trusting = ssl.create_default_context(cafile=authority) if authority else None
    deadline = time.monotonic() + ANSWERS_WITHIN_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise NoAnswer(f"{process.args!r} ended with {process.returncode} before it answered")
        try:
            if ask(port, "GET", path, trusting=trusting).status == 200:
                return
        except OSError:
            time.sleep(0.002)
    raise NoAnswer(f"{process.args!r} did not answer within {ANSWERS_WITHIN_S:.0f} s")


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Ends a process of ours that leads its own session, politely at first, with all that it started."""
    for order, patience in ((signal.SIGTERM, 15), (signal.SIGKILL, 15)):
        try:
            os.killpg(process.pid, order)
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            process.wait()
        return


@dataclass(frozen=True, slots=True)
class Answered:
    status: int
    body: bytes


def get(port: int, path: str) -> Answered:
    return ask(port, "GET", path)


def ask(
    port: int,
    method: str,
    path: str,
    body: bytes | None = None,
    *,
    patience: float = 60,
    trusting: ssl.SSLContext | None = None,
) -> Answered:
    """One request on a connection of its own, over TLS if something is trusted. Raises OSError."""
    connection = (
        http.client.HTTPSConnection("127.0.0.1", port, timeout=patience, context=trusting)
        if trusting
        else http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
    )
    headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"} if body is not None else {}
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Answered(answer.status, answer.read())
    except http.client.HTTPException as broken:
        raise ConnectionError(str(broken)) from broken
    finally:
        connection.close()
