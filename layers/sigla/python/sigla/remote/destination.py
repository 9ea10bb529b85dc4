"""The registry that an exporter writes to, over its ordinary API: Confluent's, another Sigla."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection
from typing import Any, Final, TypeVar
from urllib.parse import quote

from sigla import records
from sigla.contract import IMPORT, READWRITE
from sigla.exporters import rules
from sigla.exporters.destination import DestinationAway, DestinationBusy, DestinationRefused, Standing
from sigla.exporters.nouns import Credentials, Exporter
from sigla.keks import records as key_records
from sigla.keks.nouns import Dek, DekName, Kek
from sigla.model import DEFAULT_CONTEXT, GLOBAL, Config, Schema, SchemaId, Subject, Version
from sigla.ports.clock import Clock
from sigla.ports.itself import no_mark
from sigla.ports.secrets import SecretName, Secrets
from sigla.remote.client import AT_ONCE, Remote, RemoteAnswer
from sigla.remote.connections import RemoteLimits, may_reach_all
from sigla.remote.failures import RemoteMisused, RemoteRefused, RemoteTooLong
from sigla.remote.keys import KEKS
from sigla.remote.recognising import SourceCheck
from sigla.remote.urls import shown_url

USER_INFO: Final = "USER_INFO"
STATIC_TOKEN: Final = "STATIC_TOKEN"  # noqa: S105 - where a token comes from
SEND_AGAIN: Final = "they are in no backup; send its config again"
LIMITS: Final = RemoteLimits(patience_s=10.0, whole_s=30.0, longest=16 * 2**20)
"""What was not answered in time is written again. Eight answers of this length are in memory at most."""
ANSWERS_S: Final = 3.0
"""For so long a client that offers an exporter waits for its destination to say whose it is."""
PAGE: Final = 50
"""Versions of an answer."""
GONE: Final = range(40400, 40500)
"""What is asked for, or is to be deleted, is not there."""
STILL_ACTIVE: Final = frozenset({40405, 40407, 40471})
"""It is there, and is not soft-deleted yet."""
AWAY: Final = frozenset({408, 502, 503, 504, 50001, 50002, 50003, 50301})
"""Nothing is wrong with what was asked; later it may be answered."""
BUSY: Final = 429
KEY_IS_THERE: Final = 40971
REDIRECTED: Final = (
    "{shown} answers with a redirect (status {status}), and none is followed: send the exporter's config with the URL"
    " of the registry itself."
)
ALIASED: Final = "{shown} has an alias for {subject}, in whose way a key cannot be written: remove the alias there."

Json = dict[str, Any]
Found = TypeVar("Found")


def destination(
    exporter: Exporter,
    secrets: Secrets,
    clock: Clock,
    *,
    mark: Callable[[], str] = no_mark,
    may_reach: Callable[[str], bool] = may_reach_all,
    connect: Callable[[], HTTPConnection] | None = None,
) -> "HttpDestination":
    """Where an exporter writes to, with its credentials.

    mark: of the source, as of `Itself`. may_reach: as `RemoteLimits` has it. connect: as `Remote`.
    """
    limits = replace(LIMITS, may_reach=may_reach)

    def enter() -> Remote:
        settings = {**exporter.config, **_credentials(exporter, secrets).settings}
        return _remote(settings, clock, limits, connect)

    return HttpDestination(shown_url(exporter.config[rules.URL]), enter, SourceCheck(clock, mark))


def answers_at(
    settings: Mapping[str, str],
    clock: Clock,
    *,
    mark: Callable[[], str],
    may_reach: Callable[[str], bool] = may_reach_all,
    connect: Callable[[], HTTPConnection] | None = None,
) -> bool:
    """Returns what `Itself` has so. The rest as of `destination`."""
    limits = replace(LIMITS, patience_s=ANSWERS_S, whole_s=ANSWERS_S, connect_s=ANSWERS_S, may_reach=may_reach)
    enter = partial(_remote, settings, clock, limits, connect)
    with closing(HttpDestination(shown_url(settings[rules.URL]), enter, SourceCheck(clock, mark))) as found:
        try:
            return found.is_source()
        except DestinationAway:
            return False


def _remote(
    settings: Mapping[str, str], clock: Clock, limits: RemoteLimits, connect: Callable[[], HTTPConnection] | None
) -> Remote:
    """Raises DestinationAway."""
    user = settings.get(rules.BASIC, "") if settings.get(rules.BASIC_SOURCE, USER_INFO) == USER_INFO else ""
    token = settings.get(rules.BEARER, "") if settings.get(rules.BEARER_SOURCE) == STATIC_TOKEN else ""
    try:
        return Remote(settings[rules.URL], user, clock, token=token, limits=limits, connect=connect)
    except RemoteMisused as wrong:
        raise DestinationAway(str(wrong)) from None


def _credentials(exporter: Exporter, secrets: Secrets) -> Credentials:
    """Raises DestinationAway, StoreError."""
    if not exporter.credentials:
        return Credentials({})
    kept = secrets.get(SecretName(exporter.name, exporter.credentials))
    if kept is None:
        raise DestinationAway(f"The credentials of exporter {exporter.name} are not here: {SEND_AGAIN}.")
    return kept


class HttpDestination:
    """A `Destination`. enter: makes the connection, when it is first wanted; it may raise DestinationAway."""

    def __init__(self, shown: str, enter: Callable[[], Remote], check: SourceCheck) -> None:
        self.shown = shown
        self._enter = enter
        self._check_source = check
        self._entered: Remote | None = None
        self._interrupted = False
        self._readers: ThreadPoolExecutor | None = None
        self._busy: DestinationBusy | None = None
        self._expected_versions: dict[Subject, Future[dict[Version, Standing]]] = {}
        self._expected_config: dict[Subject, Future[Config | None]] = {}

    def interrupt(self) -> None:
        """Ends what another thread waits for; nothing is asked any more."""
        self._interrupted = True
        if self._entered is not None:
            self._entered.interrupt()

    def close(self) -> None:
        self.interrupt()
        if self._readers is not None:
            self._readers.shutdown(wait=False, cancel_futures=True)
        if self._entered is not None:
            self._entered.close()

    def is_source(self) -> bool:
        return self._check_source.is_source(lambda question: self._heard("GET", "/", exporter=question))

    def expect(self, subjects: Sequence[Subject]) -> None:
        self._expected_versions, self._expected_config = {}, {}
        if not subjects:
            return
        self._connected()
        self._busy = None
        if self._readers is None:
            self._readers = ThreadPoolExecutor(AT_ONCE, "sigla-exporter-reader")
        for each in subjects:
            self._expected_versions[each] = self._readers.submit(self._ahead, self._read_versions, each)
            self._expected_config[each] = self._readers.submit(self._ahead, self._read_config, each)

    def _ahead(self, read: Callable[[Subject], Found], subject: Subject) -> Found:
        """What is read; nothing is asked that was to be read ahead of a destination that has become busy since."""
        if self._busy is not None:
            raise DestinationBusy(str(self._busy), self._busy.wait_s)
        try:
            return read(subject)
        except DestinationBusy as busy:
            self._busy = busy
            raise

    # --- subjects ----------------------------------------------------------------------------------------------------

    def versions(self, subject: Subject) -> dict[Version, Standing]:
        expected = self._expected_versions.pop(subject, None)
        return expected.result() if expected else self._read_versions(subject)

    def _read_versions(self, subject: Subject) -> dict[Version, Standing]:
        found: dict[Version, Standing] = {}
        while True:
            # Lists are in the order of names: the name itself stands before all that begin with it.
            query = {"subjectPrefix": subject.qualified, "deleted": "true", "offset": len(found), "limit": PAGE}
            own = self._get("/schemas", partial(_standing_of, subject), **query) or {}
            known = len(found)
            found |= own
            if len(own) < PAGE or len(found) == known:  # whoever knows no pages answers with all at once
                return found

    def version(self, subject: Subject, number: Version) -> Standing | None:
        # Where it is not there, another context may answer; where the subject has an alias, that one.
        path = f"{_versions(subject)}/{number}"
        found = self._get(path, lambda answer: _standing_of(subject, [answer]), deleted="true")
        return None if found is None else found.get(number)

    def register(self, subject: Subject, number: Version, id: SchemaId, schema: Schema) -> None:
        self._expected_versions.pop(subject, None)
        self._write("POST", _versions(subject), {**records.schema_json(schema), "id": id, "version": number})

    def delete(self, subject: Subject, number: Version, *, permanent: bool) -> None:
        self._delete(f"{_versions(subject)}/{number}", permanent=permanent)

    def delete_subject(self, subject: Subject, *, permanent: bool) -> None:
        self._delete(f"/subjects/{_quoted(subject)}", permanent=permanent)

    # --- settings ----------------------------------------------------------------------------------------------------

    def config(self, scope: Subject) -> Config | None:
        expected = self._expected_config.pop(scope, None)
        return expected.result() if expected else self._read_config(scope)

    def _read_config(self, scope: Subject) -> Config | None:
        return self._get(f"/config{_scope(scope)}", records.config)

    def change_config(self, scope: Subject, patch: Mapping[str, object]) -> None:
        self._expected_config.pop(scope, None)
        self._write("PUT", f"/config{_scope(scope)}", patch)

    def drop_config(self, scope: Subject) -> None:
        self._delete(f"/config{_scope(scope)}")

    def mode(self, scope: Subject) -> str:
        return self._get(f"/mode{_scope(scope)}", _mode_said, defaultToGlobal="true") or READWRITE

    def begin_import(self, scope: Subject) -> None:
        self._write("PUT", f"/mode{_scope(scope)}", {"mode": IMPORT}, force="true")

    def is_empty(self, context: str) -> bool:
        prefix = "" if context == DEFAULT_CONTEXT else f":{context}:"
        return not self._get("/subjects", list, subjectPrefix=prefix, deleted="true", limit=1)

    def drop_context(self, context: str) -> None:
        answer = self._asked("DELETE", f"/contexts/{quote(context, safe='')}")
        if answer.status not in (404, 405):  # those of old know no such request
            self._check(answer)

    # --- keys --------------------------------------------------------------------------------------------------------

    def keeps_keys(self) -> bool:
        return self._asked("GET", KEKS, limit=1).status != 404

    def kek(self, name: str) -> Kek | None:
        return self._get(_kek(name), key_records.kek, deleted="true")

    def create_kek(self, kek: Kek) -> None:
        self._write("POST", KEKS, key_records.kek_value(kek))

    def change_kek(self, kek: Kek) -> None:
        form = {"kmsProps": key_records.props_json(kek), "doc": kek.doc, "shared": kek.shared}
        self._write("PUT", _kek(kek.name), form)

    def delete_kek(self, name: str, *, permanent: bool) -> None:
        self._delete(_kek(name), permanent=permanent)

    def undelete_kek(self, name: str) -> None:
        self._write("POST", f"{_kek(name)}/undelete")

    def dek(self, name: DekName, version: int) -> Dek | None:
        path = f"{_deks(name)}/versions"
        algorithm = name.algorithm.value
        # A list tells of a DEK that no key service unwraps; to read that one is an error.
        if version not in (self._get(path, list, algorithm=algorithm, deleted="true") or ()):
            return None
        found = self._get(f"{path}/{version}", key_records.dek, algorithm=algorithm, deleted="true")
        if found is not None and found.name.subject != name.subject:
            raise DestinationRefused(ALIASED.format(shown=self.shown, subject=name.subject))
        return found

    def create_dek(self, dek: Dek) -> None:
        """By the path in whose way no alias stands."""
        answer = self._asked("POST", f"{_kek(dek.kek)}/deks", key_records.dek_value(dek))
        if answer.code != KEY_IS_THERE:
            self._check(answer)

    def rewrap_dek(self, dek: Dek) -> None:
        self._write("POST", _deks(dek.name), key_records.dek_value(dek), rewrap="true")

    def delete_dek(self, name: DekName, version: int, *, permanent: bool) -> None:
        path = f"{_deks(name)}/versions/{version}"
        self._delete(path, permanent=permanent, algorithm=name.algorithm.value)

    def undelete_dek(self, name: DekName, version: int) -> None:
        path = f"{_deks(name)}/versions/{version}/undelete"
        self._write("POST", path, algorithm=name.algorithm.value)

    # --- HTTP --------------------------------------------------------------------------------------------------------

    def _get(self, path: str, read: Callable[[Any], Found], **query: object) -> Found | None:
        """What is read in the answer; None where there is no such thing."""
        answer = self._asked("GET", path, None, **query)
        if answer.code in GONE:
            return None
        self._check(answer)
        try:
            return read(json.loads(answer.body))
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
            raise DestinationAway(f"{self.shown} answers, but not as a schema registry does.") from None

    def _write(self, method: str, path: str, form: Mapping[str, object] | None = None, **query: object) -> None:
        self._check(self._asked(method, path, form, **query))

    def _delete(self, path: str, *, permanent: bool = False, **query: object) -> None:
        """What is gone already is as it should be."""
        if permanent:
            query["permanent"] = "true"
        answer = self._asked("DELETE", path, None, **query)
        if answer.code not in GONE or answer.code in STILL_ACTIVE:
            self._check(answer)

    def _asked(self, method: str, path: str, form: Mapping[str, object] | None = None, **query: Any) -> RemoteAnswer:
        """What it answers to those whom it lets in."""
        answer = self._heard(method, path, form, **query)
        if answer.status // 100 == 3:
            raise DestinationAway(REDIRECTED.format(shown=self.shown, status=answer.status))
        if answer.status in (401, 403) and answer.code != 40370:
            raise DestinationAway(f"{self.shown} does not accept the exporter's credentials: {_said(answer)}.")
        if answer.status == BUSY or (answer.wait_s and answer.status in AWAY):
            raise DestinationBusy(f"{self.shown} answers {_said(answer)}.", answer.wait_s)
        if answer.code in AWAY or answer.status in AWAY:
            raise DestinationAway(f"{self.shown} answers {_said(answer)}.")
        return answer

    def _heard(self, method: str, path: str, form: Mapping[str, object] | None = None, **query: Any) -> RemoteAnswer:
        """Whatever it answers."""
        try:
            return self._connected().send(method, path, form, **query)
        except RemoteTooLong as long:
            raise DestinationRefused(str(long).rstrip(".")) from None
        except (RemoteRefused, RemoteMisused) as silence:
            raise DestinationAway(str(silence)) from None

    def _connected(self) -> Remote:
        if self._entered is None:
            self._entered = self._enter()
            if self._interrupted:
                self._entered.interrupt()
        return self._entered

    def _check(self, answer: RemoteAnswer) -> None:
        if answer.status // 100 == 2:
            return
        if answer.status == 404 and answer.code == 404:
            raise DestinationAway(f"{self.shown} has no such path: is it the URL of a schema registry?")
        raise DestinationRefused(f"{self.shown} answers {_said(answer)}")


def _said(answer: RemoteAnswer) -> str:
    return f"{answer.code}: {answer.sentence}".rstrip(".")


def _standing_of(subject: Subject, answers: Iterable[Json]) -> dict[Version, Standing]:
    """Those that are of this very subject."""
    own = (each for each in answers if each["subject"] == subject.qualified)
    return {Version(_number(each["version"])): _standing(each) for each in own}


def _standing(form: Json) -> Standing:
    return Standing(SchemaId(_number(form["id"])), form.get("deleted", False) is True, str(form["schema"]))


def _number(said: Any) -> int:
    """Raises TypeError."""
    if type(said) is not int:
        raise TypeError
    return said


def _mode_said(form: Json) -> str:
    return str(form["mode"])


def _quoted(subject: Subject) -> str:
    return quote(subject.qualified, safe="")


def _versions(subject: Subject) -> str:
    return f"/subjects/{_quoted(subject)}/versions"


def _scope(scope: Subject) -> str:
    return "" if scope == GLOBAL else f"/{_quoted(scope)}"


def _kek(name: str) -> str:
    return f"{KEKS}/{quote(name, safe='')}"


def _deks(name: DekName) -> str:
    return f"{_kek(name.kek)}/deks/{_quoted(name.subject)}"
