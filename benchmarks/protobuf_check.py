"""Reading, printing and comparing Protobuf schemas.

A file of 75 KB, as large ones are: messages of 20 fields with scalars, repeated ones, maps, oneofs, enums, comments,
and messages used by others. Beside its reading stands protoc, which compiles the same file from disk and prints
nothing. Then one check, of a reader with one more field in every message, for 10 to 10,000 fields, to show that time
grows as the schema does.

It may mislead: protoc also resolves and checks all names, in C++; and it reads the file and writes a descriptor.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from grpc_tools import protoc

from benchmarks.checks import curve, parsed, validated
from benchmarks.harness import Goal, Line, Lines, best_of, main, per_call
from sigla.languages.protobuf import LANGUAGE

LARGE = 75_000
FIELDS = 20
KINDS = ("string", "int64", "repeated double", "map<string, int32>", "bool", "optional bytes", "State", "fixed32")


def text(fields: int, *, evolved: bool = False) -> str:
    """A file with so many fields in all, 20 to a message."""
    head = 'syntax = "proto3";\npackage shop.v1;\noption java_package = "com.shop";\n'
    head += "enum State { UNKNOWN = 0; READY = 1; }\n"
    messages, more = divmod(fields, FIELDS)
    sizes = [FIELDS] * messages + [more] * bool(more)
    return head + "".join(_message(number, size, evolved=evolved) for number, size in enumerate(sizes))


def _message(number: int, fields: int, *, evolved: bool) -> str:
    lines = [f"// What number {number} is about.\nmessage Message{number} {{\n"]
    own = fields - 3 if fields > 3 else fields
    lines += [f"  {KINDS[(number + n) % len(KINDS)]} field_{n} = {n + 1}; // of field {n}\n" for n in range(own)]
    if own < fields:
        lines.append(f"  oneof choice {{\n    string left = {own + 1};\n    int32 right = {own + 2};\n  }}\n")
        lines.append(f"  Message{max(0, number - 1)} before = {own + 3} [deprecated = true];\n")
    if evolved:
        lines.append("  string added = 1000;\n")
    return "".join(lines) + "}\n"


def large(size: int) -> str:
    """A text of so many characters, or a little more."""
    fields = FIELDS
    while len(text(fields)) < size:
        fields += FIELDS
    return text(fields)


def lines(*, quick: bool = False) -> Lines:
    rounds = 2 if quick else 15
    schema = large(5_000 if quick else LARGE)
    with _compiling(schema) as compile_:
        ours, peer = best_of(rounds, per_call(lambda: parsed(LANGUAGE, schema), 1), per_call(compile_, 1))
    goal = None if quick else Goal(0.040, "s")
    yield Line(
        f"read and canonical text of {len(schema) // 1_000} kB", ours, "s", peer, "protoc, to a descriptor", goal
    )
    known = parsed(LANGUAGE, schema)
    ours, peer = best_of(
        rounds,
        per_call(lambda: validated(LANGUAGE, schema), 1),
        per_call(lambda: LANGUAGE.normalise(known), 1),
    )
    yield Line("the same with every name resolved", ours, "s", peer, "normalisation alone")
    [ours] = best_of(rounds, per_call(lambda: LANGUAGE.compiled(known), 1))
    yield Line("its FileDescriptorSet", ours, "s")
    sizes = (10, 100) if quick else (10, 100, 1_000, 10_000)
    yield from curve(LANGUAGE, text, sizes, rounds, piece="field", pieces=5_000)


@contextmanager
def _compiling(schema: str) -> Iterator[partial[None]]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "large.proto").write_text(schema)
        yield partial(_compiled, ["protoc", f"-I{folder}", f"--descriptor_set_out={folder}/out", "large.proto"])


def _compiled(arguments: list[str]) -> None:
    if protoc.main(arguments):
        sys.exit("protoc refuses the file")


if __name__ == "__main__":
    main(lines, __doc__)
