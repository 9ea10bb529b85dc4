"""Whom does a subject reference, and who references it? Directly, and by way of others (GRAPH-1 to GRAPH-6).

A graph grows in steps. Each begins at ends: versions of which is not told yet what they reference, or what references
them. What it finds has ends of its own. Where each read costs money, a person asks for some steps more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from sigla import effort
from sigla.errors import SubjectNotFound, VersionNotFound
from sigla.model import Reference, Referrer, Row, SchemaId, Subject, Version
from sigla.ports.glances import ReferrerPlace
from sigla.ports.subjects import VersionKey
from sigla.registry.resources import Resources
from sigla.registry.side_by_side import both, side_by_side
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


class Referenced(NamedTuple):
    """An end: what a version references, but for the first ones, which are told."""

    key: VersionKey
    told: int = 0


class Referring(NamedTuple):
    """An end: what references a version, behind a place among these."""

    key: VersionKey
    place: ReferrerPlace | None = None


End = Referenced | Referring


@dataclass(slots=True)
class Graph:
    """What surrounds one subject, or a part of that. ends: where it goes on."""

    subject: Subject
    nodes: dict[VersionKey, GraphNode] = field(default_factory=dict)
    edges: dict[tuple[VersionKey, VersionKey], GraphEdge] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)

    def add(self, node: GraphNode, *ends: End) -> None:
        """ends: of a node that was not told before."""
        if node.key not in self.nodes:
            effort.pulse(STEPS_OF_A_NODE)
            self.nodes[node.key] = node
            self.ends += ends

    def connect(self, source: VersionKey, target: VersionKey, name: str = "") -> None:
        if name or (source, target) not in self.edges:
            self.edges[source, target] = GraphEdge(source, target, name)


def graph(
    resources: Resources, subject: Subject, *, version: Version | None = None, most: int, is_step: bool = False
) -> Graph:
    """All stored versions of a subject, or one of them, with what they reference and what references them.

    Both go on from there: what is referenced, by what it references; what references, by what references it. is_step:
    what is next to the versions alone; of one version in two trips. Raises SubjectNotFound, VersionNotFound.
    """
    most_above = most // 2

    def begun() -> Graph:
        view = resources.ask(subject, versions=() if version is None else (version,))
        named = resources.catalog.history(view.subject) if version is None else [view.row(version)]
        rows = {VersionKey(view.subject, row.version): row for row in named if row is not None}
        if not rows:
            if version is not None and view.head.highest:
                raise VersionNotFound(version=version)
            raise SubjectNotFound(subject=view.subject)
        ends = [Referenced(key) for key in rows]
        found = Graph(view.subject, ends=[*map(Referring, rows), *ends[most:]])
        _add_referenced(resources, found, ends[:most], max(0, most - most_above - len(rows)), rows)
        return found

    if version is None:
        found = begun()
    else:
        own = Referring(VersionKey(subject, version))
        found, referrers = both(resources, begun, lambda: _referrers(resources, own, most_above))
        if own in found.ends:  # and no alias has led elsewhere
            found.ends.remove(own)
            _add_referring(found, own, referrers, most_above)
    while found.ends and len(found.nodes) < most and not is_step:
        ends, found.ends = found.ends, []
        _grow(resources, found, ends, most - len(found.nodes))
    return found


def graph_beyond(resources: Resources, subject: Subject, ends: Sequence[End], most: int) -> Graph:
    """What is next to these ends, in two trips: so many other versions at most."""
    found = Graph(subject)
    _grow(resources, found, ends, most)
    return found


def _grow(resources: Resources, found: Graph, ends: Sequence[End], most: int) -> None:
    """Adds so many versions at most beside those that the ends are of; half of them for each way, if there are two."""
    below = [each for each in ends if isinstance(each, Referenced)]
    above = [each for each in ends if isinstance(each, Referring)]
    most_above = most // 2 if below else most
    above, waiting = above[:most_above], above[most_above:]
    found.ends += waiting
    most_each = most_above // len(above) if above else 0
    _, pages = both(
        resources,
        lambda: _add_referenced(
            resources,
            found,
            below,
            most - most_each * len(above),
            resources.catalog.rows_of([each.key for each in below]),
        ),
        lambda: side_by_side(resources, [partial(_referrers, resources, end, most_each) for end in above]),
    )
    for end, page in zip(above, pages, strict=True):
        _add_referring(found, end, page, most_each)


def _add_referenced(
    resources: Resources, found: Graph, ends: Sequence[Referenced], most: int, rows: Mapping[VersionKey, Row]
) -> None:
    """rows: of the versions that the ends are of."""
    edges: list[GraphEdge] = []
    targets: dict[VersionKey, None] = {}
    for key, told in ends:
        if key not in rows:
            continue
        found.add(_node(key, rows[key]))
        for at, edge in enumerate(_edges(key, rows[key])[told:], told):
            if edge.target not in found.nodes and edge.target not in targets:
                if len(targets) == most:
                    found.ends.append(Referenced(key, at))
                    break
                targets[edge.target] = None
            edges.append(edge)
    stored = resources.catalog.rows_of([*targets])
    for key in targets:
        row = stored.get(key)
        found.add(_node(key, row), *([Referenced(key)] if row is not None and row.references else ()))
    for edge in edges:
        found.connect(*edge)


def _referrers(resources: Resources, end: Referring, most: int) -> list[tuple[Version, Referrer]]:
    """What the caller may not see is not told of."""
    return list(islice(resources.catalog.referrers_after(*end.key, end.place, glance=most), most)) if most else []


def _add_referring(found: Graph, end: Referring, referrers: Sequence[tuple[Version, Referrer]], most: int) -> None:
    """most: so many were asked for; where there are as many, there may be others."""
    if referrers:
        found.add(GraphNode(end.key, None, None))
    for _, each in referrers:
        source = VersionKey(each.subject, each.version)
        found.add(GraphNode(source, each.id, each.deleted), Referring(source))
        found.connect(source, end.key)
    if len(referrers) == most:
        found.ends.append(Referring(end.key, ReferrerPlace.of(referrers[-1])) if referrers else end)


def _node(key: VersionKey, row: Row | None) -> GraphNode:
    return GraphNode(key, None, None) if row is None else GraphNode(key, row.id, row.deleted)


def _edges(key: VersionKey, row: Row) -> list[GraphEdge]:
    def target(of: Reference) -> VersionKey:
        return VersionKey(names.reference_target(of.subject, key.subject.context), Version(of.version))

    return [GraphEdge(key, target(each), each.name) for each in row.references]
