"""Small dumps of topics, as files."""

import json
from pathlib import Path

from tests.unit.journal.topic import schema, topic


def dumped(path: Path, *subjects: str) -> str:
    """A dump of a registry in which each subject has one version."""
    records = topic(
        *(schema(subject, 1, id, f'"{"int" if id % 2 else "long"}"') for id, subject in enumerate(subjects, 1))
    )
    lines = ({"offset": r.offset, "timestamp": r.ts, "key": r.key, "value": r.value} for r in records)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)
