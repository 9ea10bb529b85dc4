"""Bodies of `/console/api/keys`: what makes and rotates API keys, and what is told of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sigla.auth.api_keys import ApiKey
from sigla.auth.listed_keys import ListedKeys, key_facts
from sigla.web.api.wire import bind, text
from sigla.web.http.refusals import BadRequest

Json = dict[str, Any]


class KeyRequest(NamedTuple):
    """A key to make. lasts_ms: when it ends; None for never."""

    name: str
    role: str
    deletes: bool
    subjects: tuple[str, ...]
    lasts_ms: int | None


def read_key_request(body: bytes, operation: str) -> KeyRequest:
    return text.read(body, _key_request, operation=operation)


def _key_request(tree: Any) -> KeyRequest:
    sent = bind.members(tree, "KeyRequest")
    return KeyRequest(
        bind.text(sent.get("key")) or "",
        bind.text(sent.get("role")) or "reader",
        bind.flag(sent.get("delete")) or False,
        bind.items(sent.get("subjects"), bind.text, "String>") or (),
        _milliseconds(sent, "expiresInSeconds"),
    )


def read_rotation(body: bytes, operation: str) -> int:
    """For how many milliseconds the secrets before go on opening the key."""
    return text.read(body, _rotation, operation=operation)


def _rotation(tree: Any) -> int:
    lasts_ms = _milliseconds(bind.members(tree, "KeyRotation"), "formerSeconds")
    if lasts_ms is None:
        raise BadRequest(reason="formerSeconds is missing: for so long the secrets before are good; 0: no longer")
    return lasts_ms


def _milliseconds(sent: Mapping[str, Any], name: str) -> int | None:
    seconds = bind.integer(sent.get(name))
    if seconds is not None and seconds < 0:
        raise BadRequest(reason=f"{name} is {seconds}; it must be 0 or more")
    return None if seconds is None else 1000 * seconds


def key_list(found: ListedKeys) -> list[Json]:
    """Damaged ones at the end, with what is wrong with them."""
    told: list[Json] = [{"key": key.name, **key_facts(key), "used": found.used(key) or None} for key in found.keys]
    return told + [{"key": name, "damaged": why.advice} for name, why in found.damaged.items()]


def key_with_secret(key: ApiKey, secret: str) -> Json:
    return {"key": key.name, "secret": secret, **key_facts(key)}
