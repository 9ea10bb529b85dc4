"""One batch after another, each in five steps.

plan      asks what the batch's subjects and tables are now                    `Driver._plan`, `plan.py`
decode    sends tasks their plan; each decodes its share                       `task.py`, `transform.py`
write     and writes files that count for nothing yet                          `outputs.py`
decide    puts the manifest, if all records are in one of the files            `batch.py`, `manifest.py`
commit    has the tables know of the files                                     `sinks/`
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from sigla.errors import StoreError
from sigla.opening import lookup
from sigla.ports.clock import Clock
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla_pipelines.land import replay, settings
from sigla_pipelines.land.batch import Attempt, Batch, StopIf, land_once
from sigla_pipelines.land.decoders.decoder import Native
from sigla_pipelines.land.decoders.extension import chosen_extension, chosen_native
from sigla_pipelines.land.hash_key import hash_key
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.manifest import Manifest, Manifests, Read
from sigla_pipelines.land.messages import Messages
from sigla_pipelines.land.names import Names, taken_names
from sigla_pipelines.land.partitions import text_of_fields
from sigla_pipelines.land.plan import Plan, plan_batch
from sigla_pipelines.land.protection import NO_PROTECTION, Protection
from sigla_pipelines.land.reader_schemas import Heads
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.schemas import Schemas
from sigla_pipelines.land.settings import InvalidLanding, Landing, SinkPart
from sigla_pipelines.land.sinks import sink_marker
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.sinks.sink import Sink, in_table, plain_name
from sigla_pipelines.land.task import Task
from sigla_pipelines.land.upsert import StateTable
from sigla_pipelines.places import Place, open_place

Tasks = Callable[[Task], Sequence[Landed]]
"""Runs a batch: what each task did. If a share had several attempts, one counts. To be called again by another plan."""


@dataclass(frozen=True, slots=True)
class Driver:
    """work: the folder of what the job remembers. lake: that of its tables. environ: where the key of hashes may be."""

    landing: Landing
    work: Place
    lake: Place
    manifests: Manifests
    sink: Sink
    messages: Messages
    names: Names
    clock: Clock
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def land(self, batch: Batch, tasks: Tasks) -> Manifest:
        """The manifest that the batch's tables follow now.

        Raises what `land_once` raises, NoHead, NoHashKey, Misbound, DataNotOpened and InvalidLanding.
        """
        stop_if = StopIf(self.landing.stop_if.bad_ratio, self.landing.stop_if.min_rows)
        return land_once(batch, lambda: self._attempt(batch, tasks), self.manifests, self.sink, stop_if=stop_if)

    def replay(self, reasons: Iterable[str] = (), unbound: Counter[str] | None = None) -> Manifest | None:
        """The quarantine once more, in this process; None if nothing of it can be read now. Raises as `land` does.

        unbound: counts by topic what goes on waiting because no binding speaks of it.
        """
        bound = self.landing.bound

        def land(query: str, number: int, records: replay.Records) -> Attempt:
            waiting = records() if bound.rules else ()
            topics = frozenset(topic for each in waiting for topic in each["topic"].unique().to_pylist())
            batch = Batch(query, number, topics=topics)
            return self._attempt(batch, lambda task: [task.land(records())])

        return replay.replay_quarantine(
            self.manifests,
            self.sink,
            land,
            now=self.now(),
            topics=bound,
            unbound=Counter() if unbound is None else unbound,
            reasons=reasons,
        )

    @property
    def states(self) -> tuple[StateTable, ...]:
        """Those of `landing`, of tables as they are called."""
        names = self.names.of(state.history for state in self.landing.states)
        return tuple(replace(state, history=names[state.history]) for state in self.landing.states)

    def close(self) -> None:
        self.sink.close()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now() / 1000, UTC)

    def _attempt(self, batch: Batch, tasks: Tasks) -> Attempt:
        """Plans the batch and has tasks decode and write it; what they wrote counts when a manifest names it."""
        while True:
            plan = self._plan(batch)
            landed = tasks(Task(self._registry, plan, self.sink.staging, self.landing.sink.format, self.now()))
            met = (each for share in landed for each in share.met)
            if self.messages.meet(plan.messages, met):
                break
            self._forget(landed)  # a Protobuf message was met that this plan has no table for
        # Not before: who has said a wrong lake, and landed nothing, may say another one.
        sink_marker.keep(self.work, self.lake, self.landing.sink)
        columns = {table: target.schema for table, target in plan.targets.items()}
        return Attempt(landed, columns, _reads_of(plan), self._changes(plan, landed))

    def _plan(self, batch: Batch) -> Plan:
        """Asks the registry what the batch's subjects are now, and the sink what its tables are."""
        landing = self.landing
        bindings, context = landing.bound.bindings(batch.topics), landing.registry.context
        stale_ms = int(landing.max_stale.total_seconds() * 1000)
        # Opened anew for each call: Spark calls from any thread, and an id that is unknown now is not remembered as
        # unknown.
        with lookup(self._registry) as (bodies, catalog):
            checks = landing.checks.checks
            schemas = Schemas(bodies, context)
            plan = plan_batch(
                query=batch.query,
                batch=batch.number,
                context=context,
                bindings=bindings,
                answer=Heads(catalog, self.work, self.clock, context, bindings, stale_ms).now(),
                checks=checks,
                readers=Readers(
                    schemas, checks.limits, landing.sink.additional, landing.types.times, native=self.native
                ),
                tables=self.sink,
                policy=landing.sink.evolve,
                met=self.messages.of,
                protection=self._protection(),
                state_keys={state.history: state.keys for state in self.states},
                named=self.names.of,
            )
        for table, target in plan.targets.items():
            self.sink.check(table, target.schema)
        return plan

    @property
    def native(self) -> Native:
        """Raises InvalidLanding."""
        try:
            native = chosen_native(self.landing.native, self.environ)
            chosen_extension(native)
        except ValueError as problem:
            raise InvalidLanding(str(problem)) from None
        return native

    def _protection(self) -> Protection:
        """Raises NoHashKey."""
        rules = tuple(each.rule for each in self.landing.columns)
        return Protection(rules, hash_key(self.landing.hash_key, self.environ)) if rules else NO_PROTECTION

    @property
    def _registry(self) -> Address:
        return self.landing.registry.address

    def _changes(self, plan: Plan, landed: Sequence[Landed]) -> tuple[str, ...]:
        """A sentence for each table that is partitioned otherwise by the files of this batch."""
        written = {file.table for each in landed for file in each.files}
        found = {table: self.sink.partition(table) for table in plan.layouts if table in written}
        return tuple(
            f"{table}: new files are partitioned by {text_of_fields(now) or 'nothing'}, "
            f"those before stay partitioned by {text_of_fields(before) or 'nothing'}"
            for table, before in sorted(found.items())
            if before is not None and before != (now := plan.layouts[table].partition)
        )

    def _forget(self, landed: Sequence[Landed]) -> None:
        """Removes what an attempt has written that counts for nothing."""
        # Who may not delete there leaves it to `gc`, as after a crash; a store that is silent is told by the next step.
        with suppress(OSError, StoreError):
            for file in (file for each in landed for file in each.files):
                self.sink.staging.delete(in_table(file))


def read_settings(url: str) -> Landing:
    """Those in a file, or in an object of S3. Raises InvalidLanding, StoreError."""
    if not url.startswith("s3://"):
        return settings.read_settings(Path(url))
    folder, _, name = url.rpartition("/")
    text = open_place(folder).read(name)
    if text is None:
        raise InvalidLanding(f"{url} cannot be read: the object does not exist.")
    return settings.parse_landing(text, url)


def driver(landing: Landing) -> Driver:
    """Raises InvalidLanding, InvalidSetting, StoreError."""
    work, lake, clock = open_place(landing.work), open_place(landing.sink.lake), SystemClock()
    part = sink_marker.checked(work, lake, landing.sink)
    _check_layouts(landing, part)
    manifests = Manifests(work)
    landing = landing.model_copy(update={"sink": part})
    sink = _open_sink(part, lake, manifests)
    reserved = {plain_name(name) for state in landing.states for name in (state.table, state.deleted)}
    names = Names(work, manifests, taken_names(sink, lake), reserved)
    return Driver(landing, work, lake, manifests, sink, Messages(work, manifests), names, clock)


def _check_layouts(landing: Landing, part: SinkPart) -> None:
    """Not when the settings are read: what kind the tables are, a work directory may say."""
    laid_out = next((each for each in landing.bind if each.laid_out), None)
    if part.kind != "iceberg" and laid_out is not None:
        raise InvalidLanding(
            f"`partition` and `sort` of the topic {laid_out.topic} are for Iceberg tables, and `sink.kind` is "
            f"{part.kind}. Remove them, or land into Iceberg tables, with another `work` and another `lake`."
        )


def _open_sink(part: SinkPart, lake: Place, manifests: Manifests) -> Sink:
    if part.kind == "parquet":
        return Parquet(lake, manifests)
    from sigla_pipelines.land.sinks import iceberg  # noqa: PLC0415 - to import pyiceberg takes 0.6 s

    return iceberg.Iceberg(iceberg.catalog(part.catalog, lake), part.namespace, lake)


def _reads_of(plan: Plan) -> tuple[Read, ...]:
    stale, dropped = plan.answer.stale, plan.dropped
    reads = [
        Read(head.subject, head.version, head.reader.id, stale, dropped.get((binding, head.subject), ()))
        for binding, heads in plan.answer.heads.items()
        for head in heads.values()
    ]
    return tuple(dict.fromkeys(reads))
