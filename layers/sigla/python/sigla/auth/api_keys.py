"""API keys: a name, a role, a reach, and what a secret is verified by. The secret itself is shown once and never kept.

{"form": 2, "name": "orders", "role": "writer", "delete": false, "subjects": ["orders-"],
 "verifier": "<SHA-256 in hex>", "created": 1700000000000}

`by` says who made it, as the journal names authors of commands; keys of 0.2.0 and before have none. `expires` is a
time, too. A key that was rotated has `"former": [{"verifier": "…", "until": 1700000000000}]`: secrets that go on
opening until then. One that was revoked has `"revoked": {"at": 1700000000000, "by": "cli:ada"}` and a verifier of no
secret, so that it opens nothing in a release that does not know of this either.

A release that does not know of a restriction would let the key do what it must not, so a key that has one says form 2,
and is refused by 0.2.0. All others say form 1, and go on opening after a way back. 0.2.0 passes by `former`: it takes
the newest secret alone.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol

from sigla.auth.key_members import LAST_MOMENT, MEMBERS
from sigla.auth.permissions import ROLES, WRITE, WRITER, Principal, principal
from sigla.forms import API_KEY, API_KEY_OF_0_2, FORM, newer
from sigla.rules import names

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""No colon, which ends the name in Basic credentials; nothing that a file, an object or a shell would mind."""

OF_NO_SECRET = "0" * 64
"""The verifier of a revoked key: no text with this SHA-256 is known."""

SECRET_BYTES = 32


class Keys(Protocol):
    """Where keys are kept: one object each, so that reading one asks for nothing else.

    The comments are part of the promise: tests/unit/auth/test_keys_port.py holds every adapter to them.
    """

    def put(self, name: str, record: bytes) -> None:
        """Durable when it returns. Raises KeyTaken if there is one of this name; nothing has changed then."""
        ...

    def get(self, name: str) -> bytes | None:
        """None only if the key does not exist. Raises StoreError where it cannot be told."""
        ...

    def names(self) -> AbstractSet[str]:
        """The names of all keys, without reading one; removed names may be among them."""
        ...

    def list(self) -> Iterator[tuple[str, bytes]]:
        """All with their names, by name."""
        ...

    def state(self) -> object:
        """Another one after each key that was made, replaced or removed. None where that cannot be told at once.

        A change within two seconds of another may leave it as it is.
        """
        ...

    def replace(self, name: str, seen: bytes, record: bytes) -> bool:
        """False if what is there is not, or may not be, what was seen; nothing has changed then. Durable if True."""
        ...

    def remove(self, name: str) -> bool:
        """Whether there was one. Where nothing may be deleted a mark takes its place, which `get` does not tell."""
        ...

    def note_use(self, name: str, day: str) -> None:
        """Keeps the day, as in `2026-11-30`, unless a later one is kept. Whether it is durable does not matter."""
        ...

    def last_uses(self) -> Mapping[str, str]:
        """The days that were noted, by name; also of names that have no key any more.

        What cannot be read or understood is left out.
        """
        ...


class KeyTaken(Exception):
    """There is a key of this name."""


class KeyChanged(Exception):
    """Another process changes it now; the message is a sentence."""


class NotAKey(ValueError):
    """A name, a role or a prefix that no key can have; the message is a sentence."""


class OpensNothing(ValueError):
    """Why a key opens nothing, as half a sentence. event: what logs call it; cure: what to do about it."""

    event = ""
    cure = ""

    @property
    def advice(self) -> str:
        """What is wrong, and what to do about it."""
        return f"{self}: {self.cure}"


class DamagedKey(OpensNothing):
    """What is kept under a name is not that key. The message says what is wrong with it."""

    event = "damaged-key"
    cure = "revoke it, or remove its file, and make a new one"


class KeyTooNew(DamagedKey):
    """A newer release wrote it, and may have narrowed what it is good for."""

    cure = "install that release or a later one"


class KeyExpired(OpensNothing):
    event = "expired-key"
    cure = "make a new one"


class SecretEnded(OpensNothing):
    """It is one from before a rotation."""

    event = "expired-key"
    cure = "give the client the newest one, or rotate the key again"


@dataclass(frozen=True, slots=True)
class Secret:
    """What verifies a secret; until: from when on it opens nothing, in milliseconds since the epoch."""

    verifier: str
    until: int


@dataclass(frozen=True, slots=True)
class Revocation:
    """at: milliseconds since the epoch. by: who revoked the key."""

    at: int
    by: str


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept. subjects: prefixes; none of them is everything. created: milliseconds since the epoch.

    deletes: whether a writer may delete, too. expires: from when on it opens nothing; None for never. former: secrets
    that it had before it was rotated. by: who made it; empty if that is unknown. revoked: then it opens nothing.
    """

    name: str
    role: str
    subjects: tuple[str, ...]
    verifier: str
    created: int
    deletes: bool = False
    expires: int | None = None
    former: tuple[Secret, ...] = ()
    by: str = ""
    revoked: Revocation | None = None

    @property
    def until(self) -> int:
        """When the key ends, and its newest secret."""
        return LAST_MOMENT if self.expires is None else self.expires

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All that have opened it, the newest first."""
        return Secret(self.verifier, self.until), *(
            Secret(old.verifier, min(old.until, self.until)) for old in self.former
        )

    @property
    def principal(self) -> Principal:
        return principal(self.name, self.role, self.subjects, deletes=self.deletes)

    @property
    def form(self) -> int:
        is_restricted = self.expires is not None or (self.role == WRITER and not self.deletes)
        return API_KEY if is_restricted else API_KEY_OF_0_2

    def members(self) -> Mapping[str, object]:
        """What is kept of it."""
        return {
            FORM: self.form,
            "name": self.name,
            "role": self.role,
            **({"delete": self.deletes} if self.role == WRITER else {}),
            "subjects": self.subjects,
            "verifier": self.verifier,
            "created": self.created,
            **({} if self.expires is None else {"expires": self.expires}),
            **({"former": [asdict(each) for each in self.former]} if self.former else {}),
            **({"by": self.by} if self.by else {}),
            **({"revoked": asdict(self.revoked)} if self.revoked else {}),
        }

    def record(self) -> bytes:
        return json.dumps(self.members()).encode()


def create(
    keys: Keys,
    name: str,
    role: str,
    subjects: Sequence[str],
    *,
    now: int,
    deletes: bool = False,
    expires: int | None = None,
    by: str = "",
) -> tuple[ApiKey, str]:
    """The key, with its secret: 256 random bits, which cannot be guessed from their hash. Raises NotAKey, KeyTaken.

    It takes the place of a key of its name that was revoked.
    """
    _check_name(name)
    check_good_for(role, subjects, deletes=deletes)
    if expires is not None and expires <= now:
        raise NotAKey(f"The key would have expired already, at {shown_moment(expires)}.")
    secret, verifier = drawn_secret()
    deletes, ends = deletes and role == WRITER, _in_calendars(expires)
    key = ApiKey(name, role, tuple(subjects), verifier, now, deletes, ends, by=by)
    try:
        keys.put(name, key.record())
    except KeyTaken:
        before = keys.get(name)
        if before is None or not is_revoked(name, before) or not keys.replace(name, before, key.record()):
            raise
    return key, secret


def is_revoked(name: str, record: bytes) -> bool:
    """Whether a key that was revoked is kept there, and nothing else."""
    try:
        return read_key(name, record).revoked is not None
    except DamagedKey:
        return False


def revoke(keys: Keys, name: str, *, now: int, by: str) -> bool:
    """Whether there was a key, which opens nothing from now on, and says who revoked it.

    A record that cannot be read as a key is taken away. Raises KeyChanged.
    """
    record = keys.get(name)
    if record is None or is_revoked(name, record):
        return False
    try:
        key = read_key(name, record)
    except DamagedKey:
        return keys.remove(name)
    revoked = replace(key, verifier=OF_NO_SECRET, former=(), revoked=Revocation(now, by))
    if not keys.replace(name, record, revoked.record()):
        raise KeyChanged(f"The key {name} was changed at this moment: try again.")
    return True


def _in_calendars(moment: int | None) -> int | None:
    return None if moment is None else min(moment, LAST_MOMENT)


def drawn_secret() -> tuple[str, str]:
    """A new secret, and what verifies it."""
    secret = secrets.token_urlsafe(SECRET_BYTES)
    return secret, verifier_of(secret)


def shown_moment(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def read_key(name: str, record: bytes) -> ApiKey:
    """The key that is kept under a name. Raises DamagedKey for whatever `create` would not have put there.

    A hand or a disk may have changed it. Nothing is guessed: a text where a list belongs would be a list of letters,
    and a copy of another key's record would let its secret in under two names.
    """
    said = members_of(record)
    if form := newer(said, API_KEY):
        raise KeyTooNew(f"it has form {form}, written by a newer release of Sigla")
    for field, (is_fit, shape) in MEMBERS.items():
        if not is_fit(said.get(field)):
            raise DamagedKey(f"its {field} is not {shape}")
    if said["name"] != name:
        raise DamagedKey(f"it is the record of a key {said['name']!r}")
    deletes = said["role"] == WRITER and _deletes(said)
    former = tuple(Secret(each["verifier"], each["until"]) for each in said.get("former") or ())
    key = ApiKey(
        name,
        said["role"],
        tuple(said["subjects"]),
        said["verifier"],
        said["created"],
        deletes,
        said.get("expires"),
        former,
        said.get("by") or "",
        Revocation(**said["revoked"]) if said.get("revoked") else None,
    )
    try:
        _check_name(key.name)
        check_good_for(key.role, key.subjects)
    except NotAKey as problem:
        raise DamagedKey(str(problem).rstrip(".")) from problem
    return key


def _deletes(said: Mapping[str, Any]) -> bool:
    """Writers of 0.2.0 and before, whose keys say nothing about it, go on deleting."""
    deletes = said.get("delete", True if said.get(FORM) != API_KEY else None)
    if not isinstance(deletes, bool):
        raise DamagedKey("its delete is not true or false")
    return deletes


def members_of(record: bytes) -> Mapping[str, Any]:
    """Raises DamagedKey."""
    try:
        said = json.loads(record)
    except (ValueError, RecursionError) as damage:
        raise DamagedKey("it is not JSON") from damage
    if not isinstance(said, Mapping):
        raise DamagedKey("it is not a JSON object")
    return said


def verifier_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise NotAKey(
            f"Invalid name of a key {name!r}: expected up to 64 letters, digits, '.', '_' and '-', "
            "the first a letter or digit."
        )


def check_good_for(role: str, subjects: Sequence[str], *, deletes: bool = False) -> None:
    """deletes: whether a writer is to delete, too. Raises NotAKey for a role or a prefix that there is not."""
    if role not in ROLES:
        raise NotAKey(f"Unknown role {role!r}. Valid roles: {', '.join(ROLES)}.")
    if deletes and WRITE not in ROLES[role]:
        raise NotAKey(f"A {role} cannot delete: who deletes is a writer or an admin.")
    for prefix in subjects:
        if not prefix:
            raise NotAKey("An empty prefix would mean every subject: name a prefix, or leave --subjects out.")
        if prefix.endswith("*"):
            raise NotAKey(f"{prefix!r} would mean names with a star in them; a prefix is written without one.")
        if not names.is_text(prefix):
            raise NotAKey(f"{prefix!r} begins no name: names are UTF-8, without control characters.")
