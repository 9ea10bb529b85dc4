"""What registering all files of a set would come to, with the settings that are declared beside them.

Each is done in the scratch registry, in the order in which it would be done in the other one: what opens a scope to
writes comes first, what closes one comes last, and a file comes behind those that it references.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from sigla.contract import DEFAULT_LEVEL, READONLY, READWRITE
from sigla.errors import InvalidSchema, Refusal
from sigla.model import Config, Subject
from sigla.registry.conditions import state_tag
from sigla.registry.settings import ALWAYS_ANSWERED
from sigla.rules.positions import Position
from sigla.rules.problems import Problem
from sigla.rules.settings import with_level
from sigla.schema_files.check import Checked, FileVerdict, check_file
from sigla.schema_files.declaration import Declaration, DeclaredSettings, config_fields
from sigla.schema_files.file_sets import DeclaredFile
from sigla.schema_files.files import SchemaFile
from sigla.schema_files.missing_names import position_of_name, with_missing_names
from sigla.schema_files.scratch import Scratch
from sigla.schema_files.steps import ConfigStep, DeleteStep, ModeStep, Step, VersionStep

CLOSING: Final = frozenset({READONLY})
"""Modes in which a scope takes no more writes."""


@dataclass(slots=True)
class Foreseen:
    """files: what becomes of each, and a line for each setting that is refused. steps: what has to be done."""

    files: list[Checked] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def is_accepted(self) -> bool:
        return all(each.is_accepted for each in self.files)


def foresee(
    scratch: Scratch, declaration: Declaration, files: Sequence[DeclaredFile], *, pruned: Collection[Subject] = ()
) -> Foreseen:
    """files: of the declaration, each behind what it needs. pruned: subjects that are to be deleted."""
    scratch.expect(_subjects_named(declaration, files) | set(pruned))
    work = _Foreseeing(scratch, declaration.name)
    for settings in declaration.settings:
        work.open(settings)
    for settings in declaration.settings:
        work.config(settings)
    for each in files:
        work.subject(each)
    work.delete(pruned)
    for settings in declaration.settings:
        work.close(settings)
    return work.found


def _subjects_named(declaration: Declaration, files: Sequence[DeclaredFile]) -> set[Subject]:
    named = {each.scope for each in declaration.settings if each.scope.name}
    return named | {each.subject for each in files}


class _Foreseeing:
    def __init__(self, scratch: Scratch, name: str) -> None:
        self.found = Foreseen()
        self._scratch = scratch
        self._name = name
        self._checked: dict[str, Checked] = {}

    def subject(self, each: DeclaredFile) -> None:
        settings = each.settings
        if settings is not None:
            self.open(settings)
            self.config(settings)
        self._file(each)
        if settings is not None:
            self.close(settings)

    def _file(self, each: DeclaredFile) -> None:
        needed = [] if each.circle else [self._checked[need.path] for need in each.needs if need.path]
        refused = tuple(dict.fromkeys(other.file.name for other in needed if not other.is_accepted))
        if each.circle:
            checked = Checked(each.file, FileVerdict.REFUSED, problems=(_circle_problem(each),))
        elif refused:
            checked = Checked(each.file, FileVerdict.NOT_CHECKED, rests_on=refused)
        else:
            file = each.offered({path: other.version for path, other in self._checked.items()})
            highest, before = self._scratch.look(file.subject).head.highest, self._tag(file.subject)
            checked = with_missing_names(check_file(self._scratch, file), each.missing, self._name)
            if checked.verdict is FileVerdict.NEW and checked.version is not None:
                after = self._tag(file.subject)
                self.found.steps.append(VersionStep(file.subject, before, after, file, checked.version, highest))
        # A file for several subjects is referenced by the first of them.
        self._checked.setdefault(each.path, checked)
        self.found.files.append(checked)

    def delete(self, subjects: Collection[Subject]) -> None:
        """Those that reference others go before these. Referrers that are not brought in are not known."""
        left, refusals = sorted(subjects, key=str), dict[Subject, Refusal]()
        while left:
            for subject in left:
                before, newest = self._tag(subject), self._scratch.look(subject).head.newest
                try:
                    self._scratch.delete_subject(subject)
                except Refusal as refusal:
                    refusals[subject] = refusal
                else:
                    refusals.pop(subject, None)
                    self.found.steps.append(
                        DeleteStep(subject, before, self._tag(subject), newest.version if newest else 0)
                    )
            if len(refusals) == len(left):
                break
            left = list(refusals)
        for subject, why in refusals.items():
            self._refused(subject, 1, why)

    def open(self, settings: DeclaredSettings) -> None:
        if settings.mode is not None and settings.mode not in CLOSING:
            self._mode(settings, settings.mode)

    def close(self, settings: DeclaredSettings) -> None:
        if settings.mode is not None and settings.mode in CLOSING:
            self._mode(settings, settings.mode)

    def _mode(self, settings: DeclaredSettings, mode: str) -> None:
        scope = settings.scope
        own, before = self._scratch.look(scope).chain.own.mode, self._tag(scope)
        if (own or (READWRITE if scope in ALWAYS_ANSWERED else None)) == mode:
            return
        try:
            self._scratch.change_mode(scope, mode)
        except Refusal as refusal:
            self._refused(scope, settings.line, refusal)
        else:
            self.found.steps.append(ModeStep(scope, before, self._tag(scope), own, mode))

    def config(self, settings: DeclaredSettings) -> None:
        if not settings.config:
            return
        scope = settings.scope
        old, before = self._config(scope), self._tag(scope)
        try:
            self._scratch.change_config(scope, config_fields(settings.config))
        except Refusal as refusal:
            self._refused(scope, settings.line, refusal)
            return
        new = self._config(scope) or Config()
        if (old or Config()) != new:
            self.found.steps.append(ConfigStep(scope, before, self._tag(scope), old, new, settings.config))

    def _config(self, scope: Subject) -> Config | None:
        """What the API tells of a scope: some tell the default where nothing is set."""
        own = self._scratch.look(scope).chain.own.config
        return with_level(own or Config(), DEFAULT_LEVEL) if scope in ALWAYS_ANSWERED else own

    def _tag(self, scope: Subject) -> str:
        view = self._scratch.look(scope)
        return state_tag(view.head, view.chain.own)

    def _refused(self, scope: Subject, line: int, refusal: Refusal) -> None:
        sentence = refusal.message
        problem = Problem(str(refusal.code), sentence, sentence, refusal.code, Position(line, 1))
        file = SchemaFile(self._name, scope, "", "")
        self.found.files.append(Checked(file, FileVerdict.REFUSED, problems=(problem,)))


def _circle_problem(each: DeclaredFile) -> Problem:
    """A registry takes no file before those that it references."""
    following = [*each.circle[1:], each.circle[0]]
    shown = f"{each.circle[0]} references {', which references '.join(following)}"
    sentence = f"{shown}: of such a circle a registry takes none"
    name = next(need.name for need in each.needs if need.path == following[0])
    position = position_of_name(each.file.text, name)
    return Problem(str(InvalidSchema.code), sentence, sentence, InvalidSchema.code, position)
