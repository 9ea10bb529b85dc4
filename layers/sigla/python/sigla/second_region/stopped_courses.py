"""What stops a course of two regions, as the API tells it."""

from collections.abc import Iterator
from contextlib import contextmanager

from sigla.errors import Refusal, StoreError
from sigla.regions.refusals import NotPromoted, RegionNotDone, RegionRefused, RegionsApart, RoleChanged
from sigla.remote.failures import RemoteMisused
from sigla.remote.region import NotARegistry


@contextmanager
def told_as_api(otherwise: str = "") -> Iterator[None]:
    """Around a course. Raises RegionRefused, RegionNotDone.

    otherwise: what else may be done where the other region is silent.
    """
    try:
        yield
    except (RegionsApart, RoleChanged) as apart:
        raise RegionNotDone(why=as_sentence(apart)) from None
    except (NotPromoted, RemoteMisused) as refused:
        raise RegionRefused(why=as_sentence(refused)) from None
    except NotARegistry as other:
        raise RegionNotDone(why=f"{other}. Run it again with the URL of the other region.") from other
    except StoreError as silent:
        raise RegionNotDone(why=f"{silent}. Run it again: it goes on where it was cut off{otherwise}.") from silent
    except Refusal as refused:
        if isinstance(refused, RegionRefused):
            raise
        raise RegionNotDone(why=refused.message) from None


def as_sentence(problem: Exception) -> str:
    return f"{str(problem).removesuffix('.')}."
