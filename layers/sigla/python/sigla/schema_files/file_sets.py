"""The files that a declaration names: for which subject each is, and what each needs of the others."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from typing import Final, NoReturn
from urllib.parse import urljoin

from sigla.errors import InvalidSubject
from sigla.model import LATEST, OfferedReference, Subject
from sigla.rules import names
from sigla.schema_files.declaration import Declaration, DeclaredSettings, NamedVersion, SchemaEntry
from sigla.schema_files.files import TYPES, SchemaFile, type_of
from sigla.schema_files.trees import Tree
from sigla.schema_files.used_names import UsedNames, names_of
from sigla.schema_files.yaml_parts import InvalidDeclaration

_FIELD: Final = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<field>[^{}]*)\}")
ALWAYS_THERE: Final = ("google/", "confluent/")
"""Files of Protobuf that every registry has."""
_FIELDS: Final = ("stem", "folder", "path", "record")


@dataclass(frozen=True, slots=True)
class Needed:
    """A reference of a file. path: of the file that is registered for it; None where the registry has it."""

    name: str
    named: NamedVersion
    path: str | None = None


@dataclass(frozen=True, slots=True)
class DeclaredFile:
    """path: in the tree. file: without its references, which `needs` are. missing: names that it uses beside these.

    circle: of which files each references the next, and the last one the first; empty if it is in none.
    """

    path: str
    file: SchemaFile
    needs: tuple[Needed, ...] = ()
    settings: DeclaredSettings | None = None
    missing: tuple[str, ...] = ()
    circle: tuple[str, ...] = ()

    @property
    def subject(self) -> Subject:
        return self.file.subject

    def offered(self, versions: Mapping[str, int | None]) -> SchemaFile:
        """The file with its references. versions: those that other files of the set are, by their paths."""
        references = tuple(
            OfferedReference(
                each.name, each.named.subject, (versions.get(each.path) if each.path else None) or each.named.version
            )
            for each in self.needs
        )
        return replace(self.file, references=references)


def declared_files(
    declaration: Declaration, tree: Tree, folder: str = "", *, strict: bool = True
) -> list[DeclaredFile]:
    """All of them, each behind what it needs, if it is in no circle. folder: what their names begin with, for people.

    strict: whether each pattern has to match a file. Raises InvalidDeclaration, trees.UnreadableTree.
    """
    found = [
        each for entry in declaration.entries for each in _files_of(declaration, entry, tree, folder, strict=strict)
    ]
    by_subject: dict[Subject, _FoundFile] = {}
    for each in found:
        other = by_subject.setdefault(each.subject, each)
        if (other.path, other.entry) != (each.path, each.entry):
            _refuse(declaration, each.entry, f"{other.path} is for the subject {each.subject}, and so is {each.path}")
    _check_entries(declaration, found)
    providers = _Providers(list(by_subject.values()))
    return _behind_needs([_with_needs(declaration, each, providers) for each in by_subject.values()])


def selected(files: Sequence[DeclaredFile], subjects: Collection[Subject]) -> list[DeclaredFile]:
    """Those for these subjects, with all that they need, in the same order."""
    wanted, by_path = set(subjects), _by_path(files)
    for each in reversed(files):
        if each.subject in wanted:
            wanted |= {by_path[need.path].subject for need in each.needs if need.path}
    return [each for each in files if each.subject in wanted]


def _by_path(files: Sequence[DeclaredFile]) -> dict[str, DeclaredFile]:
    return {each.path: each for each in reversed(files)}


@dataclass(frozen=True, slots=True)
class _FoundFile:
    """A file with what it says of itself."""

    entry: SchemaEntry
    path: str
    file: SchemaFile
    names: UsedNames

    @property
    def subject(self) -> Subject:
        return self.file.subject


def _refuse(declaration: Declaration, entry: SchemaEntry, why: str) -> NoReturn:
    raise InvalidDeclaration(declaration.name, entry.line, why)


def _files_of(
    declaration: Declaration, entry: SchemaEntry, tree: Tree, folder: str, *, strict: bool
) -> Iterator[_FoundFile]:
    for pattern in entry.files:
        paths = list(tree.paths(pattern))
        if strict and not paths:
            _refuse(declaration, entry, f"no file matches {pattern}")
        for path in paths:
            yield _read(declaration, entry, path, tree.read(path), folder)


def _read(declaration: Declaration, entry: SchemaEntry, path: str, content: bytes, folder: str) -> _FoundFile:
    schema_type = entry.type or type_of(path)
    if schema_type is None:
        known = ", ".join(TYPES)
        _refuse(declaration, entry, f"the language of {path} is unknown: it ends with none of {known}; add `type`")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        _refuse(declaration, entry, f"{path} is not UTF-8, as a schema has to be")
    said = names_of(schema_type, text)
    file = SchemaFile(
        folder + path,
        _subject_of_file(declaration, entry, path, said),
        schema_type,
        text,
        metadata=entry.draft.metadata,
        rule_set=entry.draft.rule_set,
        normalize=entry.normalize,
    )
    return _FoundFile(entry, path, file, said)


def _subject_of_file(declaration: Declaration, entry: SchemaEntry, path: str, said: UsedNames) -> Subject:
    place = PurePosixPath(path)
    known = {
        "stem": place.stem,
        "folder": place.parent.name,
        "path": str(place.with_suffix("")),
        "record": said.record,
    }
    for field in (met["field"] for met in _FIELD.finditer(entry.subject) if not met["brace"]):
        if field not in known:
            shown = ", ".join(f"{{{each}}}" for each in _FIELDS)
            _refuse(declaration, entry, f"unknown field {{{field}}} in `subject`. Valid fields: {shown}")
        if not known[field]:
            _refuse(declaration, entry, f"{path} has no {field}, which `subject` names")
    try:
        return names.subject(
            _FIELD.sub(lambda met: met["brace"][0] if met["brace"] else known[met["field"]], entry.subject)
        )
    except InvalidSubject as refusal:
        _refuse(declaration, entry, refusal.message.rstrip("."))


def _check_entries(declaration: Declaration, found: Sequence[_FoundFile]) -> None:
    """A reference that no file uses is a name that was misspelt."""
    for entry in declaration.entries:
        if entry.is_for_one_file or not entry.references:
            continue
        used = {name for each in found if each.entry is entry for name in each.names.used}
        for name in entry.references:
            if used and name not in used:
                _refuse(declaration, entry, f"no file uses {name}, which `references` has")


class _Providers:
    """Which file of the set a name is of."""

    def __init__(self, found: Sequence[_FoundFile]) -> None:
        self._found = found
        self._own = {name: each for each in reversed(found) for name in each.names.own}
        self._by_subject = {each.subject: each for each in found}

    def of_subject(self, subject: Subject) -> _FoundFile | None:
        return self._by_subject.get(subject)

    def of_name(self, declaration: Declaration, user: _FoundFile, name: str) -> _FoundFile | None:
        """By what a file defines, or by where it is: as a path is written, or from the folder of who uses it.

        A `$ref` of JSON Schema is relative to the `$id` of who uses it (RFC 3986, section 5).
        """
        if name in self._own:
            return self._own[name]
        if user.file.type == "AVRO":
            return None
        near = str(PurePosixPath(user.path).parent / name)
        same = [each for each in self._found if each.file.type == user.file.type and each is not user]
        for path in (name, near):
            if found := next((each for each in same if each.path == path), None):
                return found
        for base in user.names.own if user.file.type == "JSON" else ():
            if found := self._own.get(_joined(base, name)):
                return found
        ending = [each for each in same if each.path.endswith(f"/{name}")]
        if len({each.path for each in ending}) > 1:
            paths = " and ".join(each.path for each in ending[:2])
            _refuse(declaration, user.entry, f"{user.path} uses {name}, which {paths} both are: say it in `references`")
        return ending[0] if ending else None


def _joined(base: str, name: str) -> str:
    """As it is written if either is not a URL: the registry says what is wrong with it."""
    try:
        return urljoin(base, name)
    except ValueError:
        return name


def _with_needs(declaration: Declaration, each: _FoundFile, providers: _Providers) -> DeclaredFile:
    entry = each.entry
    said = entry.references or {}
    if entry.is_for_one_file and entry.references is not None:
        needs = [_explicit(each, name, named, providers) for name, named in said.items()]
    else:
        found = (
            _explicit(each, name, said[name], providers)
            if name in said
            else _in_the_set(declaration, each, name, providers)
            for name in each.names.used
        )
        needs = [need for need in found if need is not None]
    settings = DeclaredSettings(each.subject, entry.config, entry.mode, entry.line)
    by_name = {need.name: need for need in needs}
    missing = tuple(name for name in each.names.used if name not in by_name and not name.startswith(ALWAYS_THERE))
    return DeclaredFile(each.path, each.file, tuple(by_name.values()), settings, missing)


def _in_the_set(declaration: Declaration, each: _FoundFile, name: str, providers: _Providers) -> Needed | None:
    """The file of the set that a name means; None where it is of no file."""
    provider = providers.of_name(declaration, each, name)
    if provider is None or provider is each:
        return None
    called = provider.names.record or name if each.file.type == "AVRO" else name
    return Needed(called, NamedVersion(_shown_from(provider.subject, each.subject)), provider.path)


def _explicit(each: _FoundFile, name: str, named: NamedVersion, providers: _Providers) -> Needed:
    try:
        target = names.reference_target(named.subject, each.subject.context)
    except InvalidSubject:
        return Needed(name, named)  # the registry says what is wrong with it
    provider = providers.of_subject(target) if named.version == LATEST else None
    return Needed(name, named, provider.path if provider and provider is not each else None)


def _shown_from(subject: Subject, user: Subject) -> str:
    """A name without a context means the context of whose reference it is."""
    return subject.name if subject.context == user.context else f":{subject.context}:{subject.name}"


def _behind_needs(files: Sequence[DeclaredFile]) -> list[DeclaredFile]:
    """Each behind what it needs, else as they are declared."""
    by_path: dict[str, list[DeclaredFile]] = {}
    for each in files:
        by_path.setdefault(each.path, []).append(each)
    # Lists and no sets, so that the order is the same each time.
    graph = {path: [need.path for each in some for need in each.needs if need.path] for path, some in by_path.items()}
    circles: dict[str, tuple[str, ...]] = {}
    while True:
        try:
            order = list(TopologicalSorter(graph).static_order())
            break
        except CycleError as cycle:
            circle = tuple(str(path) for path in reversed(cycle.args[1][1:]))
        for path in circle:
            begun = _beginning_with(path, circle)
            circles.setdefault(path, begun)
            graph[path] = [needed for needed in graph[path] if needed != (*begun, path)[1]]
    return [replace(each, circle=circles.get(path, ())) for path in order for each in by_path[path]]


def _beginning_with(path: str, circle: tuple[str, ...]) -> tuple[str, ...]:
    at = circle.index(path)
    return circle[at:] + circle[:at]
