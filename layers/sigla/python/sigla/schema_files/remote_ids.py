"""What a registry tells over HTTP of ids and contents: what an id means when asked, which contents it knows in lists.

Which id a content has is a question for each content. So nothing is asked at first, and what is then believed is asked
about afterwards, together (`facts.RegistryFacts.learn`).
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from sigla.contract import MOST_CONTENTS
from sigla.journal import replay
from sigla.journal.replay import Put
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, SchemaId, Subject
from sigla.remote.client import Remote
from sigla.remote.state import PAGE, Json
from sigla.rules import names
from sigla.schema_files.facts import Content, KnownId

CONTENTS: Final = "/schemas/guids"


class RemoteIds:
    """Raises RemoteMisused, RemoteRefused."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._contents: dict[Content, KnownId | None] = {}

    def by_content(self, content: Content) -> KnownId | None:
        return self._contents.get(content)

    def by_id(self, key: BodyKey) -> KnownId | None:
        """With what it means, in case that no version of its holder has it any more."""
        told = self._listed(key) if self._is_renamed(key.context) else self._told(key)
        if told is None:
            return None
        put = _put(told, key)
        return KnownId(key.id, put.subject, body=Body(put.schema, put.guid, (), put.subject, put.version, put.ts, ""))

    def _told(self, key: BodyKey) -> Json | None:
        answer, users = self._of_id(key, ""), self._of_id(key, "/versions", deleted="true")
        return {**answer, **users[0]} if answer and users else None

    def _is_renamed(self, context: str) -> bool:
        """A context with an alias is asked for its ids in vain: the answer is of where the alias leads (ID-RES)."""
        if context == DEFAULT_CONTEXT:
            return False
        scope = quote(Subject(context, "").qualified, safe="")
        return bool((self._remote.get(f"/config/{scope}") or {}).get("alias"))

    def _listed(self, key: BodyKey) -> Json | None:
        """By the list of all versions of its context."""
        told = 0
        while True:
            prefix = Subject(key.context, "").qualified
            answer = self._remote.get("/schemas", subjectPrefix=prefix, deleted="true", offset=told, limit=PAGE)
            page: list[Json] = answer or []
            if found := next((each for each in page if each["id"] == key.id), None):
                return found
            told += len(page)
            if len(page) != PAGE:
                return None

    def learn(self, believed: Mapping[Content, SchemaId | None]) -> bool:
        missing = [content for content in believed if content not in self._contents]
        for context in {context for context, _ in missing}:
            guids = [guid for named, guid in missing if named == context]
            for at in range(0, len(guids), MOST_CONTENTS):
                some = guids[at : at + MOST_CONTENTS]
                told = self._remote.find(CONTENTS, guids=",".join(some), **_scope(context)) or ()
                self._contents |= {(context, guid): None for guid in some}
                self._contents |= {(context, each["guid"]): self._known(context, each) for each in told}
        return any(believed[each] != _id_of(self._contents[each]) for each in missing)

    def _known(self, context: str, told: Mapping[str, Any]) -> KnownId:
        key, subject = BodyKey(context, SchemaId(told["id"])), names.subject(told["subject"])
        if not told.get("displaced"):
            return KnownId(key.id, subject)
        deleted = told.get("deleted", False)
        return KnownId(
            key.id, subject, displaced=_put({**(self._of_id(key, "") or {}), **told, "deleted": deleted}, key)
        )

    def _of_id(self, key: BodyKey, what: str, **query: str) -> Any:
        return self._remote.get(f"/schemas/ids/{key.id}{what}", **query, **_scope(key.context))


def _scope(context: str) -> dict[str, str]:
    return {} if context == DEFAULT_CONTEXT else {"subject": Subject(context, "").qualified}


def _id_of(known: KnownId | None) -> SchemaId | None:
    return None if known is None else known.id


def _put(answer: Mapping[str, Any], key: BodyKey) -> Put:
    """A version as a record of it would tell it. Raises LookupError where the registry has not told it whole."""
    state = replay.replayed([replay.from_answer({**answer, "id": key.id})])
    ((put,),) = state.subjects.values()
    return put
