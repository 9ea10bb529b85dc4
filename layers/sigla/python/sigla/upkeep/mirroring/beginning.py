"""Whose registry it is: a mirror bears the mode IMPORT for the whole registry, and clients may not write to it."""

from sigla.contract import IMPORT
from sigla.model import REGISTRY_WIDE
from sigla.ports.catalog import Catalog
from sigla.registry.resources import Resources
from sigla.upkeep.mirroring.concerns import WHOLE
from sigla.upkeep.mirroring.settings import set_mode


class NotAMirror(Exception):
    """It holds schemas, and was not begun as a mirror: a mirror would remove what the source lacks."""


def is_mirror(catalog: Catalog) -> bool:
    return catalog.snapshot(REGISTRY_WIDE).chain.own.mode == IMPORT


def begin(resources: Resources) -> bool:
    """Makes a mirror of a registry that holds nothing; whether it is one already. Raises NotAMirror, StoreError."""
    if is_mirror(resources.catalog):
        return True
    if next(resources.catalog.subjects(WHOLE), None) is not None or next(resources.catalog.keks(), None) is not None:
        raise NotAMirror
    set_mode(resources, REGISTRY_WIDE, IMPORT)
    return False
