"""Makes the keys of field encryption at the destination equal to the source's, where it keeps any."""

from collections.abc import Callable
from typing import Final

from sigla.exporters.destination import Destination
from sigla.exporters.running.course import Course
from sigla.keks.nouns import Dek, DekName, Kek
from sigla.model import GLOBAL
from sigla.ports.catalog import Catalog

NOT_SAME_KEY: Final = ("kms_type", "kms_key_id")
"""What no update changes."""
UPDATED: Final = ("kms_props", "doc", "shared")


class Keys:
    """What one turn knows of keys. Material is wrapped wherever it goes: no key service is asked."""

    def __init__(self, catalog: Catalog, course: Course, destination: Destination) -> None:
        self._catalog = catalog
        self._course = course
        self._destination = destination
        self._kept: bool | None = None

    @property
    def are_kept(self) -> bool:
        """Whether the destination has a key registry; asked once."""
        if self._kept is None:
            self._kept = self._destination.keeps_keys()
        return self._kept

    # --- KEKs --------------------------------------------------------------------------------------------------------

    def make_kek_equal(self, name: str) -> None:
        """A KEK is taken with all subjects of the default context, or with a subject that has a key under it.

        Raises DestinationAway, DestinationRefused.
        """
        wanted = self._catalog.kek(name)
        # One that is gone had subjects that are not known any more, and another exporter may have brought it.
        if not (self._takes(name) if wanted else self._course.takes(GLOBAL)) or not self.are_kept:
            return
        there = self._course.kek_name(name)
        standing = self._destination.kek(there)
        if wanted is not None:
            self._put_kek(self._course.kek(wanted), standing)
        elif standing is not None:
            self._remove_kek(standing)

    def _takes(self, name: str) -> bool:
        if self._course.takes(GLOBAL):
            return True
        return any(self._course.takes(each.name.subject) for each in self._catalog.deks(name))

    def _put_kek(self, wanted: Kek, standing: Kek | None) -> None:
        if standing is not None and _differ(wanted, standing, NOT_SAME_KEY):
            self._remove_kek(standing)
            standing = None
        if standing is None:
            self._destination.create_kek(wanted)
            return
        changed = _differ(wanted, standing, UPDATED)
        if standing.deleted and (changed or not wanted.deleted):
            self._destination.undelete_kek(wanted.name)
        if changed:
            self._destination.change_kek(wanted)
        if wanted.deleted and (changed or not standing.deleted):
            self._destination.delete_kek(wanted.name, permanent=False)

    def _remove_kek(self, standing: Kek) -> None:
        if not standing.deleted:
            self._destination.delete_kek(standing.name, permanent=False)
        self._destination.delete_kek(standing.name, permanent=True)

    # --- DEKs --------------------------------------------------------------------------------------------------------

    def make_dek_equal(self, name: DekName, version: int) -> None:
        """Its KEK goes first. Raises DestinationAway, DestinationRefused."""
        if not self._course.takes(name.subject) or not self.are_kept:
            return
        found = self._catalog.deks_of(name, version)
        there = self._course.dek_name(name)
        standing = self._destination.dek(there, version)
        if found.deks:
            self._put_dek(name.kek, self._course.dek(found.deks[0]), standing)
        elif standing is not None:
            self._remove_dek(there, standing)

    def _put_dek(self, kek: str, wanted: Dek, standing: Dek | None) -> None:
        if standing is None:
            if self._destination.kek(self._course.kek_name(kek)) is None:
                self.make_kek_equal(kek)
            self._destination.create_dek(wanted)
        elif wanted.material != standing.material:
            self._replace(kek, wanted, standing)
        elif wanted.deleted and not standing.deleted:
            self._destination.delete_dek(wanted.name, wanted.version, permanent=False)
        elif standing.deleted and not wanted.deleted:
            self._destination.undelete_dek(wanted.name, wanted.version)

    def _replace(self, kek: str, wanted: Dek, standing: Dek) -> None:
        """Under a shared KEK no material is taken for a version that is there (KEY-14)."""
        found = self._catalog.kek(kek)
        if found is not None and found.shared:
            self._remove_dek(standing.name, standing)
            self._destination.create_dek(wanted)
        else:
            self._destination.rewrap_dek(wanted)

    def _remove_dek(self, there: DekName, standing: Dek) -> None:
        if not standing.deleted:
            self._destination.delete_dek(there, standing.version, permanent=False)
        self._destination.delete_dek(there, standing.version, permanent=True)


def _differ(one: Kek, other: Kek, members: tuple[str, ...]) -> bool:
    read: Callable[[Kek, str], object] = getattr
    return any(read(one, name) != read(other, name) for name in members)
