"""What a verdict will ask for, asked as soon as it is known what: so that it waits for few trips to a store in AWS.

A verdict asks for its subject, then for versions that may be the same, for the newest one's content, for the content of
references, and where a level says so for all versions: one after the other, as a registration does, of which most end
early. A person who types waits for each. So all that rests on the first answer alone is begun with that, and is at
hand, or under way, where a later step needs it.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sigla.model import Body, BodyKey, Guid, Holder, Row, Subject
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import BodiesInFront, CatalogInFront
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.registry.resources import Resources, View
from sigla.registry.steps.drafts import Expect
from sigla.registry.steps.parsed import Offered
from sigla.rules.compatibility import LEVELS, Against
from sigla.rules.settings import effective_config

AT_ONCE = 32
"""Beyond it a level that looks at all versions waits once more for each so many of them."""


@contextmanager
def reading_ahead(resources: Resources, *, sees_all: bool) -> Iterator[tuple[Resources, Expect]]:
    """The same stores for one verdict. Nothing is read ahead where a question costs no trip."""
    if not resources.pays_for_reads:
        yield resources, lambda _view, _offered: None
        return
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="ahead") as executor:
        bodies = _BodiesAhead(resources.bodies, executor)
        level = resources.options.default_level
        catalog = _CatalogAhead(resources.catalog, bodies, executor, level, sees_all=sees_all)
        yield replace(resources, catalog=catalog, bodies=bodies), catalog.expect


class _BodiesAhead(BodiesInFront):
    def __init__(self, bodies: Bodies, executor: ThreadPoolExecutor) -> None:
        super().__init__(bodies)
        self._executor = executor
        self._begun: dict[BodyKey, Future[Body]] = {}

    def begin(self, keys: Sequence[BodyKey]) -> None:
        for key in keys:
            if key not in self._begun:
                self._begun[key] = self._executor.submit(self._bodies.get, key)

    def get(self, key: BodyKey) -> Body:
        asked = self._begun.get(key)
        return asked.result() if asked is not None else self._bodies.get(key)

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        self.begin(keys)
        return [self.get(key) for key in keys]

    def put(self, key: BodyKey, body: Body) -> None:
        self._begun.pop(key, None)
        self._bodies.put(key, body)

    def revive(self, key: BodyKey, body: Body) -> None:
        self._begun.pop(key, None)
        self._bodies.revive(key, body)

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
        self._begun.pop(key, None)
        self._bodies.mend(key, body, seen)


class _CatalogAhead(CatalogInFront):
    """level: where nothing is set. sees_all: whether the caller sees every subject, and needs no speaker for an id.

    Answers are kept as long as the verdict takes, by what was asked.
    """

    def __init__(
        self, catalog: Catalog, bodies: _BodiesAhead, executor: ThreadPoolExecutor, level: str, *, sees_all: bool
    ) -> None:
        super().__init__(catalog)
        self._bodies = bodies
        self._executor = executor
        self._level = level
        self._sees_all = sees_all
        self._begun: dict[tuple[object, ...], Future[Any]] = {}

    def _begin(self, ask: str, *asked: object) -> Future[Any]:
        if (ask, *asked) not in self._begun:
            self._begun[ask, *asked] = self._executor.submit(getattr(self._catalog, ask), *asked)
        return self._begun[ask, *asked]

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        found = self._catalog.snapshot(subject, wanted=wanted, guess=guess)
        newest, known = found.head.newest, found.known
        self._bodies.begin([BodyKey(key.subject.context, row.id) for key, row in found.rows.items()])
        if newest is not None and newest.id != known:
            self._bodies.begin([BodyKey(subject.context, newest.id)])
            level = effective_config(found.chain, self._level).level or self._level
            if LEVELS[level].against is Against.ALL and newest.version > 1:
                self._begin("history", subject)
        if known is not None and (newest is None or newest.id != known):
            key = BodyKey(subject.context, known)
            self._bodies.begin([key])
            if found.head.highest:
                self._begin("holders", key, subject)
                self._begin("displaced", key)
            if not self._sees_all:
                self._begin("speaker", key, None)
        return found

    def expect(self, view: View, offered: Offered) -> None:
        """The text is understood: unless it is the newest version, any may be equivalent to it."""
        newest = view.head.newest
        if view.head.highest and not (newest and newest.id == view.ids.get(offered.guid)):
            self._begin("candidates", view.subject, (offered.language.digest(offered.parsed),))

    def candidates(self, subject: Subject, digests: Sequence[str]) -> tuple[Row, ...]:
        found: tuple[Row, ...] = self._begin("candidates", subject, tuple(digests)).result()
        return found

    def history(self, subject: Subject) -> tuple[Row, ...]:
        """With the content of all that is active begun: a history is asked for to be compared."""
        found: tuple[Row, ...] = self._begin("history", subject).result()
        self._bodies.begin([BodyKey(subject.context, row.id) for row in found if not row.deleted])
        return found

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        found: tuple[Holder, ...] = self._begin("holders", key, by).result()
        return found

    def displaced(self, key: BodyKey) -> Holder | None:
        found: Holder | None = self._begin("displaced", key).result()
        return found

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        found: Holder | None = self._begin("speaker", key, by).result()
        return found
