"""What hostile requests cost: seconds until they are refused, and the most memory the server ever took.

Every request goes to a `sigla serve` of its own. Beside it stands a bare Starlette application that reads the same
bytes and answers a constant: what receiving them costs. The tests count steps and nodes; here the clock is read.

It may mislead: one request comes at a time; what many at once take is bounded by the limits, not shown here.
"""

import json
import sys
from collections.abc import Iterator
from time import perf_counter

from benchmarks.harness import Answered, Goal, Line, Lines, Server, ask, main, serving, sigla

SCHEMAS = "/subjects/hostile/versions"
Request = tuple[str, str, str, bytes]
"""Name, method, path, body."""


def lines(*, quick: bool = False) -> Lines:
    with serving([sys.executable, "-m", "benchmarks.bare", "starlette", "--port", "{port}"]) as bare:
        for name, method, path, body in attacks(1_000 if quick else 1):
            with serving(sigla("--memory"), SIGLA_LOG_REQUESTS="false") as server:
                _prepare(server)
                before = server.memory()
                seconds, answer = _timed(server, method, path, body)
                peak = server.memory_peak() - before
            least, _ = _timed(bare, method, path, body)
            refused = 400 <= answer.status < 500
            what = f"{name}: {answer.status}" + ("" if refused else ", NOT refused")
            goal = Goal(1, "s") if refused else Goal(0, "s")
            yield Line(what, seconds, "s", least, "bare Starlette, reading it", goal)
            yield Line(f"{name}: memory at its peak, beyond the idle server's", peak, "B", len(body), "body")


def attacks(divisor: int) -> Iterator[Request]:
    """Every attack, its size divided for a trial."""
    deep = 10_000 // divisor + 300
    large = 10_000_000 // divisor
    many = 100_000 // divisor
    yield "array in array, 10,000 levels", "POST", SCHEMAS, _offered(_nested(deep))
    yield "JSON of 10,000 brackets", "POST", SCHEMAS, b"[" * deep
    yield "record in record, 10,000 levels", "POST", SCHEMAS, _offered(_records(deep))
    yield "body of 10 MB", "POST", SCHEMAS, _offered(json.dumps("x" * large))
    yield "body of 10 MB, no schema in it", "POST", SCHEMAS, b'{"x": "' + b"x" * large + b'"}'
    yield "enum of 100,000 symbols, twice one", "POST", SCHEMAS, _offered(_enum(many))
    yield "record of 100,000 fields", "POST", SCHEMAS, _offered(_fields(many))
    yield "union of 100,000 branches", "POST", SCHEMAS, _offered(json.dumps(["null"] * many))
    yield "reference to itself", "POST", SCHEMAS, _offered('"string"', ("hostile", 1))
    yield "reference to its next version", "POST", "/subjects/base/versions", _offered('"B"', ("base", 2))
    yield "10,000 references", "POST", SCHEMAS, _offered('"string"', *[(f"s{n}", 1) for n in range(deep)])
    yield "invalid UTF-8", "POST", SCHEMAS, b'{"schema": "\xff\xfe\xc3\x28"}'
    yield "half a surrogate pair", "POST", SCHEMAS, _offered('{"type": "string", "doc": "\\ud800"}')
    yield "comments that never end", "POST", SCHEMAS, _offered("/*" * many)
    yield "path of 60,000 characters", "GET", "/subjects/" + "%2F" * (20_000 // divisor), b""


def _offered(schema: str, *references: tuple[str, int]) -> bytes:
    uses = [{"name": f"r{n}", "subject": subject, "version": v} for n, (subject, v) in enumerate(references)]
    return json.dumps({"schema": schema, "references": uses}).encode()


def _nested(levels: int) -> str:
    return '{"type":"array","items":' * levels + '"int"' + "}" * levels


def _records(levels: int) -> str:
    opened = "".join(f'{{"type":"record","name":"R{n}","fields":[{{"name":"f","type":' for n in range(levels))
    return opened + '"int"' + "}]}" * levels


def _enum(symbols: int) -> str:
    names = [f"S{n}" for n in range(symbols)]
    return json.dumps({"type": "enum", "name": "E", "symbols": [*names, "S0"]})


def _fields(fields: int) -> str:
    listed = [{"name": f"f{n}", "type": "int"} for n in range(fields)]
    return json.dumps({"type": "record", "name": "R", "fields": listed})


def _prepare(server: Server) -> None:
    """One subject to refer to, and the server's first registration behind it."""
    if ask(server.port, "POST", "/subjects/base/versions", _offered('"string"')).status != 200:
        raise RuntimeError("the server refuses an honest schema")


def _timed(server: Server, method: str, path: str, body: bytes) -> tuple[float, Answered]:
    begun = perf_counter()
    answer = ask(server.port, method, path, body or None)
    return perf_counter() - begun, answer


if __name__ == "__main__":
    main(lines, __doc__)
