"""What requests cost: how often each asks AWS, times what AWS takes for it. docs/deploy.md shows it.

Calls and units are counted: `TRIPS` is the table that tests/unit/aws/test_trips.py holds the registry to, and
tests/infra/test_usage.py the rest, on the functions as they are deployed. Assumed are milliseconds, how often an
environment has to start, and what clients ask for.

Prices: us-east-1, list, November 2026, without free tiers; arm64.
"""

import math
from dataclasses import astuple, dataclass, replace
from operator import add

from infra.trips import ASK, TRIPS, Trips
from sigla.deployment.choices.pipelines import DRIVER_VCPUS, EXECUTOR_VCPUS, GB_PER_VCPU
from sigla.functions.event_bus import MOST_ENTRIES

MILLION = 1_000_000
GIGABYTE = 1_000_000_000
SECONDS_A_MONTH = 730 * 3_600

# --- prices ----------------------------------------------------------------------------------------------------------

INVOCATION = 0.20 / MILLION
GB_SECOND = 0.0000133334
RESTORED_GB = 0.0001397998
REST_TIERS = ((333 * MILLION, 3.50 / MILLION), (667 * MILLION, 2.80 / MILLION), (19_000 * MILLION, 2.38 / MILLION))
REST_REQUEST, REST_BEYOND = REST_TIERS[0][1], 1.51 / MILLION
"""Prices of a REST API: so many requests of a month at so much each, then the next; all APIs of an account and region
count together.
"""
READ_UNIT, WRITE_UNIT = 0.125 / MILLION, 0.625 / MILLION
S3 = {"PutObject": 5.00 / MILLION, "ListObjectsV2": 5.00 / MILLION, "GetObject": 0.40 / MILLION}
LOGGED_BYTE, QUERIED_BYTE = 0.50 / GIGABYTE, 0.005 / GIGABYTE
FIREWALL_REQUEST = 0.60 / MILLION
ENDPOINT_BYTE = 0.01 / GIGABYTE
"""The price of a byte through a private door, in and out."""
EVENT = 1.00 / MILLION
"""The price of an event of EventBridge: each of ours is shorter than the 64 KB that are billed as one."""
METRIC = 0.30
STORED_ROWS_GB, STORED_OBJECTS_GB = 0.25 + 0.20, 0.023
"""A month; of rows with what keeps them restorable."""
EMR_HOURS = {"arm64": (0.0421, 0.0046), "x86_64": (0.0526, 0.0058)}
"""Prices of workers on EMR Serverless, of a vCPU and of a GB: those of arm64 are the ones that all else is told by."""
VCPU_HOUR, GB_HOUR = EMR_HOURS["arm64"]

# --- what is assumed -------------------------------------------------------------------------------------------------

# In milliseconds by operation; those of one round are waited for together.
WAIT_MS = {
    "BatchGetItem": 5,
    "DescribeEventBus": 20,
    "GetObject": 20,
    "Invoke": 30,
    "PutEvents": 20,
    "PutObject": 30,
    "Query": 5,
    "TransactWriteItems": 15,
    "UpdateItem": 5,
}

RESTORES = 1 / 1_000
"""The share of requests that need a new environment."""

ENVIRONMENTS = 4
"""Share the requests of a minute at a time: more than the milliseconds of an evenly spread million keep busy."""

KEPT, NEW, LATEST = "a read by id, kept in memory", "a read by id, new to its environment", "the latest version"
GUID = "a read by GUID, new to its environment"
KNOWN, FIRST, NEXT = "a known schema, registered again", "the first schema of a subject", "a new version of a subject"
WRONG = "anything, with a wrong key"
MIX = {KEPT: 0.60, NEW: 0.25, LATEST: 0.05, KNOWN: 0.099, NEXT: 0.001}
"""Requests of a month: clients keep what they know, so most reads are those of clients that start."""
READS = (KEPT, NEW, LATEST)
MONTHS = (0, MILLION, 10 * MILLION, 100 * MILLION)

ANSWER_BYTES = 2_000
"""How many bytes a request and its answer have."""

FIRST_READS = 1 / 100
"""The share of reads that are the first ones of an id by a principal in a day."""
IDS_TOGETHER = 4
"""How many ids that are new to an environment a principal reads while its token is known there."""

EXTENSION_MS = 0.25
"""What an extension takes of each request, also where nothing is left to do: five times what it is measured to take."""

DESTINATION_MS = 50
"""How long a destination takes to answer an exporter."""

STREAM_SHARDS = 4
"""How many shards the table's stream has: as many as a new table has partitions."""

RUN_MINUTES = {"land": 2, "maintain": 5, "audit": 10, "scrub": 10}
"""How long a job takes that finds little to do."""
RECORD_SECONDS, BUSY = 30 / MILLION, 0.5
"""Seconds of a processor to land one record; and the share of their time in which paid processors do so."""

# --- what is counted -------------------------------------------------------------------------------------------------

MEMORY_GB = 0.5
"""The memory of every function."""
OVERHEAD = 26
"""Bytes that CloudWatch Logs adds to a line."""
REQUEST_LINE, ACCESS_LINE, JOURNAL_LINE, HEARTBEAT_LINE, EXPORTERS_LINE, ISSUERS_LINE = 400, 360, 180, 680, 150, 60
EVENTS_LINE = 140
"""Bytes at most, of subjects with names of 40."""
METRICS_LINE, METRICS_VALUE = 360, 8
"""Bytes at most: of a line that tells of reads and of writes, and of each value in it."""
TOGETHER, STRANGERS_LINES = 99, 10
"""Requests whose metrics share a line, at most, and lines of 401 in a minute, of one environment."""
SILENT_S = 10
"""How long an exporter waits for a destination that does not answer."""
DESTINATION_REQUESTS = 2
"""How often a destination is asked for each new version that is written to it."""
EXPORTED_ROWS = 256
"""Versions that a tick writes, where it has much to do; rows of the journal that an exporter looks at together."""
QUERIES = 5
"""Queries of the log, each time that a person looks at the dashboard."""
METRICS = 8
"""Each has a price in a month in which anything is asked."""
WINDOW_S, BATCH = 60, 96
"""How long the stream gathers rows, and how many, before it wakes the journal."""
ROWS_BYTES, OBJECTS_BYTES = 1_850, 850
"""Stored of a version at most, its schema of 400 bytes."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one thing takes.

    trips: to AWS. own_ms: in the function besides waiting for it. lines: bytes of its log, with what is
    added to each line, without metrics.
    """

    trips: Trips
    own_ms: float = 5
    lines: float = REQUEST_LINE + OVERHEAD

    @property
    def ms(self) -> float:
        return self.own_ms + sum(max(WAIT_MS[operation] for operation in each) for each in self.trips.rounds)


# The function logs a share of successful reads by id and by GUID: the setting log_reads.
_READ_LINES = 0.01 * (REQUEST_LINE + OVERHEAD)

REQUESTS = {
    KEPT: Work(TRIPS["read by id for a subject again"], lines=_READ_LINES),
    NEW: Work(TRIPS["read by id for a subject"], lines=_READ_LINES),
    GUID: Work(TRIPS["read by guid"], lines=_READ_LINES),
    LATEST: Work(TRIPS["read the latest version again"]),
    KNOWN: Work(TRIPS["register a known schema, spelled otherwise, again"], own_ms=10),
    FIRST: Work(TRIPS["register a first version"], own_ms=20),
    NEXT: Work(TRIPS["register a next version, cold"], own_ms=20),
    WRONG: Work(Trips()),
}
"""All are for subjects without references. Reads by id name a subject, as Confluent's clients do.

Whether a key is wrong is looked up once in five seconds of an environment.
"""


def batch(rows: int) -> Work:
    """The journal's function, handed so many rows, each of one schema."""
    rounds = (("BatchGetItem",), ("GetObject",) * rows, ("TransactWriteItems",), ("PutObject",), ("UpdateItem",))
    trips = Trips(rounds, read=rows + 1, write=2 * rows + 3)
    return Work(trips, own_ms=5 + 2 * rows, lines=JOURNAL_LINE + OVERHEAD)


CATCH_UP = Work(
    Trips((("Query",), *[("BatchGetItem",)] * 2, *[("Query",)] * 16, ("UpdateItem",), ("Query",)), read=20, write=1),
    own_ms=10,
    lines=JOURNAL_LINE + OVERHEAD,
)
"""One that finds nothing to do, and no other registry to look after."""

BEHIND_NOTHING = Work(Trips((("BatchGetItem",),) * 2, read=4), own_ms=1, lines=0)
"""What events add to an invocation of the journal's function that has none to hand over."""


def delivered(events: int) -> Work:
    """What they add to one whose segment tells so many commits."""
    calls = (("PutEvents",),) * math.ceil(events / MOST_ENTRIES)
    rounds = (*BEHIND_NOTHING.trips.rounds, ("DescribeEventBus",), ("GetObject",), *calls, ("UpdateItem",))
    return Work(Trips(rounds, read=4, write=1), own_ms=2 + events / 4, lines=EVENTS_LINE + OVERHEAD)


NOTED = Work(TRIPS["note a read that is noted today"], own_ms=1, lines=0)
NOTED_FIRST = Work(TRIPS["note the first read of a day"], own_ms=2, lines=0)
TOKEN = Work(Trips(ASK, read=1), own_ms=1, lines=0)
"""Who made a read is noted by a token, which is asked for once in five minutes of an environment."""

HEARTBEAT = Work(Trips((("Invoke",), ("UpdateItem",)), write=1), lines=HEARTBEAT_LINE + OVERHEAD)
"""The heartbeat of one zone, which has two members and is well."""
PROBE = Work(Trips(), own_ms=10, lines=0)
"""What the zone's function does when it is asked: it asks its members, and writes no line."""

EXPORTERS = Work(Trips((("Query",),), read=1), lines=EXPORTERS_LINE + OVERHEAD)
"""A tick of the exporters' clock where no exporter runs."""
EXPORTER = Work(Trips((("BatchGetItem",), *[("Query",)] * 16), read=17), own_ms=5, lines=0)
"""What each exporter adds to a tick while it has nothing to write."""


ISSUERS = Work(Trips((("GetObject",),)), own_ms=300, lines=ISSUERS_LINE + OVERHEAD)
"""A turn of the function that reads the keys of an issuer, for whose two documents 300 ms are assumed."""


def exported(versions: int) -> Work:
    """What one exporter adds to a tick that writes so many new versions: what it reads, and what it asks over there.

    It remembers rows of the last minute, beside which others may yet come, so that its own row grows with them.
    """
    each = (("BatchGetItem",), ("BatchGetItem",), ("GetObject",), ("GetObject",))
    rounds = (*EXPORTER.trips.rounds, *each * versions, ("UpdateItem",))
    trips = Trips(rounds, read=EXPORTER.trips.read + 9 * versions, write=1 + versions // 4)
    return Work(trips, own_ms=EXPORTER.own_ms + versions * (10 + DESTINATION_REQUESTS * DESTINATION_MS), lines=0)


# --- dollars ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bill:
    """Dollars."""

    function: float = 0.0
    dynamodb: float = 0.0
    s3: float = 0.0
    logs: float = 0.0
    gateway: float = 0.0

    @property
    def total(self) -> float:
        return float(sum(astuple(self)))

    def __add__(self, other: "Bill") -> "Bill":
        return Bill(*map(add, astuple(self), astuple(other)))

    def __mul__(self, times: float) -> "Bill":
        return Bill(*(each * times for each in astuple(self)))


def bill(work: Work, *, restores: float = 0.0) -> Bill:
    """The bill of one request. restores: of the function's snapshot."""
    return Bill(
        function=INVOCATION + MEMORY_GB * (work.ms / 1_000 * GB_SECOND + restores * RESTORED_GB),
        dynamodb=work.trips.read * READ_UNIT + work.trips.write * WRITE_UNIT,
        s3=sum(S3.get(operation, 0.0) * count for operation, count in work.trips.calls.items()),
        logs=work.lines * LOGGED_BYTE,
    )


def asked(request: str, *, rest: bool, requests: float = MILLION, registrations: float = MILLION) -> Bill:
    """The bill of one of REQUESTS, through the REST API or through a function URL, with what the journal takes for it.

    requests, registrations: those of the month, and new schemas among them, evenly spread; the more there are, the
    more of them share a line of metrics, or a batch of the journal.
    """
    work = REQUESTS[request]
    if request == WRONG:
        work = replace(work, lines=work.lines * min(1.0, STRANGERS_LINES / in_a_minute(requests)))
    made = bill(work, restores=RESTORES) + Bill(logs=told(requests) * LOGGED_BYTE)
    if rest:
        made += Bill(gateway=rest_request(requests), logs=(ACCESS_LINE + OVERHEAD) * LOGGED_BYTE)
    if request in (FIRST, NEXT):
        made += journaled(registrations)
    return made


def rest_request(requests: float) -> float:
    """Dollars that the REST API takes for each of a month's requests, in the mean."""
    left, spent = max(1.0, requests), 0.0
    for size, price in (*REST_TIERS, (left, REST_BEYOND)):
        within = min(left, size)
        left, spent = left - within, spent + within * price
    return spent / max(1.0, requests)


def in_a_minute(requests: float) -> float:
    """How many of a month's requests one environment has in a minute."""
    return requests / SECONDS_A_MONTH * 60 / ENVIRONMENTS


def told(requests: float) -> float:
    """Bytes of metrics that each request takes, where there are so many in a month."""
    return (METRICS_LINE + OVERHEAD) / min(TOGETHER, max(1.0, in_a_minute(requests))) + METRICS_VALUE


def journaled(registrations: float) -> Bill:
    """The journal's share of one registration."""
    rows = together(registrations)
    return bill(batch(rows)) * (1 / rows)


def heartbeat() -> Bill:
    """The bill of one zone, with what its function takes to answer."""
    return bill(HEARTBEAT) + bill(PROBE)


def together(registrations: float) -> int:
    """How many of them share a batch of the stream."""
    return min(BATCH, max(1, round(registrations / SECONDS_A_MONTH * WINDOW_S / STREAM_SHARDS)))


def month(requests: int, *, rest: bool) -> float:
    """Dollars besides what the stack costs idle, where it is counted who reads."""
    registrations = requests * sum(share for request, share in MIX.items() if request in (FIRST, NEXT))
    volumes = {"requests": requests, "registrations": registrations}
    each = [asked(request, rest=rest, **volumes) * share for request, share in MIX.items()]
    reads = sum(MIX[request] for request in READS)
    counting = reads * counted_read() + (1 - reads) * extended()
    return requests * (sum(one.total for one in each) + counting) + (METRICS * METRIC if requests else 0.0)


def flood(request: str, *, rest: bool, per_second: float) -> float:
    """Dollars of a month in which a door is asked so often, day and night."""
    requests = per_second * SECONDS_A_MONTH
    return requests * asked(request, rest=rest, requests=requests).total


def read(*, rest: bool = False, ring: bool = False) -> float:
    """Dollars of one read, as MIX has them. ring: in a zone, whose ring has what is new to an environment."""
    shares = {request: MIX[request] for request in READS}
    spent = sum(asked(request, rest=rest).total * share for request, share in shares.items())
    return (spent - ring * MIX[NEW] * S3["GetObject"]) / sum(shares.values())


def looked_at(requests: float) -> float:
    """Dollars of a look at the dashboard over a whole month of so many requests."""
    each = sum(share * REQUESTS[request].lines for request, share in MIX.items()) + told(requests)
    return QUERIES * requests * each * QUERIED_BYTE


# --- who reads -------------------------------------------------------------------------------------------------------


def counted_read() -> float:
    """Dollars of counting one read, as MIX has them: those that are new to an environment are looked up, once a day."""
    new = MIX[NEW] / sum(MIX[request] for request in READS)
    token = beside(TOKEN) / IDS_TOGETHER
    first = beside(NOTED_FIRST) - beside(NOTED)
    return new * (beside(NOTED) + token) + FIRST_READS * first + extended()


def extended() -> float:
    """Dollars of a request's share of the extension by which something is done after answers."""
    return beside(Work(Trips(), own_ms=EXTENSION_MS, lines=0))


# --- events ----------------------------------------------------------------------------------------------------------


def commit_events(commits: float) -> float:
    """Dollars of the events of so many commits in a month, evenly spread, besides what the journal takes."""
    rows = together(commits)
    return commits * (EVENT + beside(delivered(rows)) / rows)


# --- exporters -------------------------------------------------------------------------------------------------------

TICKS = SECONDS_A_MONTH // 120
"""How often the clock of exporters comes in a month."""


def idle_exporter() -> float:
    """Dollars of a month of one exporter that has nothing to write, besides those of the clock."""
    return TICKS * beside(EXPORTER)


def exported_version() -> float:
    """Dollars of a version that an exporter writes, one of many."""
    return beside(exported(EXPORTED_ROWS)) / EXPORTED_ROWS


def silent_destination() -> float:
    """Dollars of a month of one exporter whose destination is silent."""
    return TICKS * beside(replace(EXPORTER, own_ms=1_000 * SILENT_S))


def beside(work: Work) -> float:
    """Dollars of what is done beside other work, in the same invocation."""
    return bill(work).total - INVOCATION


# --- jobs ------------------------------------------------------------------------------------------------------------

WORKER_VCPU_HOUR = VCPU_HOUR + GB_PER_VCPU * GB_HOUR
"""With its memory."""


def run(job: str) -> float:
    """Dollars of a run that finds little to do: a driver and one executor."""
    return (DRIVER_VCPUS + EXECUTOR_VCPUS) * RUN_MINUTES[job] / 60 * WORKER_VCPU_HOUR


def landed_hours(records: float) -> float:
    """Hours of a processor, to land so many."""
    return records * RECORD_SECONDS / BUSY / 3_600
