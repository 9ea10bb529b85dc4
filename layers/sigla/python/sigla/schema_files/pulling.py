"""A registry as files: the newest active version of each subject, and what is set for subjects, contexts and the whole.

A file that is there is written over only if nothing is lost by it: what stands in it is a version of the registry, or
it is told (`Pulled.changed`). So no record is kept of what was pulled before.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from sigla.errors import Refusal
from sigla.journal.replay import Put, State
from sigla.model import GLOBAL, LATEST, REGISTRY_WIDE, Draft, OfferedReference, Reference, Settings, Subject
from sigla.ports.progress import unseen
from sigla.registry import Options
from sigla.remote.state import EVERYWHERE
from sigla.rules import names
from sigla.schema_files.declaration import Declaration, NamedVersion
from sigla.schema_files.declaration_writing import Json, WrittenEntry, declaration_text, patch_of, scope_form
from sigla.schema_files.facts import RegistryFacts
from sigla.schema_files.file_names import path_for
from sigla.schema_files.file_sets import DeclaredFile, declared_files
from sigla.schema_files.foreseeing import foresee
from sigla.schema_files.scratch import Scratch, rehearsed
from sigla.schema_files.trees import Tree


class NothingToPull(Exception):
    """Why, in one sentence."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """text: None of a file that goes. standing: what is there now; None without a file."""

    path: str
    subject: Subject
    version: int
    text: str | None
    standing: str | None = None


@dataclass(slots=True)
class Pulled:
    """writes: files that have to become others. same: how many need not. declaration: text of sigla.yaml.

    subjects: that have a file. changed: files whose content is in no version of the registry, and that would be lost.
    left: files whose subjects the registry does not have. remarks: what cannot be a file.
    """

    declaration: str = ""
    subjects: frozenset[Subject] = frozenset()
    writes: list[WrittenFile] = field(default_factory=list)
    same: int = 0
    changed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wanted:
    """only: names of subjects, or beginnings with a star behind; empty for the whole registry."""

    only: Sequence[str] = ()

    @property
    def prefixes(self) -> Sequence[str]:
        return [each.removesuffix("*") for each in self.only] or [EVERYWHERE]

    def includes(self, subject: Subject) -> bool:
        if not self.only:
            return True
        return any(
            names.search(each[:-1]).matches(subject) if each.endswith("*") else names.subject(each) == subject
            for each in self.only
        )

    def everything(self, facts: RegistryFacts) -> frozenset[Subject]:
        """Subjects with an active version, and scopes with settings."""
        found = {each for prefix in self.prefixes for each in chain(facts.subjects(prefix), facts.scopes(prefix))}
        above = set() if self.only else {GLOBAL, REGISTRY_WIDE}
        return frozenset({each for each in found if self.includes(each) and (each.name or not self.only)} | above)


class StandingFiles(NamedTuple):
    """What is there before: the files that a declaration names, in a tree that may have others."""

    tree: Tree
    files: Sequence[DeclaredFile] = ()
    declaration: Declaration = Declaration("")


def pull(
    scratch: Scratch, facts: RegistryFacts, wanted: Wanted, standing: StandingFiles, *, prune: bool = False
) -> Pulled:
    """scratch: over `facts`. prune: whether files go whose subjects are not there.

    Raises NothingToPull, InvalidSubject.
    """
    among = wanted.everything(facts)
    if not among:
        raise NothingToPull(f"{facts.shown} has no subject that is called so: {', '.join(wanted.only)}.")
    scratch.expect(among)
    work = _Pulling(scratch, facts.about(among), standing.tree, standing.files)
    return work.pulled(wanted, standing.declaration, prune=prune)


class _Pulling:
    def __init__(self, scratch: Scratch, state: State, tree: Tree, known: Sequence[DeclaredFile]) -> None:
        self._scratch = scratch
        self._state = state
        self._tree = tree
        self._known = {each.subject: each for each in known}
        self._taken: dict[str, str | None] = {each.path.lower(): None for each in known}
        """Paths in lower case, with the texts that are pulled to them."""
        self._found = Pulled()
        self._newest = dict(self._newest_versions())

    def pulled(self, wanted: Wanted, old: Declaration, *, prune: bool) -> Pulled:
        entries = [self._entry(put) for put in sorted(self._newest.values(), key=lambda put: put.subject.qualified)]
        others = [each for subject, each in self._known.items() if subject not in self._newest]
        for each in others:
            if prune and wanted.includes(each.subject):
                self._prune(each)
                continue
            entries.append(_kept_entry(each))
            if wanted.includes(each.subject):
                self._found.left.append(each.path)
        settings = self._settings(wanted, old)
        self._found.subjects = frozenset(self._newest)
        self._found.declaration = declaration_text(entries, settings, old.owns)
        return self._found

    def _newest_versions(self) -> Iterator[tuple[Subject, Put]]:
        for subject, puts in self._state.subjects.items():
            active = [put for put in puts if not put.deleted]
            config = self._own(subject).config
            if active and config is not None and config.alias:
                self._found.remarks.append(f"{subject} is an alias of {config.alias}: its own versions are not pulled.")
            elif active:
                yield subject, max(active, key=lambda put: put.version)

    # --- a subject ---------------------------------------------------------------------------------------------------

    def _entry(self, put: Put) -> WrittenEntry:
        text = written_text(put)
        path = self._path(put, text)
        self._taken[path.lower()] = text
        self._compare(put, path, text)
        own, known = self._own(put.subject), self._known.get(put.subject)
        return WrittenEntry(
            path,
            put.subject,
            put.schema.type,
            {each.name: self._named(put, each) for each in put.schema.references},
            put.schema.metadata,
            put.schema.rule_set,
            patch_of(own.config),
            own.mode,
            normalize=known is not None and known.file.normalize,
        )

    def _path(self, put: Put, text: str) -> str:
        """Where the subject has its file already, if no other subject with another text has the same one."""
        known = self._known.get(put.subject)
        if known is not None and self._taken.get(known.path.lower()) in (None, text):
            return known.path
        return path_for(put.subject, put.schema.type, self._taken)

    def _compare(self, put: Put, path: str, text: str) -> None:
        standing = read_text(self._tree, path)
        if standing is not None and (standing == text or self._is_version(put, standing)):
            self._found.same += 1
            return
        if standing is not None and not self._is_known(put.subject, standing):
            self._found.changed.append(path)
        self._found.writes.append(WrittenFile(path, put.subject, put.version, text, standing))

    def _is_known(self, subject: Subject, text: str) -> bool:
        """Whether a version of the subject, also a deleted one, has this text."""
        puts = reversed(self._state.subjects.get(subject, ()))
        return any(written_text(put) == text or self._is_version(put, text) for put in puts)

    def _is_version(self, put: Put, text: str) -> bool:
        schema = put.schema
        references = tuple(OfferedReference(each.name, each.subject, each.version) for each in schema.references)
        draft = Draft(text, schema.type, references, schema.metadata, schema.rule_set)
        try:
            return self._scratch.lookup(put.subject, draft, deleted=True).version == put.version
        except Refusal:
            return False

    def _named(self, put: Put, reference: Reference) -> NamedVersion:
        """Without a version where the file of the target is that version: then it goes along with the file."""
        target = self._newest_target(put, reference)
        follows = target is not None and not self._rests_on(target, put)
        return NamedVersion(reference.subject, LATEST if follows else reference.version)

    def _newest_target(self, put: Put, reference: Reference) -> Put | None:
        target = self._newest.get(names.reference_target(reference.subject, put.subject.context))
        return target if target is not None and target.version == reference.version else None

    def _rests_on(self, put: Put, other: Put) -> bool:
        """Whether it references the other, directly or indirectly: imports can make circles, and files cannot."""
        seen, left = {put.subject}, [put]
        while left:
            each = left.pop()
            if each is other:
                return True
            targets = (self._newest_target(each, reference) for reference in each.schema.references)
            new = [target for target in targets if target is not None and target.subject not in seen]
            seen |= {target.subject for target in new}
            left += new
        return False

    def _own(self, scope: Subject) -> Settings:
        return self._state.settings.get(scope) or Settings()

    # --- what is not there -------------------------------------------------------------------------------------------

    def _prune(self, each: DeclaredFile) -> None:
        try:
            self._scratch.lookup(each.subject, each.offered({}).draft, deleted=True)
        except Refusal:
            self._found.changed.append(each.path)
        self._found.writes.append(WrittenFile(each.path, each.subject, 0, None, read_text(self._tree, each.path)))

    def _settings(self, wanted: Wanted, old: Declaration) -> Mapping[Subject, Json]:
        """What is set for scopes without a file. What these files say of scopes that are not pulled stays."""
        kept = {
            each.scope: scope_form(each.config, each.mode)
            for each in old.settings
            if wanted.only and not (each.scope.name and wanted.includes(each.scope))
        }
        found = {
            scope: scope_form(patch_of(own.config), own.mode)
            for scope, own in sorted(self._state.settings.items(), key=lambda each: each[0].qualified)
            if scope not in self._newest and (not wanted.only or wanted.includes(scope))
        }
        return kept | found


def _kept_entry(each: DeclaredFile) -> WrittenEntry:
    """As it is declared."""
    file, said = each.file, each.settings
    return WrittenEntry(
        each.path,
        each.subject,
        file.type,
        {need.name: need.named for need in each.needs},
        file.metadata,
        file.rule_set,
        said.config if said else None,
        said.mode if said else None,
        normalize=file.normalize,
    )


def read_text(tree: Tree, path: str) -> str | None:
    """What stands in a file; None without one. What is not UTF-8 is read as what no schema is."""
    return tree.read(path).decode(errors="replace") if list(tree.paths(path)) else None


def not_as_pulled(
    facts: RegistryFacts, options: Options, declaration: Declaration, tree: Tree, subjects: Collection[Subject]
) -> set[Subject]:
    """Those of the pulled subjects, and of other scopes, that are in no file, or that a plan would change.

    Raises InvalidDeclaration.
    """
    files = declared_files(declaration, tree)
    found = rehearsed(facts, options, unseen, lambda scratched: foresee(scratched, declaration, files))
    declared = {each.subject for each in files}
    changed = {step.scope for step in found.steps}
    refused = {each.file.subject for each in found.files if not each.is_accepted}
    # What only files have is new to the registry.
    return (set(subjects) - declared) | ((changed | refused) - (declared - set(subjects)))


# --- texts -----------------------------------------------------------------------------------------------------------

_JSON_PART: Final = re.compile(r'("(?:[^"\\]|\\.)*")|([{}\[\],:])|\s+', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_INDENT: Final = "  "


def written_text(put: Put) -> str:
    """The text as people read it: JSON with a line for each member. What a registry makes of it is what it had."""
    text = put.schema.text
    if put.schema.type != "PROTOBUF":
        text = indented(_SURROGATE.sub(lambda met: f"\\u{ord(met[0]):04x}", text))
    return text if text.endswith("\n") or not text else f"{text}\n"


def indented(text: str) -> str:
    """JSON with another white space, and not another letter. Brackets with nothing within stay on their line."""
    made: list[str] = []
    depth, last = 0, ""
    for part in _JSON_PART.split(text):
        if not part or part.isspace():
            continue
        if part in "}]":
            depth -= 1
            made.append(part if last in ("{", "[") else f"\n{_INDENT * depth}{part}")
        else:
            made.append(
                f"\n{_INDENT * depth}{part}" if last in ("{", "[", ",") else f" {part}" if last == ":" else part
            )
            depth += part in "{["
        last = part
    return "".join(made)
