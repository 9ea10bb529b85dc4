"""How tables are called: in the catalog, in the lake, in manifests and reports.

What `bind` calls a table may have capitals, dots and more; a catalog like Glue takes lower case, digits and `_` only.
So a table is called as plainly as can be, `shop.Orders` is `shop_orders`; and only where another table is called so has
it a digest behind its name. Which name a table got is remembered: it never changes, whoever comes later.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

import orjson

from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.sinks.sink import Sink, digested_name, plain_name
from sigla_pipelines.places import Place

FOLDER: Final = "names/"
"""In a work directory: numbered files. The last one has all names that differ from the requested ones."""

Named = Mapping[str, str]
"""What a table was asked to be called → what it is called."""


class Names:
    """work: where they are remembered. taken: whether the lake, or the catalog, has something of a name.

    reserved: names that no table gets which is to be called otherwise.
    """

    def __init__(
        self, work: Place, manifests: Manifests, taken: Callable[[str], bool], reserved: Collection[str] = ()
    ) -> None:
        self._work = work
        self._manifests = manifests
        self._taken = taken
        self._reserved = {*reserved}
        self._known: dict[str, str] = {}
        self._number = -1

    def of(self, asked: Iterable[str]) -> Named:
        """The names of these tables; who may be called as it was asked for comes first."""
        tables = sorted(dict.fromkeys(asked), key=lambda table: plain_name(table) != table)
        while True:
            self._recall()
            found = self._decided(tables)
            new = {table: name for table, name in found.items() if table != name and table not in self._known}
            if not new or self._remember(new):
                return found

    def name(self, table: str) -> str:
        """What a table is called that was named before; of others what it was asked to be called."""
        self._recall()
        return self._known.get(table, table)

    def _decided(self, tables: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        unknown = any(table not in self._known and plain_name(table) != table for table in tables)
        landed = self._landed() if unknown else set()
        for table in tables:
            others = {*self._known.values(), *found.values()}
            found[table] = self._known.get(table) or self._new(table, others, landed)
        return found

    def _new(self, table: str, others: set[str], landed: set[str]) -> str:
        name, unlike = plain_name(table), digested_name(table)
        if name == table:
            return unlike if name in others else name
        if table in landed:
            return table  # it began when each such table had a digest in its folder's name, and goes on
        return (
            unlike if not name or name in others | self._reserved or self._taken(unlike) or self._taken(name) else name
        )

    def _landed(self) -> set[str]:
        """The tables that manifests know."""
        last = (self._manifests.last(query) for query in self._manifests.queries())
        return {table for manifest in last if manifest for table in manifest.columns}

    def _recall(self) -> None:
        after = _file(self._number) if self._number >= 0 else ""
        for name in self._work.names(FOLDER, after=after):
            text = self._work.read(name)
            if text is not None:
                self._known = orjson.loads(text)
                self._number = int(name.removeprefix(FOLDER).removesuffix(".json"))

    def _remember(self, new: Named) -> bool:
        """False if another driver was faster: then it is to be decided anew."""
        mine = orjson.dumps({**self._known, **new}, option=orjson.OPT_INDENT_2)
        return self._work.put_if_absent(_file(self._number + 1), mine) == mine


def taken_names(sink: Sink, lake: Place) -> Callable[[str], bool]:
    """Whether there is a table of a name, or a folder with anything in it, whoever made it."""
    places = {lake, sink.staging}

    def is_taken(name: str) -> bool:
        there = (each for place in places for each in place.names(f"{name}/"))
        return sink.columns(name) is not None or next(there, None) is not None

    return is_taken


def _file(number: int) -> str:
    return f"{FOLDER}{number:010}.json"
