"""What the catalog was asked and answered, until something is committed: then all of it is forgotten.

One number decides (`Writer.state`), so that it need not be known which answer rests on what. Who speaks for an id is
remembered longer, until a commit touches that id (`speakers`).
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from sigla.bounded import BoundedMemory
from sigla.model import DEFAULT_CONTEXT, BodyKey, Chain, Config, Guid, Holder, Row, SchemaId, Subject
from sigla.ports.in_front import CatalogInFront
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.stores.sqlite.catalog import EmbeddedCatalog
from sigla.stores.sqlite.speakers import Speakers
from sigla.stores.sqlite.unit import Writer

MOST_BYTES = 16 * 2**20
LEAST_WEIGHT = 1_500
"""Bytes of a question with a short answer, its place in the table included."""

Answer = TypeVar("Answer")


class Committing(Protocol):
    """A `Writer`, as far as it is asked here."""

    @property
    def state(self) -> int | None: ...


class RecalledCatalog(CatalogInFront):
    """A `ports.Catalog` in front of that of one process: what is asked again and again is asked once for each state."""

    def __init__(self, catalog: EmbeddedCatalog, unit: Writer) -> None:
        super().__init__(catalog)
        self._unit = unit
        self._recalled = Recalled(unit)
        self._speakers = Speakers(unit)

    @property
    def state(self) -> int | None:
        return self._unit.state

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        ask = partial(self._catalog.snapshot, subject, wanted=wanted, guess=guess)
        return self._recalled.answer(("snapshot", subject, *wanted, guess), ask, of_a_snapshot)

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        return self._recalled.answer(("id of", context, guid), partial(self._catalog.id_of, context, guid))

    def standing(self, guid: Guid) -> SchemaId | None:
        return self.id_of(DEFAULT_CONTEXT, guid)

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        """For an id alone the same object as long as nothing changed and the answer is remembered."""
        if by is None:
            return self._speakers.of(key)
        ask = partial(self._catalog.speaker, key, by)
        return self._recalled.answer(("speaker", key, by), ask, lambda _: of_a_name(by, 1))

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        if by is None:
            return self._catalog.holders(key)
        ask = partial(self._catalog.holders, key, by)
        return self._recalled.answer(("holders", key, by), ask, lambda found: of_a_name(by, len(found)))


class _Recalled(NamedTuple):
    state: int
    answer: object
    weight: int


class Recalled:
    """At most `most` bytes, by the estimates of the caller: the first remembered goes first. Any thread may use it."""

    def __init__(self, unit: Committing, *, most: int = MOST_BYTES) -> None:
        self._unit = unit
        self._kept: BoundedMemory[Hashable, _Recalled] = BoundedMemory(most, lambda _, kept: kept.weight)

    def answer(
        self, question: Hashable, ask: Callable[[], Answer], weight: Callable[[Answer], int] = lambda _: LEAST_WEIGHT
    ) -> Answer:
        """What `ask` yields, or yielded to the same question since the last commit."""
        state = self._unit.state
        if state is None:
            return ask()
        kept = self._kept.get(question)
        if kept is not None and kept.state == state:
            return kept.answer  # type: ignore[return-value]  # of the same question
        found = ask()
        self._kept.keep(question, _Recalled(state, found, weight(found)))
        return found


def of_a_name(subject: Subject, holders: int) -> int:
    """About how many bytes it takes that a subject holds something, so many times."""
    return LEAST_WEIGHT + length(subject.name, subject.context, subject.sent) + 500 * holders


def of_a_snapshot(snapshot: Snapshot) -> int:
    """About how many bytes a snapshot takes, with the question that it answers."""
    rows = [*snapshot.rows.values(), *(head.newest for head in snapshot.heads.values() if head.newest)]
    names = sum(300 + length(subject.name, subject.context, subject.sent) for subject in snapshot.heads)
    return LEAST_WEIGHT + names + sum(map(_row_weight, rows)) + _chain_weight(snapshot.chain)


def _row_weight(row: Row) -> int:
    return 500 + sum(200 + length(reference.name, reference.subject) for reference in row.references)


def _chain_weight(chain: Chain) -> int:
    entries = (chain.own, chain.context, chain.default, chain.registry_wide)
    return sum(_config_weight(entry.config) for entry in entries if entry.config)


def _config_weight(config: Config) -> int:
    """Metadata and rules are weighed by their spelling; most configs have none."""
    described = (config.default_metadata, config.override_metadata, config.default_rule_set, config.override_rule_set)
    texts = length(config.alias, config.alias_for_deks, config.group)
    return 500 + texts + sum(4 * len(repr(each)) for each in described if each is not None)


def length(*texts: str | None) -> int:
    """Bytes that texts take at most."""
    return sum(4 * len(text) for text in texts if text)
