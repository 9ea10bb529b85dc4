"""Makes a subject of the destination equal to the source's: its versions, what they reference first, its settings.

What is there and is the same is left as it is. The rest, in this order:

    replaced    where the destination has another id under a number, that version goes first: an id whose version was
                only written over would still be answered there
    written     what is missing, by numbers; before each what it references. One that is soft-deleted at the source is
                written like all others: a later one with its id would otherwise take it away (REG-14)
    deleted     what is soft-deleted at the source
    purged      what the source has not, or has no more
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from sigla import records
from sigla.contract import CONFIG, CONFIG_UPDATE, DEFAULT_LEVEL
from sigla.exporters.destination import Destination, DestinationRefused, Standing
from sigla.exporters.running.course import Course
from sigla.exporters.running.gate import Gate
from sigla.exporters.running.matters import SETTINGS, MatterPart
from sigla.model import BodyKey, Config, Row, Settings, Subject, Target, Version
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.store import Store
from sigla.ports.subjects import VersionKey

FEW: Final = 8
"""So many versions are looked at one by one; where there are more, the subject is read as a whole."""
MOST_KNOWN: Final = 10_000
"""Referenced versions that are known to be at the destination."""


@dataclass(frozen=True, slots=True)
class _VersionsPlan:
    """What is to be done with versions of one subject."""

    replaced: Sequence[Version]
    written: Sequence[Row]
    deleted: Sequence[Version]
    purged: Mapping[Version, Standing]
    whole: bool
    """Whether the source has no version of it at all."""

    def __bool__(self) -> bool:
        return bool(self.replaced or self.written or self.deleted or self.purged)


class Subjects:
    """What one turn knows of subjects."""

    def __init__(self, store: Store, course: Course, destination: Destination, gate: Gate) -> None:
        self._catalog: Catalog = store.catalog
        self._bodies: Bodies = store.bodies
        self._course = course
        self._destination = destination
        self._gate = gate
        self._known: set[Target] = set()

    def make_equal(self, subject: Subject, part: MatterPart) -> None:
        """Raises DestinationAway, DestinationRefused, BodyLost."""
        there = self._course.scope(subject)
        if there is None:
            return
        first = min(part.versions or (), default=None)
        below = [VersionKey(subject, Version(first - 1))] if first and first > 1 else []
        seen = self._catalog.snapshot(subject, wanted=below)
        begins = first is not None and not seen.rows and self._begins_with(subject, first)
        if begins:
            part |= SETTINGS
        wanted = seen.chain.own
        aliased = bool(wanted.config and wanted.config.alias)
        shown = self._destination.config(there) if part.settings or aliased else None
        if part.versions != frozenset():
            in_the_way = aliased or bool(shown and shown.alias)
            numbers = None if in_the_way or _is_much(part.versions) else part.versions
            shown = self._make_versions_equal(subject, there, numbers, shown, begins=begins)
        if part.settings or aliased:
            self._make_settings_equal(subject, there, wanted, shown)

    def _begins_with(self, subject: Subject, first: int) -> bool:
        """Whether no version of the subject is stored below this one. An import may begin with any.

        Then the destination may have another one of its name, which was deleted at the source for good while no row of
        the journal told it: the whole of it is looked at, with its settings.
        """
        return first == 1 or all(row.version >= first for row in self._catalog.history(subject))

    # --- versions ----------------------------------------------------------------------------------------------------

    def _make_versions_equal(
        self,
        subject: Subject,
        there: Subject,
        numbers: frozenset[int] | None,
        shown: Config | None,
        *,
        begins: bool,
    ) -> Config | None:
        """numbers: None for all. begins: as of `_begins_with`. The config of the destination as it is afterwards."""
        standing = self._standing(there, None if begins else numbers)
        if begins and standing:
            numbers = None
        rows = self._rows(subject, numbers)
        plan = self._plan(subject, rows, standing, whole=numbers is None and not rows)
        if not plan:
            return shown
        self._gate.pass_through(there)
        if shown and shown.alias:  # what is written to the subject would go where the alias leads
            self._destination.change_config(there, {"alias": None})
            shown = replace(shown, alias=None)
        for number in plan.replaced:
            with suppress(DestinationRefused):  # it is referenced: then it is written over
                self._purge(there, number, active=True)
        for row in plan.written:
            self._register(subject, row)
        self._delete(there, plan)
        return shown

    def _rows(self, subject: Subject, numbers: frozenset[int] | None) -> Mapping[Version, Row]:
        if numbers is None:
            return {row.version: row for row in self._catalog.history(subject)}
        wanted = [VersionKey(subject, Version(number)) for number in sorted(numbers)]
        return {row.version: row for row in self._catalog.snapshot(subject, wanted=wanted).rows.values()}

    def _standing(self, there: Subject, numbers: frozenset[int] | None) -> Mapping[Version, Standing]:
        if numbers is None:
            return self._destination.versions(there)
        found = {Version(number): self._destination.version(there, Version(number)) for number in sorted(numbers)}
        return {number: standing for number, standing in found.items() if standing is not None}

    def _plan(
        self, subject: Subject, rows: Mapping[Version, Row], standing: Mapping[Version, Standing], *, whole: bool
    ) -> _VersionsPlan:
        replaced, written = [], []
        for number, row in rows.items():
            found = standing.get(number)
            if found is not None and found.id != row.id and self._is_gone(subject, found):
                replaced.append(number)
            if found is None or not self._is_same(subject, row, found):
                written.append(row)
        again = {row.version for row in written}
        deleted = [
            number for number, row in rows.items() if row.deleted and (number in again or not standing[number].deleted)
        ]
        purged = {number: found for number, found in standing.items() if number not in rows}
        return _VersionsPlan(replaced, written, deleted, purged, whole)

    def _is_same(self, subject: Subject, row: Row, found: Standing) -> bool:
        if found.id != row.id or (found.deleted and not row.deleted):
            return False
        return found.text == self._bodies.get(BodyKey(subject.context, row.id)).schema.text

    def _is_gone(self, subject: Subject, found: Standing) -> bool:
        """Whether the source has no such id any more, or has it elsewhere: not one that was only written over."""
        return self._catalog.displaced(BodyKey(subject.context, found.id)) is None

    def _purge(self, there: Subject, number: Version, *, active: bool) -> None:
        if active:
            self._destination.delete(there, number, permanent=False)
        self._destination.delete(there, number, permanent=True)

    def _delete(self, there: Subject, plan: _VersionsPlan) -> None:
        """From the highest number down: a version may reference an earlier one."""
        if plan.whole:
            if not all(each.deleted for each in plan.purged.values()):
                self._destination.delete_subject(there, permanent=False)
            self._destination.delete_subject(there, permanent=True)
            return
        for number in sorted(plan.deleted, reverse=True):
            self._destination.delete(there, number, permanent=False)
        for number in sorted(plan.purged, reverse=True):
            self._purge(there, number, active=not plan.purged[number].deleted)

    # --- what versions reference -------------------------------------------------------------------------------------

    def _register(self, subject: Subject, row: Row) -> None:
        """What it references, and what that references, goes first, whether or not the exporter takes it."""
        key = BodyKey(subject.context, row.id)
        self._bring(self._bodies.get(key).targets)
        self._write(subject, row.version, key)

    def _write(self, subject: Subject, number: Version, key: BodyKey) -> None:
        schema = self._course.schema(self._bodies.get(key), subject.context)
        self._destination.register(self._course.subject(subject), number, key.id, schema)

    def _bring(self, targets: Iterable[Target]) -> None:
        """Depth first, without recursion: a chain of references may be long."""
        waiting = [*targets]
        opened: set[Target] = set()
        while waiting:
            target = waiting[-1]
            row = None if target in self._known else self._missing_row(target)
            if row is not None and target not in opened:
                opened.add(target)
                waiting += self._bodies.get(BodyKey(target.context, target.id)).targets
                continue
            if row is not None:
                self._write_target(target, row)
                self._know(target)
            waiting.pop()

    def _missing_row(self, target: Target) -> Row | None:
        """What the source has, and the destination has not. What the source lost is asked of neither."""
        source = Subject(target.context, target.subject)
        if not self._course.is_reachable_there(source):
            return None
        found = self._destination.version(self._course.subject(source), target.version)
        if found is not None and found.id == target.id:
            self._know(target)
            return None
        row = self._rows(source, frozenset([target.version])).get(target.version)
        return row if row is not None and row.id == target.id else None

    def _write_target(self, target: Target, row: Row) -> None:
        source = Subject(target.context, target.subject)
        config = self._catalog.snapshot(source).chain.own.config
        if config and config.alias:  # the destination may have it as well, behind the alias
            self.make_equal(source, MatterPart(frozenset([target.version]), settings=False))
            return
        there = self._course.subject(source)
        self._gate.pass_through(there)
        self._write(source, target.version, BodyKey(target.context, target.id))
        if row.deleted:  # later what references it would be in the way
            self._destination.delete(there, target.version, permanent=False)

    def _know(self, target: Target) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known.add(target)

    # --- settings ----------------------------------------------------------------------------------------------------

    def _make_settings_equal(self, subject: Subject, there: Subject, wanted: Settings, shown: Config | None) -> None:
        """Only the config: the mode of the destination is not that of the source."""
        if wanted.config is None:
            if shown is None or (not there.name and shown == Config(level=DEFAULT_LEVEL)):
                return
            self._gate.pass_through(there)
            self._destination.drop_config(there)
            return
        patch = config_patch(self._course.config(wanted.config, subject), shown)
        if patch or shown is None:
            self._gate.pass_through(there)
            self._destination.change_config(there, patch)


def config_patch(wanted: Config, shown: Config | None) -> dict[str, Any]:
    """The fields of an update that make an entry as it is wanted. An entry without a level shows the server's."""
    standing = shown or Config()
    if wanted.level is None and standing.level == DEFAULT_LEVEL:
        standing = replace(standing, level=None)
    changed = [each.name for each in fields(Config) if getattr(wanted, each.name) != getattr(standing, each.name)]
    form = records.config_json(wanted)
    pairs = zip(CONFIG_UPDATE, CONFIG, strict=True)
    return {update.wire: form.get(answer.wire) for update, answer in pairs if update.name in changed}


def _is_much(numbers: frozenset[int] | None) -> bool:
    return numbers is None or len(numbers) > FEW
