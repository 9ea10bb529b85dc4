"""From a method and a raw path to a row of the table: a walk down a tree of segments, literals before parameters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from sigla.errors import Refusal
from sigla.model import DEFAULT_CONTEXT
from sigla.web.api.route import Route
from sigla.web.http import paths
from sigla.web.http.refusals import MethodNotAllowed, NoSuchPath

OTHER = "/*"
ELSEWHERE = frozenset({"catalog", "clusters", "connect", "connectors", "exporters", "kafka", "ksql"})
"""What the paths of Confluent's other services, and of what only its commercial registries have, begin with."""

REMEMBERED = 4096
LONGEST_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Found:
    """The route of a request, with the texts its path holds. `prefix`, `context` as in `paths.Path`."""

    route: Route
    params: Mapping[str, str]
    prefix: tuple[str, str] | None = None
    context: str = DEFAULT_CONTEXT


@dataclass(slots=True)
class Node:
    """A place in the tree: the segments that may follow, and the routes that end here.

    is_beside: whether something else than the table answers here, to GET and HEAD.
    """

    literals: dict[str, "Node"] = field(default_factory=dict)
    any: "Node | None" = None
    routes: dict[str, tuple[Route, tuple[str, ...]]] = field(default_factory=dict)
    is_beside: bool = False

    def add(self, route: Route, segments: Sequence[str], names: tuple[str, ...] = ()) -> None:
        if not segments:
            self.routes[route.method] = (route, names)
        elif segments[0].startswith("{"):
            self.any = self.any or Node()
            self.any.add(route, segments[1:], (*names, segments[0][1:-1]))
        else:
            self.literals.setdefault(segments[0], Node()).add(route, segments[1:], names)

    def add_beside(self, segments: Sequence[str]) -> None:
        if segments:
            self.literals.setdefault(segments[0], Node()).add_beside(segments[1:])
        else:
            self.is_beside = True

    def methods(self) -> set[str]:
        return {*self.routes, *(["GET"] if self.is_beside else [])}

    def find(self, segments: Sequence[str]) -> tuple["Node", tuple[str, ...]] | None:
        """Where the segments lead, and those that stood for parameters.

        A literal that leads nowhere is given up for a parameter.
        """
        if not segments:
            return (self, ()) if self.methods() else None
        literal = self.literals.get(segments[0])
        found = literal.find(segments[1:]) if literal else None
        if found or self.any is None:
            return found
        deeper = self.any.find(segments[1:])
        return deeper and (deeper[0], (segments[0], *deeper[1]))


class Dispatch:
    """`find(method, raw_path)`: the route, or raises what `paths.read` raises, NoSuchPath or MethodNotAllowed.

    beside: paths that something else answers to, as long as it is asked by GET or HEAD. remembered: so many paths are.
    """

    def __init__(self, routes: Sequence[Route], beside: Iterable[str] = (), *, remembered: int = REMEMBERED) -> None:
        self._root = Node()
        for route in routes:
            self._root.add(route, [segment for segment in route.path.split("/") if segment])
        for path in beside:
            self._root.add_beside([segment for segment in path.split("/") if segment])
        self._remembered = lru_cache(remembered)(self._find)

    def find(self, method: str, raw: bytes) -> Found:
        """HEAD is found wherever GET is. Long paths are not remembered: what is kept has a bound in bytes, too."""
        return self._remembered(method, raw) if len(raw) <= LONGEST_REMEMBERED else self._find(method, raw)

    def family(self, raw: bytes) -> str:
        """The class of a path that leads nowhere, for the log: its first segment, where that is one that clients know.

        There are few of them, and none says what a stranger wrote.
        """
        try:
            first, *rest = paths.read(raw).segments or ("",)
        except Refusal:
            return OTHER
        if first not in self._root.literals and first not in ELSEWHERE:
            return OTHER
        return f"/{first}/*" if rest else f"/{first}"

    def methods(self, raw: bytes) -> list[str]:
        """The methods that a path answers to, for OPTIONS. Raises NoSuchPath."""
        node, _ = self._node(paths.read(raw).segments)
        methods = node.methods()
        return sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})

    def _find(self, method: str, raw: bytes) -> Found:
        path = paths.read(raw)
        node, values = self._node(path.segments)
        method = "GET" if method == "HEAD" else method
        ended = node.routes.get(method)
        if ended is None:  # another spelling of a path beside the table is a foreign path
            raise NoSuchPath if method in node.methods() else MethodNotAllowed
        route, names = ended
        return Found(route, dict(zip(names, values, strict=True)), path.prefix, path.context)

    def _node(self, segments: Sequence[str]) -> tuple[Node, tuple[str, ...]]:
        found = self._root.find(segments)
        if found is None:
            raise NoSuchPath
        return found
