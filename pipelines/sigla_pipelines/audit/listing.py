"""The catalog and the bucket as tables, streamed: whoever lists holds a page, however large the registry is."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from sigla.keys import utf16
from sigla.model import GLOBAL, REGISTRY_WIDE, Chain, Config, Search, Settings, Subject
from sigla.ports.catalog import Catalog
from sigla.ports.inventory import Inventory
from sigla.rules.settings import effective_config

VERSIONS: Final = pa.schema(
    [
        pa.field("context", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("id", pa.int64()),
        pa.field("guid", pa.string()),
        pa.field("type", pa.string()),
        pa.field("deleted", pa.bool_()),
        pa.field("ts", pa.int64()),
        pa.field("level", pa.string()),
        pa.field("policy", pa.string()),
        pa.field("property", pa.string()),
    ]
)
"""Every stored version, with what applies to its subject: the level, the policy of comparisons, and the property by
which versions are compared within groups only."""

OBJECTS: Final = pa.schema([pa.field("context", pa.string()), pa.field("id", pa.int64())])
"""Every id with a body."""


def versions(catalog: Catalog, default_level: str) -> Iterator[tuple[Any, ...]]:
    """The rows of VERSIONS, by subject, then number."""
    configs = _Configs(catalog, default_level)
    last, config = None, Config()
    for subject, row in catalog.versions(Search(context=None), deleted=True, latest_only=False):
        if subject != last:
            last, config = subject, configs.of(subject)
        of_subject = (config.level, config.policy, config.group)
        of_row = (row.version, row.id, row.guid, row.type, row.deleted, row.ts)
        yield subject.context, subject.name, *of_row, *of_subject


def objects(inventory: Inventory) -> Iterator[tuple[Any, ...]]:
    return ((key.context, key.id) for key in inventory.bodies())


class _Configs:
    """Configs of subjects asked for in the order of lists, in which settings come too: the two are read side by side.

    Only those of contexts are remembered.
    """

    def __init__(self, catalog: Catalog, default_level: str) -> None:
        self._default_level = default_level
        everything = Search(context=None)
        scopes = ((scope, settings) for scope, settings in catalog.settings(everything) if not scope.name)
        self._contexts: dict[Subject, Settings] = dict(scopes)
        self._own = _subjects(catalog.settings(everything))
        self._next = next(self._own, None)

    def of(self, subject: Subject) -> Config:
        chain = Chain(
            self._own_of(subject),
            self._contexts.get(Subject(subject.context, ""), Settings()),
            self._contexts.get(GLOBAL, Settings()),
            self._contexts.get(REGISTRY_WIDE, Settings()),
        )
        return effective_config(chain, self._default_level)

    def _own_of(self, subject: Subject) -> Settings:
        wanted = utf16(subject.qualified)
        while self._next is not None and utf16(self._next[0].qualified) < wanted:
            self._next = next(self._own, None)
        if self._next is not None and self._next[0] == subject:
            return self._next[1]
        return Settings()


def _subjects(found: Iterable[tuple[Subject, Settings]]) -> Iterator[tuple[Subject, Settings]]:
    return ((scope, settings) for scope, settings in found if scope.name)
