"""What a server has of another region."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from starlette.routing import Route
from starlette.types import ASGIApp

from sigla.ports.region_views import RegionViews
from sigla.ports.regions import RegionControl


@dataclass(frozen=True, slots=True)
class RegionOfServer:
    """table: makes what answers. routes: beside the API. lines: of `/metrics`.

    control: for administrators. views: what these see of it. stopping: answers who waits, at the end. begins_anew: the
    URL of the registry that is to be copied into the place of this one, which is not served any more then; empty while
    it is.
    """

    table: Callable[..., ASGIApp]
    routes: Sequence[Route]
    lines: Callable[[], Iterator[str]]
    control: RegionControl
    views: Callable[[], RegionViews]
    stopping: Callable[[], None]
    begins_anew: Callable[[], str]
