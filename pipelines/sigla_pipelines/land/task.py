"""What is sent to a task: all it has to know to land its share of a batch, wherever it runs."""

import atexit
import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from sigla import opening
from sigla.decoding.decoder import Limits
from sigla.settings import Address
from sigla_pipelines.land.decoders.decoder import Additional, Native
from sigla_pipelines.land.decoders.times import Times
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.outputs import Format, Outputs
from sigla_pipelines.land.plan import Plan
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.schemas import Schemas
from sigla_pipelines.land.transform import land_share
from sigla_pipelines.places import Place

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext

Records = Iterable[pa.RecordBatch]

COLLECTED_AFTER: Final = 200_000
"""So many more objects than before."""


@dataclass(frozen=True, slots=True)
class Task:
    """registry: only its bodies are read. now: when the batch was begun."""

    registry: Address
    plan: Plan
    lake: Place
    format: Format
    now: datetime

    def land(self, share: Records) -> Landed:
        """share: of the batch, records of RAW. Raises what `land_share` raises."""
        plan = self.plan
        worker = _worker(
            self.registry,
            plan.context,
            plan.checks.limits,
            additional=plan.additional,
            times=plan.times,
            native=plan.native,
        )
        outputs = Outputs(self.lake, plan.query, plan.batch, self.format, plan.layouts)
        return land_share(share, plan, worker.readers(self.now), outputs, self.now)


Sent = Callable[[], Task]
"""The task, where it is wanted: a plan of many tables is large, and a worker that has it needs it no second time."""


@contextmanager
def send_task(context: "SparkContext", task: Task) -> Iterator[Sent]:
    """Sends a task to the workers, once to each."""
    broadcast = context.broadcast(task)
    try:
        yield partial(_value_of, broadcast)
    finally:
        broadcast.destroy()


def _value_of(broadcast: "Broadcast[Task]") -> Task:
    task: Task = broadcast.value
    return task


def in_arrow(task: Sent) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: raw columns in, one row with a `Landed` out."""

    def land(share: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"landed": [task().land(share).encoded()]})

    return land


OPENED: Final = ExitStack()
"""The stores of this process. A signal ends a worker of Spark's, and then they are not closed."""
atexit.register(OPENED.close)


class _Worker:
    """What a process keeps from batch to batch: open stores, compiled decoders."""

    def __init__(
        self,
        registry: Address,
        context: str,
        limits: Limits,
        *,
        additional: Additional,
        times: Times,
        native: Native,
    ) -> None:
        # Decoding makes many small values and no circles of them; to look for some is a quarter of the time.
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER)
        bodies = OPENED.enter_context(opening.bodies(registry))
        self._readers = Readers(Schemas(bodies, context), limits, additional, times, native=native)
        self._begun: datetime | None = None

    def readers(self, begun: datetime) -> Readers:
        """begun: when the attempt at a batch was: a schema that was not there in another may be there in this one."""
        if self._begun != begun:
            self._begun = begun
            self._readers.schemas.forget_absent()
        return self._readers


@cache
def _worker(
    registry: Address, context: str, limits: Limits, *, additional: Additional, times: Times, native: Native
) -> _Worker:
    return _Worker(registry, context, limits, additional=additional, times=times, native=native)
