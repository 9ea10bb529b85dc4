"""Dumps in files."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from sigla.journal.replay import TopicRecord


def line(record: TopicRecord) -> bytes:
    form = {"offset": record.offset, "timestamp": record.ts, "key": record.key, "value": record.value}
    return json.dumps(form).encode() + b"\n"


def written(file: Path, records: Sequence[TopicRecord]) -> str:
    text = b"".join(map(line, records))
    file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
    return str(file)
