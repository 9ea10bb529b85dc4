"""Where the record comes from that is to be explained: a file, the command line, a topic."""

import sys
from pathlib import Path

from sigla.cli import topics
from sigla.cli.misuse import Misuse, Refused
from sigla.decoding import pasted
from sigla.decoding.explain import Given


def given(record: str, form: str | None) -> Given:
    """form: `file`, `hex` or `base64`; None to guess: `-`, a file that exists, hex, base64. Raises Misuse."""
    if record == "-":
        return Given(_from_stdin())
    if form == "file" or (form is None and _is_file(record)):
        try:
            return Given(Path(record).read_bytes())
        except (OSError, ValueError) as problem:
            raise Misuse(f"{record} cannot be read ({getattr(problem, 'strerror', problem)}).") from None
    part = b"" if form != pasted.HEX and not record.strip() else pasted.bytes_of(record, form)
    if part is not None:
        return Given(part)
    shown = record if len(record) <= 40 else f"{record[:40]}…"
    raise Misuse(f"{shown} is neither a file nor {form or 'hex nor base64'}.")


def _from_stdin() -> bytes:
    if sys.stdin is None:  # closed by who started us
        raise Misuse("Standard input is closed, so the record cannot be read from it.")
    try:
        return sys.stdin.buffer.read()
    except OSError as problem:
        raise Misuse(f"Standard input cannot be read ({problem.strerror}).") from None


def _is_file(record: str) -> bool:
    """Hex and base64 may be longer than any name of a file."""
    try:
        return Path(record).is_file()
    except (OSError, ValueError):
        return False


def fetched(topic: str, partition: int, offset: int, part: str, settings: topics.Settings) -> Given:
    """A record of a topic. settings: of the consumer. Raises Misuse, Refused."""
    with topics.consuming(topic, settings) as reader:
        reader.begin(topic, partition, offset)
        message = reader.next()
    if message is None:
        raise Refused(
            f"{settings['bootstrap.servers']} does not answer, or {topic} has no partition {partition}{reader.reason}."
        )
    if message.error():
        raise Refused(f"{topic}, partition {partition}, has no record {offset}: {message.error().str()}.")
    if message.offset() != offset:
        raise Refused(f"{topic}, partition {partition}, has no record {offset}; the next one is {message.offset()}.")
    headers = tuple((name, value) for name, value in message.headers() or ())
    return Given(message.value() if part == "value" else message.key(), headers)
