"""The sites of the model over real stores.

Their roles, counters and commits are the product's, and so is the way to an id (`regions.giving`). The link, the
buckets and what was given stay the model's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sigla.changes import ContextListed
from sigla.errors import Closed, Conflict, Refusal, StoreError
from sigla.model import SchemaId
from sigla.ports.catalog import Catalog
from sigla.ports.regions import Peer, Region
from sigla.regions import giving, nouns, promotion
from sigla.regions.nouns import KnownBy, RegionKind
from sigla.regions.refusals import NotPromoted
from tests.build import NOW, a_nonce
from tests.unit.regions.model import Call, Course, Design, Next, Refused, Role, Site, Table, Unreachable

CONTEXT = "."


@dataclass(frozen=True)
class Stored:
    """One region as it is stored. catalog: that of another instance, which has to find out about roles by itself.

    put_back: puts what a backup brings in the place of what is there.
    """

    region: Region
    catalog: Catalog
    put_back: Callable[[nouns.Role, nouns.Counter | None], None]


class StoredSite(Site):
    def __init__(self, name: str, kind: str, given: dict[int, set[str]], stored: Stored) -> None:
        self.stored = stored
        self._held: dict[int, str] = {}
        assert stored.region.set_role(None, _role(Role(1, kind), reconciled=True))
        super().__init__(name, self.table, given, Design())

    @property
    def table(self) -> Table:
        role, counter = self.stored.region.look(CONTEXT)
        assert role is not None
        shown = Role(role.epoch, role.kind.value, role.open, int(role.token or 0))
        return Table(shown, Next(*counter) if counter else None, dict(self._held), role.reconciled)

    @table.setter
    def table(self, table: Table) -> None:
        """Only what is held: the rest is stored."""
        self._held = table.held

    def read(self) -> Table:
        return self.table

    def restored(self, table: Table) -> None:
        self._held = dict(table.held)
        role = _role(Role(table.role.epoch, RegionKind.JOINING.value), reconciled=table.reconciled)
        self.stored.put_back(role, _counter(table.counter))

    def set_role(self, seen: Role, role: Role, *, reconciled: bool | None = None, **_: Any) -> bool:
        standing, table = self.stored.region.role(), self.table
        if table.role != seen:
            return False
        wanted = _role(role, reconciled=table.reconciled if reconciled is None else reconciled)
        return self.stored.region.set_role(standing, wanted)

    def commit(self, epoch: int, id: int, content: str) -> bool:
        """A real one, which stands for that of the id."""
        try:
            self.stored.catalog.commit(ContextListed(".c", NOW, a_nonce(), epoch=epoch))
        except (Closed, Conflict):
            return False
        self._held[id] = content
        self.given.setdefault(id, set()).add(content)
        return True

    def adopt(self, held: Mapping[int, str]) -> None:
        for id, content in held.items():
            self._held.setdefault(id, content)

    def forget_rows(self) -> None:
        self._held = {}

    def copy_ceiling(self, epoch: int, seen: Next | None, ceiling: int) -> bool:
        return self.stored.region.copy_ceiling(CONTEXT, epoch, _counter(seen), SchemaId(ceiling))

    # --- the way to an id --------------------------------------------------------------------------------------------

    def give(self, there: Site, epoch: int) -> Course[int]:  # noqa: ARG002 - the product reads it by itself
        return self._through(there, lambda peer: giving.drawn(self.stored.region, peer, CONTEXT))

    def allow(self, there: Site, epoch: int, wanted: int, content: str) -> Course[None]:  # noqa: ARG002 - as above
        def is_held() -> bool:
            return self._held.get(wanted) == content

        def course(peer: Peer) -> giving.Course[None]:
            return giving.admitted(self.stored.region, peer, CONTEXT, SchemaId(wanted), is_held)

        return self._through(there, course)

    # --- who gives them ----------------------------------------------------------------------------------------------

    def promote(self, old: Site, token: int) -> Course[Any]:
        def course(there: Region) -> giving.Course[Any]:
            drain = HeldDrain(old, self)
            return promotion.planned(self.stored.region, there, drain, rehearse=tuple, token=str(token), now=NOW)

        return self._through(old, course)

    def take_back(self, old: Site) -> Course[Any]:
        return self._through(old, partial(promotion.undone, self.stored.region))

    def promote_by_force(self) -> Course[Any]:
        return self._through(self, lambda here: promotion.forced(here, now=NOW))

    def _through(self, there: Site, begin: Callable[[Region], giving.Course[Any]]) -> Course[Any]:
        """A course of the product, each of its requests as one that the model knows."""
        assert isinstance(there, StoredSite)
        course = begin(there.stored.region)
        go: Callable[[], Any] = partial(next, course)
        try:
            while True:
                request = go()
                asked = getattr(getattr(request, "func", request), "__self__", None)
                try:
                    answer = yield Call(there if asked is there.stored.region else self, "carry_out", (request,))
                    go = partial(course.send, answer)
                except Unreachable:
                    go = partial(course.throw, StoreError("no answer"))
        except StopIteration as returned:
            return returned.value
        except (StoreError, Refusal, NotPromoted) as refused:
            raise Refused from refused

    def carry_out(self, request: Callable[[], Any]) -> Any:
        return request()


@dataclass(frozen=True)
class HeldDrain:
    """What the model's tables hold and its buckets have comes over."""

    old: Site
    new: Site

    def look(self) -> int:
        table, bodies = self.old.all()
        missing = table.held.keys() - self.new.table.held.keys()
        for id, content in bodies.items():
            self.new.put(id, content)
        self.new.adopt(table.held)
        return len(missing)

    def differences(self) -> tuple[str, ...]:
        return ()


def _role(role: Role, *, reconciled: bool) -> nouns.Role:
    token = str(role.token) if role.token else ""
    kind = RegionKind(role.kind)
    return nouns.Role(role.epoch, kind, peer=KnownBy("another"), open=role.open, token=token, reconciled=reconciled)


def _counter(counter: Next | None) -> nouns.Counter | None:
    return None if counter is None else nouns.Counter(*counter)  # type: ignore[arg-type]  # numbers are ids here
