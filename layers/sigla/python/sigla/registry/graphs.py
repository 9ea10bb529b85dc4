"""Whom does a subject reference, and who references it? Directly, and by way of others (GRAPH-1 to GRAPH-5)."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sigla import effort
from sigla.errors import Denied, SubjectNotFound, VersionNotFound
from sigla.model import Row, SchemaId, Subject, Version
from sigla.ports.subjects import VersionKey
from sigla.registry.resources import Resources
from sigla.rules import names

MOST_NODES: Final = 500
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
    """What surrounds one subject. more: whether there is more than what is told."""

    subject: Subject
    nodes: dict[VersionKey, GraphNode] = field(default_factory=dict)
    edges: dict[tuple[VersionKey, VersionKey], GraphEdge] = field(default_factory=dict)
    more: bool = False

    def add(self, node: GraphNode) -> bool:
        """Whether it is new, and there is room for it."""
        if node.key in self.nodes:
            return False
        if len(self.nodes) == MOST_NODES:
            self.more = True
            return False
        effort.pulse(STEPS_OF_A_NODE)
        self.nodes[node.key] = node
        return True

    def connect(self, source: VersionKey, target: VersionKey, name: str) -> None:
        """Adds an edge, if both ends are told."""
        if source in self.nodes and target in self.nodes and (name or (source, target) not in self.edges):
            self.edges[source, target] = GraphEdge(source, target, name)


def graph(resources: Resources, subject: Subject, *, version: Version | None = None) -> Graph:
    """All stored versions of a subject, or one of them, with what they reference and what references them.

    Both go on from there: what is referenced, by what it references; what references, by what references it.
    Raises SubjectNotFound, VersionNotFound.
    """
    view = resources.ask(subject)
    rows = [row for row in resources.catalog.history(view.subject) if version in (None, row.version)]
    if not rows:
        raise VersionNotFound(version=version) if view.head.highest else SubjectNotFound(subject=view.subject)
    found = Graph(view.subject)
    keys = {VersionKey(view.subject, row.version): row for row in rows}
    begun = {key: row for key, row in keys.items() if found.add(_node(key, row))}
    _add_referenced(resources, found, begun)
    _add_referrers(resources, found, begun)
    return found


def _node(key: VersionKey, row: Row | None) -> GraphNode:
    return GraphNode(key, None, None) if row is None else GraphNode(key, row.id, row.deleted)


def _add_referenced(resources: Resources, found: Graph, rows: dict[VersionKey, Row]) -> None:
    while rows:
        edges = [edge for key, row in rows.items() for edge in _edges(key, row)]
        wanted = dict.fromkeys(edge.target for edge in edges if edge.target not in found.nodes)
        stored = _stored(resources, wanted)
        added = [key for key in wanted if found.add(_node(key, stored.get(key)))]
        for edge in edges:
            found.connect(*edge)
        rows = {key: stored[key] for key in added if key in stored}


def _edges(key: VersionKey, row: Row) -> Iterator[GraphEdge]:
    for each in row.references:
        target = names.reference_target(each.subject, key.subject.context)
        yield GraphEdge(key, VersionKey(target, Version(each.version)), each.name)


def _stored(resources: Resources, wanted: Iterable[VersionKey]) -> dict[VersionKey, Row]:
    """Those that the caller may read: a question for each subject, since one that is refused is refused as a whole."""
    of_subjects: dict[Subject, list[Version]] = {}
    for key in wanted:
        of_subjects.setdefault(key.subject, []).append(key.version)
    found: dict[VersionKey, Row] = {}
    for subject, versions in of_subjects.items():
        with suppress(Denied):
            found |= resources.look(subject, versions=versions).snapshot.rows
    return found


def _add_referrers(resources: Resources, found: Graph, rows: Iterable[VersionKey]) -> None:
    """A question for each subject; what the caller may not see is not told of."""
    while keys := set(rows):
        edges: list[GraphEdge] = []
        added: list[VersionKey] = []
        for subject in dict.fromkeys(key.subject for key in sorted(keys, key=_place)):
            for version, each in resources.catalog.referrers(subject):
                target, source = VersionKey(subject, version), VersionKey(each.subject, each.version)
                if target not in keys:
                    continue
                if found.add(GraphNode(source, each.id, each.deleted)):
                    added.append(source)
                edges.append(GraphEdge(source, target, ""))
        for edge in edges:
            found.connect(*edge)
        rows = added


def _place(key: VersionKey) -> tuple[str, int]:
    return key.subject.qualified, key.version
