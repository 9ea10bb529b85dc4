"""Files of raw records: as many as wanted, the same ones for the same seed, by several processes.

What a producer says is drawn and encoded some thousand times for each schema; records draw from these. So a million
take seconds, and the bytes are those of real serializers.
"""

import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sigla.decoding.frames import VALUE_HEADER
from sigla_pipelines.demo.topics import BADS, FIRST_MESSAGE, TOPICS, Bad, Schema, Topic, encoded
from sigla_pipelines.land.raw import RAW

SLICES: Final = 8
"""How many slices a day has; new schemas come at the beginning of one."""
PARTITIONS: Final = 2
VARIANTS: Final = 2_000
ROLLOUT: Final = 0.1
"""The share of a day that passes until all producers write a new schema."""
TOMBSTONES: Final = 0.005
BAD: Final = 0.01
LEAST: Final = 1_000
"""Records: of fewer, not every file has room for the bad ones that fall to it."""
DAY_US: Final = (1_767_225_600_000_000, 86_400_000_000)
"""Its beginning and its length: the first of 2026."""


@dataclass(frozen=True, slots=True)
class KnownSchema:
    """What the registry calls a schema."""

    id: int
    guid: UUID


@dataclass(frozen=True, slots=True)
class Job:
    """One file: what one partition gets in one slice. bad: how many of each kind, by its place in BADS."""

    folder: Path
    topic: int
    partition: int
    slice: int
    first: int
    records: int
    bad: tuple[tuple[int, int], ...]
    seed: int

    @property
    def path(self) -> Path:
        return self.folder / f"{self.slice:02}" / f"{TOPICS[self.topic].name}-{self.partition}.parquet"


def jobs(records: int, folder: Path, seed: int) -> list[Job]:
    """All of a day, slice by slice: together exactly so many records."""
    places = [(topic, partition) for topic in range(len(TOPICS)) for partition in range(PARTITIONS)]
    of_place = _split(records, [TOPICS[topic].share for topic, _ in places])
    made = []
    for (topic, partition), count in zip(places, of_place, strict=True):
        first = 0
        for slice_, share in enumerate(_split(count, [1.0] * SLICES)):
            made.append(Job(folder, topic, partition, slice_, first, share, (), seed))
            first += share
    made.sort(key=lambda job: (job.slice, job.topic, job.partition))
    return _with_bad(made, _bad(records))


def _with_bad(made: Sequence[Job], wanted: Mapping[int, int]) -> list[Job]:
    """The same files, with the bad records of each: of every kind about equally many in those that have records."""
    of_file: dict[Path, list[tuple[int, int]]] = {job.path: [] for job in made}
    for kind, rows in wanted.items():
        room = [job.path for job in made if job.records and TOPICS[job.topic] is BADS[kind].topic]
        for place, path in enumerate(room):
            if part := _part(rows, place, kind, len(room)):
                of_file[path].append((kind, part))
    return [replace(job, bad=tuple(of_file[job.path])) for job in made]


def earned_reasons(made: Iterable[Job]) -> Counter[str]:
    """How many bad records they will write, by the reason that each earns."""
    found: Counter[str] = Counter()
    for job in made:
        for kind, rows in job.bad:
            found[BADS[kind].reason.value] += rows
    return found


def _bad(records: int) -> dict[int, int]:
    """How many records of each kind: about equally many, and at least one."""
    return {kind: max(1, round(records * BAD / len(BADS))) for kind in range(len(BADS))}


def _part(wanted: int, place: int, kind: int, places: int) -> int:
    """What falls to one of all places of a topic. Few go to different places."""
    return wanted // places + ((place - kind) % places < wanted % places)


def _split(whole: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers in these proportions, which add up."""
    ends = np.rint(np.cumsum(weights) / np.sum(weights) * whole).astype(int)
    return [int(part) for part in np.diff(ends, prepend=0)]


# --- processes -------------------------------------------------------------------------------------------------------


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """They start at once. Ctrl-C is for whoever waits for them."""
    with ProcessPoolExecutor(count, get_context("spawn"), initializer=_deaf) as pool:
        for _ in range(count):
            pool.submit(_deaf)
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def write_file(job: Job, known: Mapping[str, KnownSchema]) -> None:
    """known: of every schema that the job's records name."""
    table = pa.Table.from_batches([_batch(job, known)])
    job.path.parent.mkdir(parents=True, exist_ok=True)
    # Whoever lists the folder meanwhile sees no file that is half written.
    unfinished = job.path.with_name(f".{job.path.name}")
    pq.write_table(table, unfinished, compression="zstd", row_group_size=max(1, -(-job.records // 2)))
    unfinished.rename(job.path)


# --- one file --------------------------------------------------------------------------------------------------------


def _batch(job: Job, known: Mapping[str, KnownSchema]) -> pa.RecordBatch:
    topic = TOPICS[job.topic]
    random = np.random.default_rng([job.seed, job.topic, job.partition, job.slice])
    time = _times(random, job)
    values, headers, first_of = _sayings(topic, _concerning(topic, known), job.seed)
    said = random.integers(0, VARIANTS, job.records) + VARIANTS * _schema_numbers(random, topic, time)
    said[random.random(job.records) < TOMBSTONES] = first_of["tombstone"]
    spoiled = random.permutation(job.records)[: sum(rows for _, rows in job.bad)]
    said[spoiled] = np.repeat([first_of[f"{kind}"] for kind, _ in job.bad], [rows for _, rows in job.bad])
    customers = random.integers(0, len(_keys()), job.records)
    columns = {
        "topic": pa.array(np.full(job.records, topic.name)),
        "partition": pa.array(np.full(job.records, job.partition, np.int32)),
        "offset": pa.array(np.arange(job.first, job.first + job.records)),
        "timestamp": pa.array(DAY_US[0] + (time * DAY_US[1]).astype(np.int64)).cast(RAW.field("timestamp").type),
        "key": _keys().take(pa.array(customers)),
        "value": values.take(pa.array(said)),
        "headers": headers.take(pa.array(said)),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in RAW.names], schema=RAW)


def _times(random: np.random.Generator, job: Job) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Shares of the day, ascending."""
    return (job.slice + np.sort(random.random(job.records))) / SLICES


def _schema_numbers(
    random: np.random.Generator, topic: Topic, time: np.ndarray[Any, np.dtype[np.float64]]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """By which schema each record is written, as a number: new ones come while old ones go."""
    chosen = np.zeros(len(time), np.int64)
    for number, schema in enumerate(topic.written):
        chosen[random.random(len(time)) * ROLLOUT < time - (schema.since or -1)] = number
    return chosen


@cache
def _keys() -> pa.Array:
    return pa.array([f"customer-{number}".encode() for number in range(5_000)], pa.binary())


def _concerning(topic: Topic, known: Mapping[str, KnownSchema]) -> tuple[tuple[str, KnownSchema], ...]:
    """Those of the schemas that its records name."""
    schemas = {*topic.schemas, *(bad.schema for bad in BADS if bad.topic is topic and bad.schema)}
    return tuple((schema.name, known[schema.name]) for schema in sorted(schemas, key=_name) if schema.name in known)


def _name(schema: Schema) -> str:
    return schema.name


@cache
def _sayings(
    topic: Topic, registered: tuple[tuple[str, KnownSchema], ...], seed: int
) -> tuple[pa.Array, pa.Array, Mapping[str, int]]:
    """Values and headers of all that the topic's producers say, and where the special ones begin.

    First VARIANTS of each schema that good records are written by; of schemas that are not registered yet, nothing that
    could be read. Then a tombstone, then a record of each kind of badness, under its number.
    """
    known = dict(registered)
    draw = Random(f"{seed} {topic.name}")  # noqa: S311 - data, not secrets
    said: list[tuple[bytes | None, bytes | None]] = []
    for schema in topic.written:
        for number in range(VARIANTS):
            payload = encoded(schema, schema.draw(draw, number)) if schema.name in known else b""
            said.append(_framed(schema, known.get(schema.name), payload))
    first_of = {"tombstone": len(said)}
    said.append((None, None))
    for kind, bad in enumerate(BADS):
        if bad.topic is topic:
            first_of[f"{kind}"] = len(said)
            said.append(_bad_record(bad, topic, known, draw))
    headers = [[] if header is None else [{"key": VALUE_HEADER, "value": header}] for _, header in said]
    values = pa.array([value for value, _ in said], pa.binary())
    return values, pa.array(headers, RAW.field("headers").type), first_of


def _bad_record(bad: Bad, topic: Topic, known: Mapping[str, KnownSchema], draw: Random) -> tuple[bytes, bytes | None]:
    """Value and header."""
    source = bad.schema or topic.written[0]
    payload = bad.spoil(encoded(source, source.draw(draw, 1)))
    if not bad.framed:
        return payload, bad.header
    return _framed(source, known[source.name], payload, bad.indexes)


def _framed(
    schema: Schema, known: KnownSchema | None, payload: bytes, indexes: bytes = FIRST_MESSAGE
) -> tuple[bytes, bytes | None]:
    """Value and header."""
    if known is None:
        return payload, None
    path = indexes if schema.type == "PROTOBUF" else b""
    if schema.in_header:
        return payload, b"\1" + known.guid.bytes + path
    return b"\0" + known.id.to_bytes(4) + path + payload, None


def needed_schemas(slice_: int) -> tuple[tuple[Topic, Schema], ...]:
    """What is registered when a slice begins."""
    found = [(topic, schema) for topic in TOPICS for schema in topic.schemas]
    return tuple((topic, schema) for topic, schema in found if int((schema.since or 0) * SLICES) == slice_)
