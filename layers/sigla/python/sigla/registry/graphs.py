"""Whom does a subject reference, and who references it? Directly, and by way of others (GRAPH-1 to GRAPH-5)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sigla import effort
from sigla.errors import SubjectNotFound, VersionNotFound
from sigla.model import Row, SchemaId, Subject, Version
from sigla.ports.subjects import VersionKey
from sigla.registry.resources import Resources
from sigla.rules import names

STEPS_OF_A_NODE: Final = 200


class GraphNode(NamedTuple):
    """A version. id, deleted: None where the caller may not read it, or where it is not stored any more."""

    key: VersionKey
    id: SchemaId | None
    deleted: bool | None


class GraphEdge(NamedTuple):
    """name: by which the schema of `source` calls that of `target`; empty where it is not read."""

    source: VersionKey
    target: VersionKey
    name: str


@dataclass(slots=True)
class Graph:
    """What surrounds one subject, so many versions at most. more: whether there may be others than those told."""

    subject: Subject
    most: int
    nodes: dict[VersionKey, GraphNode] = field(default_factory=dict)
    edges: dict[tuple[VersionKey, VersionKey], GraphEdge] = field(default_factory=dict)
    more: bool = False

    @property
    def room(self) -> int:
        return self.most - len(self.nodes)

    def add(self, node: GraphNode) -> bool:
        """Whether it is new, and there is room for it."""
        if node.key in self.nodes:
            return False
        if not self.room:
            self.more = True
            return False
        effort.pulse(STEPS_OF_A_NODE)
        self.nodes[node.key] = node
        return True

    def connect(self, source: VersionKey, target: VersionKey, name: str) -> None:
        """Adds an edge, if both ends are told."""
        if source in self.nodes and target in self.nodes and (name or (source, target) not in self.edges):
            self.edges[source, target] = GraphEdge(source, target, name)


def graph(resources: Resources, subject: Subject, *, version: Version | None = None, most: int) -> Graph:
    """All stored versions of a subject, or one of them, with what they reference and what references them.

    Both go on from there: what is referenced, by what it references; what references, by what references it. No
    more is read than there is room for. Raises SubjectNotFound, VersionNotFound.
    """
    view = resources.ask(subject, versions=() if version is None else (version,))
    named = [] if version is None else [view.row(version)]
    rows = resources.catalog.history(view.subject) if version is None else [row for row in named if row is not None]
    if not rows:
        raise VersionNotFound(version=version) if view.head.highest else SubjectNotFound(subject=view.subject)
    found = Graph(view.subject, most)
    keys = {VersionKey(view.subject, row.version): row for row in rows}
    begun = {key: row for key, row in keys.items() if found.add(_node(key, row))}
    _add_referenced(resources, found, begun)
    _add_referrers(resources, found, begun)
    return found


def _node(key: VersionKey, row: Row | None) -> GraphNode:
    return GraphNode(key, None, None) if row is None else GraphNode(key, row.id, row.deleted)


def _add_referenced(resources: Resources, found: Graph, rows: Mapping[VersionKey, Row]) -> None:
    while rows:
        edges = [edge for key, row in rows.items() for edge in _edges(key, row)]
        targets = list(dict.fromkeys(edge.target for edge in edges if edge.target not in found.nodes))
        stored = resources.catalog.rows_of(targets[: found.room])
        added = [key for key in targets if found.add(_node(key, stored.get(key)))]
        for edge in edges:
            found.connect(*edge)
        rows = {key: stored[key] for key in added if key in stored}


def _edges(key: VersionKey, row: Row) -> Iterator[GraphEdge]:
    for each in row.references:
        target = names.reference_target(each.subject, key.subject.context)
        yield GraphEdge(key, VersionKey(target, Version(each.version)), each.name)


def _add_referrers(resources: Resources, found: Graph, rows: Iterable[VersionKey]) -> None:
    """What the caller may not see is not told of."""
    while keys := sorted(set(rows), key=_place):
        rows = []
        for target in keys:
            if not found.room:
                found.more = True
                return
            for _, each in resources.catalog.referrers_after(*target, None, glance=found.room + 1):
                source = VersionKey(each.subject, each.version)
                if found.add(GraphNode(source, each.id, each.deleted)):
                    rows.append(source)
                elif found.more:
                    return
                found.connect(source, target, "")


def _place(key: VersionKey) -> tuple[str, int]:
    return key.subject.qualified, key.version
