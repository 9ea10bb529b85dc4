"""A key gets a new secret, and those before go on opening it for a while: clients are moved one by one."""

import json
from dataclasses import dataclass, replace
from typing import Final

from sigla.auth.api_keys import ApiKey, Keys, Secret, drawn_secret, members_of, read_key, shown_moment
from sigla.auth.key_members import MOST_SECRETS
from sigla.forms import FORM

OWN_MEMBERS: Final = frozenset(
    {FORM, "name", "role", "delete", "subjects", "verifier", "created", "expires", "former", "by", "revoked"}
)
"""What a key says of itself here; what else stands in its record stays there."""


class UnknownKey(Exception):
    """There is no key of this name."""


class NotRotated(Exception):
    """A key cannot be rotated now; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Rotated:
    """A key with a new secret, and that secret. before, after: its record."""

    key: ApiKey
    secret: str
    before: bytes
    after: bytes


def rotate(keys: Keys, name: str, *, now: int, lasts_ms: int) -> Rotated:
    """Secrets before go on opening the key for so long, and no longer. Raises UnknownKey, DamagedKey, NotRotated."""
    record = keys.get(name)
    if record is None:
        raise UnknownKey(name)
    key = read_key(name, record)
    if key.revoked is not None:
        raise UnknownKey(name)
    if key.until <= now:
        raise NotRotated(f"The key {name} expired at {shown_moment(key.until)}: revoke it, and make a new one.")
    until = now + lasts_ms
    former = [Secret(each.verifier, min(each.until, until)) for each in key.secrets if now < min(each.until, until)]
    if len(former) >= MOST_SECRETS:
        soonest = shown_moment(min(each.until for each in key.former))
        raise NotRotated(
            f"The key {name} has {len(former)} secrets, and no more fit: wait until {soonest}, or end all of them at "
            "once with --for 0."
        )
    secret, verifier = drawn_secret()
    rotated = replace(key, verifier=verifier, former=tuple(former))
    kept = {member: value for member, value in members_of(record).items() if member not in OWN_MEMBERS}
    after = json.dumps({**rotated.members(), **kept}).encode()
    if not keys.replace(name, record, after):
        raise NotRotated(f"The key {name} was changed at this moment: try again.")
    return Rotated(rotated, secret, record, after)
