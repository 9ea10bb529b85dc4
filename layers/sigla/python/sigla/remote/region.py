"""Another region of the registry, served by `sigla serve`, over HTTP: its role, and what an administrator asks."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPException
from typing import Any, Final

from sigla.errors import StoreError, StoreFailed
from sigla.ports.clock import Clock
from sigla.ports.regions import RegionReport
from sigla.ports.replaying import Shipment
from sigla.regions import wire
from sigla.regions.nouns import Role
from sigla.regions.replay import JournalPlace
from sigla.remote.addresses import RegionAddress, basic_authorization
from sigla.remote.connections import RemoteLimits, whole_answer
from sigla.remote.failures import RemoteMisused

REGION: Final = "/regions"
PATIENCE_S: Final = 5.0
"""For an answer that takes nothing but a look at the data."""
COURSE_S: Final = 120.0
"""For an answer that takes a whole promotion."""
MERGE_S: Final = 600.0
"""For an answer that takes an import of all that a region has alone; then it is asked for again."""
MOST_BYTES: Final = 2**26


class RegionSaysNo(StoreError):
    """The server there refused what was asked. status: of its answer."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class NotInTime(StoreError):
    """No answer came in time: what was asked may be under way there."""


class NotARegistry(StoreError):
    """Whatever answers there is no registry of Sigla: the URL is another's, or a proxy's that does not reach one."""


class RemoteRegion:
    """A `ports.regions.Roles`. Any thread may ask. credentials: NAME:SECRET of an administrator there, or nothing.

    All raise StoreError where no answer comes, and then what was asked may be done, or not, or later; NotInTime, which
    is one, where it is late; RegionSaysNo, which is one, where it was refused. Raises RemoteMisused for a URL of
    another form.
    """

    def __init__(self, url: str, credentials: str, clock: Clock) -> None:
        self._address = RegionAddress(url, clock)
        self.shown = self._address.shown
        self._headers = {"Content-Type": "application/json"}
        if credentials:
            self._headers["Authorization"] = basic_authorization(credentials)

    def report(self) -> RegionReport:
        form = self._asked("GET", REGION)
        try:
            return wire.report_of(form)
        except ValueError as other:
            raise StoreError(f"{self.shown} is another release of Sigla ({other})") from other

    def role(self) -> Role | None:
        return self.report().role

    def set_role(self, seen: Role | None, role: Role) -> bool:
        form = {"seen": wire.role_form(seen), "role": wire.role_form(role)}
        return bool(self._asked("PUT", f"{REGION}/role", form)["changed"])

    def why_not_reached(self, url: str) -> str:
        """Why it could not follow the registry at a URL, a sentence; empty where it could."""
        return str(self._asked("POST", f"{REGION}/reach", {"url": url}, patience_s=2 * PATIENCE_S)["why"])

    def promote(self, way: str, url: str, primary: str, run: str) -> dict[str, Any]:
        """run: of the server that was looked at before; another one refuses. Empty: whoever answers does it."""
        form = {"way": way, "url": url, "primary": primary, "run": run}
        return self._asked("POST", f"{REGION}/promote", form, patience_s=COURSE_S)

    def abandon(self, region: str) -> dict[str, Any]:
        return self._asked("POST", f"{REGION}/abandon", {"region": region}, patience_s=2 * PATIENCE_S)

    def dismiss(self, follower: str) -> dict[str, Any]:
        return self._asked("POST", f"{REGION}/dismiss", {"follower": follower})

    def rejoin(self, url: str, follow: str, end: object) -> dict[str, Any]:
        form = {"url": url, "follow": follow, "end": end}
        return self._asked("POST", f"{REGION}/rejoin", form, patience_s=MERGE_S)

    def rows(self, after: int) -> Iterator[Shipment]:
        """The commits of its journal after a row, to its end."""
        # As long as the follower's answers may be, over a way that may be slow.
        limits = RemoteLimits(PATIENCE_S, COURSE_S)
        while told := wire.told_of(self._answered("GET", f"{REGION}/rows?after={after}", limits)).shipments:
            yield from told
            after = told[-1].position

    def place(self, position: int) -> JournalPlace | None:
        """Where a row of its journal stands; None: nowhere."""
        found = self._asked("GET", f"{REGION}/place?at={position}")
        return JournalPlace(position, str(found["hash"])) if found.get("hash") else None

    def _asked(self, method: str, path: str, form: object = None, *, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        limits = RemoteLimits(patience_s, patience_s, longest=MOST_BYTES)
        found: dict[str, Any] = json.loads(self._answered(method, path, limits, form))
        return found

    def _answered(self, method: str, path: str, limits: RemoteLimits, form: object = None) -> bytes:
        body = None if form is None else json.dumps(form)
        with closing(self._address.connection(limits)) as connection:
            try:
                connection.request(method, self._address.path + path, body, self._headers)
                answer = connection.getresponse()
                body_told = whole_answer(answer, limits.longest)
            except TimeoutError as late:
                raise NotInTime(f"{self.shown} does not answer ({late})") from late
            except (OSError, HTTPException) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence
        try:
            found: object = json.loads(body_told)
        except (ValueError, RecursionError):  # another product may answer there with anything
            found = None
        if not isinstance(found, dict) and answer.status >= 500:
            raise StoreError(f"{self.shown} does not answer (what stands before it says {answer.status})")
        if not isinstance(found, dict):
            raise NotARegistry(f"{self.shown} is not a registry of Sigla (what answers there says {answer.status})")
        if answer.status == 200:
            return body_told
        why = self._why(answer.status, str(found.get("message", "")))
        if found.get("error_code") == StoreFailed.code:  # it says of itself alone what it was at
            why = f"{self.shown} says: {why}"
        raise RegionSaysNo(why, answer.status)

    def _why(self, status: int, message: str) -> str:
        match status:
            case 401 | 403:
                return f"{self.shown} wants the key of an administrator who reaches everything"
            case 404 | 405:
                return f"{self.shown} is another server, or an older release of Sigla"
            case _:
                return message or f"{self.shown} says {status}"


def role_if_it_answers(other: RemoteRegion, ours: Role) -> Role | None:
    """The role of another region; None where it does not answer with one, or another registry does."""
    try:
        theirs = other.role()
    except (StoreError, RemoteMisused):
        return None
    return theirs if ours.is_of(theirs) else None


def why_not_lost(other: RemoteRegion, ours: Role, why: Callable[[str, Role, Role], str]) -> str:
    """Why a region is not lost: it answers. Empty where it does not, or another registry does.

    ours: the role of the region for which it would be lost. why: from the URL that is shown, their role and ours.
    """
    try:
        theirs = other.role()
    except RegionSaysNo as no:
        if no.status not in (401, 403):
            return ""
        return (
            f"{no}: that server runs, and whether it is the region is not known. Give that key here, too, or stop that "
            "server if it is the region and is not wanted any more."
        )
    except StoreError:
        return ""
    return why(other.shown, theirs, ours) if theirs is not None and ours.is_of(theirs) else ""
