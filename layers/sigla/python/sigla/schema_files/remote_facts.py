"""What a registry tells over HTTP, in few requests: subject by subject where few are asked for, else in long lists.

Lists come in the order of names, so that a list that begins with what all names have in common is read no further than
the last of them. Settings come in a list as well where Sigla answers; others are asked scope by scope.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from os.path import commonprefix
from typing import Final

from sigla import records
from sigla.associations.nouns import Association
from sigla.errors import InvalidSubject
from sigla.journal import replay
from sigla.journal.replay import State, TopicRecord
from sigla.keys import utf16
from sigla.model import BodyKey, Guid, SchemaId, Subject
from sigla.ports.progress import Progress, unseen
from sigla.remote import associations, state
from sigla.remote.client import Remote
from sigla.remote.failures import RemoteMisused
from sigla.remote.state import PAGE, Json
from sigla.rules import names
from sigla.schema_files.facts import Content, KnownId, scopes_above
from sigla.schema_files.remote_ids import RemoteIds

FEW: Final = 4
"""So many subjects are asked for one by one."""
FEW_VERSIONS: Final = 100
"""So many versions are read at once of one subject: others that begin so come behind its own."""


class RemoteRegistry:
    """A `RegistryFacts`. It is not asked for what no list tells: how far ids were given.

    What is registered with an id of its own is judged by what that id means, as far as the registry still tells.
    Raises RemoteMisused, RemoteRefused.
    """

    def __init__(self, remote: Remote, progress: Progress = unseen) -> None:
        self._remote = remote
        self._progress = progress
        self._ids = RemoteIds(remote)
        self._told: dict[frozenset[Subject], State] = {}
        """What was asked for already."""
        self._read: dict[Subject, list[Json]] = {}
        """What lists told of subjects that were not asked for yet."""
        self._referenced = 0
        self._associations: tuple[Association, ...] | None = None
        """All of them, once they were read."""

    @property
    def shown(self) -> str:
        return self._remote.shown

    @cached_property
    def is_ours(self) -> bool:
        return self._remote.find(state.SETTINGS, limit=1) is not None

    def about(self, subjects: Collection[Subject]) -> State:
        wanted = frozenset(subjects)
        if wanted not in self._told:
            with self._as_told():
                found = [*self._settings(subjects), *self._versions(subjects)]
            told = (record._replace(offset=offset) for offset, record in enumerate(found))
            self._told[wanted] = replay.replayed(told)
        return self._told[wanted]

    @contextmanager
    def _as_told(self) -> Iterator[None]:
        """Raises RemoteMisused for answers that no schema registry gives."""
        try:
            yield
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError, InvalidSubject):
            raise RemoteMisused(f"{self.shown} answers, but not as a schema registry does.") from None

    def by_content(self, context: str, guid: Guid) -> KnownId | None:
        return self._ids.by_content((context, guid))

    def learn(self, believed: Mapping[Content, SchemaId | None]) -> bool:
        """Others than Sigla have no list of contents."""
        with self._as_told():
            return self.is_ours and self._ids.learn(believed)

    def by_id(self, key: BodyKey) -> KnownId | None:
        with self._as_told():
            return self._ids.by_id(key)

    def highest(self, context: str) -> SchemaId:  # noqa: ARG002 - as `RegistryFacts` has it
        return SchemaId(0)

    def subjects(self, prefix: str) -> Iterable[Subject]:
        return map(names.subject, self._remote.get("/subjects", subjectPrefix=prefix) or ())

    def scopes(self, prefix: str) -> Iterable[Subject]:
        with self._as_told():
            listed = self._pages_of_settings(prefix, PAGE) if self.is_ours else None
            if listed is not None:
                return [names.subject(each["subject"]) for each in listed]
            # Others list no settings: those of contexts can be asked for, and of subjects with a version.
            contexts = [Subject(name, "") for name in self._api.contexts or ()]
            return [*filter(names.search(prefix).matches, contexts), *self.subjects(prefix)]

    # --- versions ----------------------------------------------------------------------------------------------------

    def _versions(self, subjects: Collection[Subject]) -> list[TopicRecord]:
        missing = {each.qualified: each for each in subjects if each.name and each not in self._read}
        if len(missing) > FEW:
            missing = self._list(missing)
        for each, answers in self._remote.many(self._of_one, missing.values(), "subjects", self._progress):
            self._read[each] = answers
        answers = [answer for each in subjects for answer in self._read.pop(each, ())]
        answers.sort(key=lambda each: (each.get("ts") or 0, each["version"]))
        return [replay.from_answer(each) for each in answers]

    def _of_one(self, _: Remote, subject: Subject) -> tuple[Subject, list[Json]]:
        found: list[Json] = []
        for page in self._pages(subject.qualified, FEW_VERSIONS):
            own = [each for each in page if each["subject"] == subject.qualified]
            found += own
            if len(own) < len(page):
                break
        return subject, found

    def _list(self, wanted: Mapping[str, Subject]) -> dict[str, Subject]:
        """Reads all that begins with what their names have in common; what is left is not in the list yet.

        A registry of very many others is not read for these: more pages than there are subjects would be.
        """
        last, reached, complete = max(map(utf16, wanted)), b"", True
        for number, page in enumerate(self._pages(_prefix(wanted.values()), PAGE), 1):
            for each in page:
                self._read.setdefault(names.subject(each["subject"]), []).append(each)
            self._progress("schemas", number * PAGE)
            reached = utf16(page[-1]["subject"]) if page else reached
            complete = len(page) < PAGE or reached > last
            if complete or number == len(wanted):
                break
        if complete:
            return {}
        # The last of them may go on in the page that was not read.
        left = {name: each for name, each in wanted.items() if utf16(name) >= reached}
        for subject in left.values():
            self._read.pop(subject, None)
        return left

    def _pages(self, prefix: str, limit: int) -> Iterator[list[Json]]:
        """Pages of a list of versions, soft-deleted ones as well; a registry without such a list is asked otherwise."""
        told = 0
        while True:
            query = {"subjectPrefix": prefix, "deleted": "true", "offset": told, "limit": limit}
            page = self._remote.find("/schemas", **query)
            if page is None:
                yield list(state.schemas_one_by_one(self._remote, self._progress))
                return
            yield [each if "deleted" in each else {**each, "deleted": self._is_hidden(each)} for each in page]
            told += len(page)
            if len(page) != limit:
                return

    def _is_hidden(self, answer: Json) -> bool:
        """Whether a version is soft-deleted, where a registry of old lists these like all others."""
        return (answer["subject"], answer["version"]) not in self._alive

    @cached_property
    def _alive(self) -> Collection[tuple[str, int]]:
        return state.listed_schemas(self._remote, self._api, self._progress, PAGE).keys()

    # --- settings ----------------------------------------------------------------------------------------------------

    def _settings(self, subjects: Collection[Subject]) -> Iterator[TopicRecord]:
        scopes = dict.fromkeys(scope for each in subjects for scope in scopes_above(each))
        listed = self._listed_settings(subjects)
        if listed is None:
            yield from self._settings_one_by_one(scopes)
            return
        for each in listed:
            scope = names.subject(each["subject"])
            if scope in scopes:
                if "config" in each:
                    yield TopicRecord(*records.config_record(scope, each["config"]), 0, 0)
                if "mode" in each:
                    yield TopicRecord(*records.mode_record(scope, each["mode"]), 0, 0)

    def _listed_settings(self, subjects: Collection[Subject]) -> list[Json] | None:
        """None where the registry has no such list."""
        # Contexts come before all subjects.
        few = not any(each.name for each in subjects)
        return self._pages_of_settings(_prefix(subjects), FEW if few else PAGE, first=few)

    def _pages_of_settings(self, prefix: str, limit: int, *, first: bool = False) -> list[Json] | None:
        """first: no page behind the first one."""
        found: list[Json] = []
        while True:
            page = self._remote.find(state.SETTINGS, subjectPrefix=prefix, offset=len(found), limit=limit)
            self.__dict__["is_ours"] = page is not None
            if page is None:
                return None
            found += page
            if first or len(page) < limit:
                return found

    def _settings_one_by_one(self, scopes: Iterable[Subject]) -> Iterator[TopicRecord]:
        asked = [each for each in scopes if self._api.contexts is not None or each.in_default_context]
        for some in self._remote.many(partial(state.settings_of, api=self._api), asked, "settings", self._progress):
            yield from some

    @cached_property
    def _api(self) -> state.Api:
        return state.api_of(self._remote)

    # --- associations ------------------------------------------------------------------------------------------------

    def associations(self, subject: Subject) -> tuple[Association, ...]:
        """Few are asked for one by one; then all are read, once."""
        self._referenced += 1
        if self._associations is None and self._referenced > FEW:
            found = replay.replayed(associations.read(self._remote, self._progress))
            self._associations = found.associations
        if self._associations is None:
            found = replay.replayed(associations.of_subject(self._remote, subject))
            return found.associations
        return tuple(each for each in self._associations if each.subject == subject)


def _prefix(subjects: Collection[Subject]) -> str:
    """What all of these begin with, and what of others does that has to be passed by."""
    contexts = {each.context for each in subjects}
    if len(contexts) > 1:
        return state.EVERYWHERE
    common = commonprefix([each.name for each in subjects])  # noqa: RUF071 - names of subjects have no folders
    return Subject(contexts.pop(), common).qualified
