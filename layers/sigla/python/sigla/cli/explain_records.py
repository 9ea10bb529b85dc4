"""Where the record comes from that is to be explained: a file, the command line, a topic."""

import re
import sys
from base64 import b64decode
from binascii import Error as NoBase64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigla.cli.misuse import Misuse, Refused

WAIT_S = 15.0
"""For a broker's answer."""

HEX = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})+)")

INSTALL = "pip install '.[pipelines]' in the clone of Sigla"


@dataclass(frozen=True, slots=True)
class Given:
    """A part of a record, its value or its key; None for a null."""

    part: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def given(record: str, form: str | None) -> Given:
    """form: `file`, `hex` or `base64`; None to guess: `-`, a file that exists, hex, base64. Raises Misuse."""
    if record == "-":
        return Given(_from_stdin())
    if form == "file" or (form is None and _is_file(record)):
        try:
            return Given(Path(record).read_bytes())
        except (OSError, ValueError) as problem:
            raise Misuse(f"{record} cannot be read ({getattr(problem, 'strerror', problem)}).") from None
    digits = HEX.fullmatch("".join(record.split()))
    if form != "base64" and digits:
        return Given(bytes.fromhex(digits[1]))
    if form != "hex":
        try:
            return Given(b64decode("".join(record.split()), validate=True))
        except (NoBase64, ValueError):
            pass
    shown = record if len(record) <= 40 else f"{record[:40]}…"
    raise Misuse(f"{shown} is neither a file nor {form or 'hex nor base64'}.")


def _from_stdin() -> bytes:
    if sys.stdin is None:  # closed by who started us
        raise Misuse("There is no standard input that the record could be read from.")
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


def fetched(topic: str, partition: int, offset: int, part: str, settings: dict[str, str]) -> Given:
    """A record of a topic. settings: of the consumer. Raises Misuse, Refused."""
    try:
        import confluent_kafka as kafka
    except ImportError:
        raise Misuse(f"Topics are read by confluent-kafka, which is not installed: {INSTALL}.") from None
    said: list[str] = []
    own = {
        "group.id": "sigla-explain",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        # Else it writes a line of its own for each try.
        "log_level": 0,
        "error_cb": lambda error: said.append(error.str()),
    }
    try:
        consumer = kafka.Consumer({"auto.offset.reset": "error", **settings, **own})
    except kafka.KafkaException as problem:
        raise Misuse(f"A consumer cannot be made of these settings: {problem.args[0].str()}.") from None
    try:
        consumer.assign([kafka.TopicPartition(topic, partition, offset)])
        message: Any = consumer.poll(WAIT_S)  # its types say that headers are text
    except kafka.KafkaException as problem:
        raise Refused(f"{topic} cannot be read: {problem.args[0].str()}.") from None
    finally:
        consumer.close()
    if message is None:
        why = f" ({said[-1]})" if said else ""
        raise Refused(f"{settings['bootstrap.servers']} does not answer, or {topic} has no partition {partition}{why}.")
    if message.error():
        raise Refused(f"{topic}, partition {partition}, has no record {offset}: {message.error().str()}.")
    if message.offset() != offset:
        raise Refused(f"{topic}, partition {partition}, has no record {offset}; the next one is {message.offset()}.")
    headers = tuple((name, value) for name, value in message.headers() or ())
    return Given(message.value() if part == "value" else message.key(), headers)


def properties(path: Path | None) -> dict[str, str]:
    """Settings as Kafka's tools keep them: `name=value` lines. Raises Misuse."""
    if path is None:
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise Misuse(f"{path} cannot be read ({problem}).") from None
    pairs = (line.partition("=") for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}
