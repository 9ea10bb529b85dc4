"""What hostile requests cost: seconds until they are refused, and the most memory the server ever took.

One `sigla serve` takes them all, one after the other. Beside it stands a bare Starlette application that reads the same
bytes and answers a constant: what receiving them costs. The tests count steps and nodes; here the clock is read.

It may mislead: one request comes at a time; what many at once take is bounded by the limits, not shown here. And memory
that an attack took is not always given back, so that the next one needs less.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from benchmarks.harness import Answered, Goal, Line, Lines, Server, ask, main, serving, shown, sigla

SUBJECTS = ("hostile", "honest", "unions", "enums", "turned")
HOSTILE, HONEST, UNIONS, ENUMS, TURNED = (f"/subjects/{name}/versions" for name in SUBJECTS)
IN_TIME, NEVER, IN_ROOM = Goal(1, "s"), Goal(0, "s"), Goal(256e6, "B")


@dataclass(frozen=True, slots=True)
class Attack:
    """before: honest requests to the same path, which come first. level: of the subject, from then on."""

    name: str
    body: bytes
    method: str = "POST"
    path: str = HOSTILE
    before: tuple[bytes, ...] = ()
    level: str = ""


def lines(*, quick: bool = False) -> Lines:
    bare_server = [sys.executable, "-m", "benchmarks.bare", "starlette", "--port", "{port}"]
    with serving(bare_server) as bare, serving(sigla("--memory"), SIGLA_LOG_REQUESTS="false") as server:
        for attack in attacks(100 if quick else 1):
            _prepare(server, attack)
            _register(server, HONEST, _offered('"string"'))
            server.forget_peak()
            before = server.memory()
            seconds, answer = _timed(server, attack)
            peak = max(0, server.memory_peak() - before)
            least, _ = _timed(bare, attack)
            refused = 400 <= answer.status < 500
            what = f"{attack.name}: {answer.status}" + ("" if refused else ", NOT refused")
            yield Line(what, seconds, "s", least, "bare Starlette, reading it", IN_TIME if refused else NEVER)
            aside = f"beyond what the server had; body of {shown(len(attack.body), 'B')}"
            yield Line(f"{attack.name}: memory at its peak", peak, "B", None, aside, IN_ROOM)


def attacks(divisor: int) -> Iterator[Attack]:
    """Every attack, its size divided for a trial."""
    deep = max(300, 10_000 // divisor)
    large = 10_000_000 // divisor
    many = 100_000 // divisor
    records, turned, enums = (max(10, each // divisor) for each in (700, 400, 300))
    yield Attack("array in array, 10,000 levels", _offered(_nested(deep)))
    yield Attack("record in record, 10,000 levels", _offered(_records(deep)))
    yield Attack("JSON of 10,000 brackets", b"[" * deep)
    yield Attack("body of 10 MB, a schema", _offered(json.dumps("x" * large)))
    yield Attack("body of 10 MB, no schema", b'{"x": "' + b"x" * large + b'"}')
    yield Attack("enum of 100,000 symbols, one of them twice", _offered(_enum(many)))
    yield Attack("record of 100,000 fields", _offered(_fields(many)))
    yield Attack("union of 100,000 branches", _offered(json.dumps(["null"] * many)))
    yield Attack(
        "check of 700 records against 700",
        _offered(_union(records, "B")),
        path=UNIONS,
        before=(_offered(_union(records, "A")),),
    )
    yield Attack(
        "check of 400 records, turned round, against 8 versions",
        _offered(json.dumps(json.loads(_union(turned))[::-1])),
        path=TURNED,
        before=tuple(_offered(_union(turned, doc=str(version))) for version in range(8)),
        level="FULL_TRANSITIVE",
    )
    yield Attack(
        "check of 300 enums of 300 symbols against 300",
        _offered(_enums(enums, "B")),
        path=ENUMS,
        before=(_offered(_enums(enums, "A")),),
    )
    yield from attacks_in_json(divisor)
    yield from attacks_in_protobuf(divisor)
    yield Attack("reference to itself", _offered('"string"', ("hostile", 1)))
    yield Attack("reference to its own next version", _offered('"r0"', ("honest", 2)), path=HONEST)
    yield Attack("10,000 references", _offered('"string"', *[(f"s{n}", 1) for n in range(deep)]))
    yield Attack("invalid UTF-8", b'{"schema": "\xff\xfe\xc3\x28"}')
    yield Attack("half a surrogate pair", _offered('{"type":"record","name":"R","doc":"\\ud800","fields":[]}'))
    yield Attack("comments that never end", _offered("/*" * many))
    yield Attack("path of 60,000 characters", b"", "GET", "/subjects/" + "%2F" * max(200, 20_000 // divisor))


def attacks_in_json(divisor: int) -> Iterator[Attack]:
    deep, many, members = max(300, 10_000 // divisor), 100_000 // divisor, max(10, 400 // divisor)
    offered = partial(_offered, kind="JSON")
    yield Attack("JSON Schema: items in items, 10,000 levels", offered('{"items":' * deep + "{}" + "}" * deep))
    yield Attack("JSON Schema: allOf in allOf, 10,000 levels", offered('{"allOf":[' * deep + "{}" + "]}" * deep))
    yield Attack("JSON Schema: 100,000 values in one enum of an unknown type", offered(_json_enum(many)))
    yield Attack("JSON Schema: 100,000 properties, one of them refused", offered(_json_properties(many)))
    yield Attack("JSON Schema: a million digits for a limit", offered(f'{{"minLength":{"9" * 10 * many}}}'))
    yield Attack("JSON Schema: an exponent of a billion", offered('{"type":"strin","minimum":1e999999999}'))
    yield Attack("JSON Schema: chain of 10,000 references to nowhere", offered(_json_chain(deep)))
    yield Attack("JSON Schema: pattern of repetitions in repetitions", offered(_json_pattern("((a{999}){999}){999}(")))
    yield Attack("JSON Schema: pattern of 100,000 groups", offered(_json_pattern("(" * many)))
    yield Attack(
        "JSON Schema: pattern that never ends, against a long name",
        offered(_json_named(r"^(a|a|ab?)*$", "a" * 200 + "b")),
        path="/subjects/patterns/versions",
        before=(offered(_json_named(r"^(a|a|ab?)*$", "c")),),
    )
    yield Attack(
        "JSON Schema: check of 400 alternatives against 400, nested",
        offered(_json_alternatives(members, "string")),
        path="/subjects/alternatives/versions",
        before=(offered(_json_alternatives(members, "integer")),),
    )


def attacks_in_protobuf(divisor: int) -> Iterator[Attack]:
    deep, many = max(300, 10_000 // divisor), 100_000 // divisor
    offered = partial(_offered, kind="PROTOBUF")
    yield Attack("Protobuf: message in message, 10,000 levels", offered("message M {" * deep + "}" * deep))
    yield Attack("Protobuf: group in group, 10,000 levels", offered("message M {" + "optional group G=1 {" * deep))
    yield Attack("Protobuf: value in value, 10,000 levels", offered("option (x) = {" + "a {" * deep))
    yield Attack("Protobuf: a million braces", offered("{" * 10 * many))
    yield Attack("Protobuf: a string that never ends", offered('option a = "' + "x" * 5 * many))
    yield Attack("Protobuf: comments that never end", offered("/*" * 5 * many))
    yield Attack("Protobuf: name of 100,000 parts", offered(f"message M {{ optional {'a.' * many}a x = 1; }}"))
    yield Attack(
        "Protobuf: 20,000 fields of undeclared types",
        offered("message M {" + "".join(f"optional a.b.T{n} f{n}={n + 1};" for n in range(many // 5)) + "}"),
    )
    yield Attack("Protobuf: base64 of nothing", offered("AAAA" * many))


def _json_enum(values: int) -> str:
    return json.dumps({"type": "strin", "enum": list(range(values))})


def _json_properties(properties: int) -> str:
    return json.dumps({"properties": {f"p{n}": {"type": "string"} for n in range(properties)} | {"last": 1}})


def _json_chain(links: int) -> str:
    definitions = {f"d{n}": {"$ref": f"#/definitions/d{n + 1}"} for n in range(links)}
    return json.dumps({"$ref": "#/definitions/d0", "definitions": definitions})


def _json_pattern(pattern: str) -> str:
    return json.dumps({"type": "string", "pattern": pattern})


def _json_named(pattern: str, name: str) -> str:
    properties = {name: {"type": "integer"}}
    return json.dumps({"patternProperties": {pattern: {"type": "string"}}, "properties": properties})


def _json_alternatives(members: int, kind: str) -> str:
    inner = [{"type": "object", "properties": {f"p{m}": {"type": kind}}} for m in range(20)]
    return json.dumps({"oneOf": [{"title": f"{kind}{n}", "anyOf": [*inner, {"const": n}]} for n in range(members)]})


def _offered(schema: str, *references: tuple[str, int], kind: str = "AVRO") -> bytes:
    uses = [{"name": f"r{n}", "subject": subject, "version": v} for n, (subject, v) in enumerate(references)]
    return json.dumps({"schema": schema, "schemaType": kind, "references": uses}).encode()


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


def _union(records: int, prefix: str = "R", doc: str = "") -> str:
    fields = [{"name": "f", "type": "int"}]
    return json.dumps(
        [{"type": "record", "name": f"{prefix}{n}", "doc": doc, "fields": fields} for n in range(records)]
    )


def _enums(enums: int, prefix: str) -> str:
    names = [f"{prefix}{n}" for n in range(enums)]
    return json.dumps([{"type": "enum", "name": name, "symbols": names} for name in names])


def _prepare(server: Server, attack: Attack) -> None:
    for body in attack.before:
        _register(server, attack.path, body)
    if attack.level:
        subject = attack.path.removeprefix("/subjects/").removesuffix("/versions")
        ask(server.port, "PUT", f"/config/{subject}", json.dumps({"compatibility": attack.level}).encode())


def _register(server: Server, path: str, body: bytes) -> None:
    """An honest registration: before each attack, to see that the one before did no harm."""
    if ask(server.port, "POST", path, body).status != 200:
        raise RuntimeError(f"an honest schema is refused: {body[:80]!r}")


def _timed(server: Server, attack: Attack) -> tuple[float, Answered]:
    begun = perf_counter()
    answer = ask(server.port, attack.method, attack.path, attack.body or None)
    return perf_counter() - begun, answer


if __name__ == "__main__":
    main(lines, __doc__)
