"""What hostile requests cost: seconds until they are refused, and the most memory the server ever took.

Every request goes to a `sigla serve` of its own. Beside it stands a bare Starlette application that reads the same
bytes and answers a constant: what receiving them costs. The tests count steps and nodes; here the clock is read.

It may mislead: one request comes at a time; what many at once take is bounded by the limits, not shown here.
"""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from benchmarks.harness import Answered, Goal, Line, Lines, Server, ask, main, serving, shown, sigla

SCHEMAS = "/subjects/hostile/versions"
GOAL = Goal(1, "s")


@dataclass(frozen=True, slots=True)
class Attack:
    """before: an honest request to the same path, which comes first."""

    name: str
    body: bytes
    method: str = "POST"
    path: str = SCHEMAS
    before: bytes = b""


def lines(*, quick: bool = False) -> Lines:
    with serving([sys.executable, "-m", "benchmarks.bare", "starlette", "--port", "{port}"]) as bare:
        for attack in attacks(100 if quick else 1):
            with serving(sigla("--memory"), SIGLA_LOG_REQUESTS="false") as server:
                _prepare(server, attack)
                before = server.memory()
                seconds, answer = _timed(server, attack)
                peak = max(0, server.memory_peak() - before)
            least, _ = _timed(bare, attack)
            refused = 400 <= answer.status < 500
            what = f"{attack.name}: {answer.status}" + ("" if refused else ", NOT refused")
            yield Line(what, seconds if refused else math.inf, "s", least, "bare Starlette, reading it", GOAL)
            aside = f"beyond the server before it; body of {shown(len(attack.body), 'B')}"
            yield Line(f"{attack.name}: memory at its peak", peak, "B", None, aside)


def attacks(divisor: int) -> Iterator[Attack]:
    """Every attack, its size divided for a trial."""
    deep = max(300, 10_000 // divisor)
    large = 10_000_000 // divisor
    many = 100_000 // divisor
    yield Attack("array in array, 10,000 levels", _offered(_nested(deep)))
    yield Attack("record in record, 10,000 levels", _offered(_records(deep)))
    yield Attack("JSON of 10,000 brackets", b"[" * deep)
    yield Attack("body of 10 MB, a schema", _offered(json.dumps("x" * large)))
    yield Attack("body of 10 MB, no schema", b'{"x": "' + b"x" * large + b'"}')
    yield Attack("enum of 100,000 symbols, one of them twice", _offered(_enum(many)))
    yield Attack("record of 100,000 fields", _offered(_fields(many)))
    yield Attack("union of 100,000 branches", _offered(json.dumps(["null"] * many)))
    yield Attack(
        "check of 700 records against 700 others", _offered(_union("B", 700)), before=_offered(_union("A", 700))
    )
    yield Attack("reference to itself", _offered('"string"', ("hostile", 1)))
    yield Attack("reference to its own next version", _offered('"r0"', ("hostile", 2)), before=_offered('"string"'))
    yield Attack("10,000 references", _offered('"string"', *[(f"s{n}", 1) for n in range(deep)]))
    yield Attack("invalid UTF-8", b'{"schema": "\xff\xfe\xc3\x28"}')
    yield Attack("half a surrogate pair", _offered('{"type":"record","name":"R","doc":"\\ud800","fields":[]}'))
    yield Attack("comments that never end", _offered("/*" * many))
    yield Attack("path of 60,000 characters", b"", "GET", "/subjects/" + "%2F" * max(200, 20_000 // divisor))


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
    return json.dumps({"type": "enum", "name": "E", "symbols": [*names, "S0"]}, separators=(",", ":"))


def _fields(fields: int) -> str:
    listed = [{"name": f"f{n}", "type": "int"} for n in range(fields)]
    return json.dumps({"type": "record", "name": "R", "fields": listed})


def _union(name: str, branches: int) -> str:
    fields = [{"name": "f", "type": "int"}]
    return json.dumps([{"type": "record", "name": f"{name}{n}", "fields": fields} for n in range(branches)])


def _prepare(server: Server, attack: Attack) -> None:
    """The server has registered something before, and what the attack wants to be there."""
    for path, body in (("/subjects/honest/versions", _offered('"string"')), (attack.path, attack.before)):
        if body and ask(server.port, "POST", path, body).status != 200:
            raise RuntimeError(f"an honest schema is refused: {body[:80]!r}")


def _timed(server: Server, attack: Attack) -> tuple[float, Answered]:
    begun = perf_counter()
    answer = ask(server.port, attack.method, attack.path, attack.body or None)
    return perf_counter() - begun, answer


if __name__ == "__main__":
    main(lines, __doc__)
