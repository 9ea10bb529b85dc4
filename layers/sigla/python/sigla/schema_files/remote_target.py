"""A registry behind a URL that is written to, step by step.

Sigla takes the condition with the request (`If-Match`), and holds it. Others know no such thing: there the scope is
read again right before each write, and what is written to it in the moment between is not noticed.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, assert_never
from urllib.parse import quote

from sigla import records
from sigla.model import GLOBAL, Reference, Schema, Subject, Version
from sigla.remote.client import Remote, RemoteAnswer
from sigla.remote.failures import RemoteMisused, RemoteRefused
from sigla.schema_files.applying import ScopeMoved, StepRefused, TargetSilent
from sigla.schema_files.files import SchemaFile
from sigla.schema_files.steps import ConfigStep, DeleteStep, ModeStep, Step, VersionStep

MOVED: Final = 412
BUSY: Final = 429


class Write(NamedTuple):
    method: str
    path: str
    form: Mapping[str, object] | None = None
    query: Mapping[str, str] = {}


class RemoteTarget:
    """A `Target`. conditional: whether the registry knows `If-Match`. tag_of: reads a scope anew."""

    def __init__(self, remote: Remote, tag_of: Callable[[Subject], str], *, conditional: bool) -> None:
        self._remote = remote
        self._tag_of = tag_of
        self._conditional = conditional

    def write(self, step: Step) -> None:
        if not self._conditional and self.tag(step.scope) != step.before:
            raise ScopeMoved
        wanted = write_of(step)
        try:
            answer = self._remote.send(
                wanted.method,
                wanted.path,
                wanted.form,
                if_match=step.before if self._conditional else "",
                **wanted.query,
            )
        except (RemoteRefused, RemoteMisused) as silence:
            raise TargetSilent(str(silence).rstrip(".")) from None
        self._check(answer)

    def _check(self, answer: RemoteAnswer) -> None:
        if answer.status // 100 == 2:
            return
        if answer.status == MOVED:
            raise ScopeMoved
        said = f"{self._remote.shown} answers {answer.code}: {answer.sentence}".rstrip(".")
        if answer.status == BUSY or answer.status >= 500:
            raise TargetSilent(said)
        raise StepRefused(said)

    def tag(self, scope: Subject) -> str:
        try:
            return self._tag_of(scope)
        except (RemoteRefused, RemoteMisused) as silence:
            raise TargetSilent(str(silence).rstrip(".")) from None


def write_of(step: Step) -> Write:
    """The request that a step is."""
    name = quote(step.scope.qualified, safe="")
    place = "" if step.scope == GLOBAL else f"/{name}"
    match step:
        case ConfigStep():
            return Write("PUT", f"/config{place}", step.patch)
        case ModeStep():
            return Write("PUT", f"/mode{place}", {"mode": step.new})
        case VersionStep():
            query = {"normalize": "true"} if step.file.normalize else {}
            return Write("POST", f"/subjects/{name}/versions", _draft_form(step.file), query)
        case DeleteStep():
            return Write("DELETE", f"/subjects/{name}")
        case _:
            assert_never(step)


def _draft_form(file: SchemaFile) -> dict[str, Any]:
    references = tuple(
        Reference(each.name or "", each.subject or "", Version(each.version or 0)) for each in file.references
    )
    return records.schema_json(Schema(file.type, file.text, references, file.metadata, file.rule_set))
