"""Two regions of a registry, as whoever serves it tells and changes them."""

from sigla.ports.regions import RegionControl
from sigla.regions.refusals import NoRegionHere
from sigla.registry.resources import Resources


def regions(resources: Resources) -> RegionControl:
    """Raises NoRegionHere."""
    if resources.control is None:
        raise NoRegionHere
    return resources.control
