"""The turns of a mirror, each of which makes the registry equal to one state of the source."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain

from sigla.journal.replay import Put, State, last_words
from sigla.model import REGISTRY_WIDE, Guid, Settings, Subject
from sigla.ports.progress import Progress, unseen
from sigla.registry.resources import Resources
from sigla.upkeep.importing import Group, Report, import_state
from sigla.upkeep.importing.states import target_of_state
from sigla.upkeep.mirroring import associations, keys, settings
from sigla.upkeep.mirroring.concerns import WHOLE, Concerns, by_topic, differing, everything, narrowed
from sigla.upkeep.mirroring.tally import Tally, TooMuchGone
from sigla.upkeep.mirroring.versions import Differences, compared, hide, remove, write_over

FEW = 10
"""So many subjects may go in one turn without a question."""

Planned = dict[Subject, Differences]


@dataclass(slots=True)
class Mirror:
    """group, threads: as of `importing.import_state`. may_remove: also most of what stands here."""

    resources: Resources
    group: Group = nullcontext
    threads: int = 1
    may_remove: bool = False
    progress: Progress = unseen
    _before: State | None = field(default=None, init=False)
    _epoch: int = field(default=0, init=False)

    def is_of_before(self) -> bool:
        """Whether another region took writes since the last turn: what that has brought may not be here any more."""
        return self._epoch_here() != self._epoch

    def turn(self, state: State) -> Tally:
        """Makes everything as it is in the source. Raises TooMuchGone, StoreError; repeated, it goes on."""
        epoch = self._epoch_here()
        before = self._before if epoch == self._epoch else None
        concerns = everything(self.resources.catalog, state) if before is None else differing(before, state)
        planned = self._plan(concerns, state)
        self._check_removals(planned)
        tally = Tally()
        self._drop_associations(concerns, state, tally)
        self._change_keys(concerns, state, tally)
        part = narrowed(before, state, concerns)
        free = {subject: found.free for subject, found in planned.items() if found.free}
        self._bring(replace(part, subjects=free, associations=()), state, tally)
        self._change_versions(planned, state, tally)
        again = {subject: found.again for subject, found in planned.items() if found.again}
        self._bring(State(subjects=again, associations=part.associations), state, tally)
        self._settle_ids(concerns, state)
        self._change_settings(concerns, state, tally)
        self._drop_keys(concerns, state, tally)
        self._before, self._epoch = state, epoch
        return tally

    def _epoch_here(self) -> int:
        return self.resources.catalog.snapshot(REGISTRY_WIDE).epoch

    def _plan(self, concerns: Concerns, state: State) -> Planned:
        planned = {}
        subjects = sorted(concerns.subjects, key=str)
        for number, subject in enumerate(subjects, 1):
            rows = self.resources.catalog.history(subject)
            planned[subject] = compared(rows, state.subjects.get(subject, ()), state, subject.context)
            self.progress("comparing", number, len(subjects))
        return planned

    def _check_removals(self, planned: Planned) -> None:
        """Raises TooMuchGone before anything is written."""
        gone = sum(1 for found in planned.values() if found.gone and not (found.free or found.again or found.changed))
        if self.may_remove or gone <= FEW:
            return
        stored = sum(1 for _ in self.resources.catalog.subjects(WHOLE))
        if 2 * gone > stored:
            raise TooMuchGone(gone, stored)

    def _bring(self, part: State, state: State, tally: Tally) -> None:
        report = import_state(
            self.resources, part, group=self.group, threads=self.threads, progress=self.progress, whole=state
        )
        tally.report.add(report)

    def _drop_associations(self, concerns: Concerns, state: State, tally: Tally) -> None:
        wanted = by_topic(state)
        for topic in sorted(concerns.topics):
            tally.removed["association"] += associations.keep(self.resources, topic, wanted.get(topic, ()))

    def _change_versions(self, planned: Planned, state: State, tally: Tally) -> None:
        target_of = target_of_state(self.resources, state)
        changed = chain.from_iterable(found.changed for found in planned.values())
        # As the source has written them: what is referenced before what refers.
        for put in sorted(changed, key=lambda put: put.offset):
            with self.group():
                tally.changed["version"] += write_over(self.resources, put, target_of, tally.report)
        for subject, found in planned.items():
            if found.hidden is not None:
                tally.changed["version"] += hide(self.resources, subject, found.hidden)
            if found.gone:
                # A directory has no one to put the tombstones later: they are there with the commit, or both are not.
                with self.group():
                    remove(self.resources, subject, found.gone)
                tally.removed["version"] += len(found.gone)

    def _settle_ids(self, concerns: Concerns, state: State) -> None:
        """A content with several ids is known by the one that was written last (JRN-5): there, and so here."""
        puts = {(put.subject, put.version): put for put in chain.from_iterable(state.subjects.values())}
        about = {_content(put) for (subject, _), put in puts.items() if subject in concerns.subjects}
        about -= set(map(_content, state.displaced.values()))
        target_of = target_of_state(self.resources, state)
        for put in map(puts.__getitem__, last_words(puts.values())):
            known = self.resources.catalog.id_of(*_content(put)) if _content(put) in about else put.id
            if known != put.id:
                with self.group():
                    write_over(self.resources, put, target_of, Report(), once_more=True)

    def _change_settings(self, concerns: Concerns, state: State, tally: Tally) -> None:
        """After the versions: with the last one of a subject its config goes."""
        for scope in sorted(concerns.scopes, key=str):
            wanted = state.settings.get(scope, Settings()).config
            tally.changed["config"] += settings.set_config(self.resources, scope, wanted)
        for context in sorted(concerns.contexts - set(state.contexts)):
            tally.removed["context"] += settings.drop_context(self.resources, context)

    def _change_keys(self, concerns: Concerns, state: State, tally: Tally) -> None:
        """Those that stand here; what is new is brought."""
        for name in sorted(concerns.keks & state.keks.keys()):
            tally.changed["kek"] += keys.set_kek(self.resources, name, state.keks[name])
        for place in sorted(concerns.deks & state.deks.keys(), key=str):
            tally.changed["dek"] += keys.set_dek(self.resources, *place, state.deks[place])

    def _drop_keys(self, concerns: Concerns, state: State, tally: Tally) -> None:
        """A KEK goes after all that stands under it."""
        for place in sorted(concerns.deks - state.deks.keys(), key=str):
            tally.removed["dek"] += keys.set_dek(self.resources, *place, None)
        for name in sorted(concerns.keks - state.keks.keys()):
            tally.removed["kek"] += keys.set_kek(self.resources, name, None)


def _content(put: Put) -> tuple[str, Guid]:
    return put.subject.context, put.guid
