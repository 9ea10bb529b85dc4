"""API keys for administrators who reach everything: what `sigla keys` does, asked of the registry itself.

Each change is a line of the log, with who made it. Secrets are in the one answer that makes them, and nowhere else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sigla.auth import api_keys, rotation
from sigla.auth.credentials import REMEMBERED_MS
from sigla.auth.listed_keys import listed_keys
from sigla.auth.refusals import ApiKeyExists, ApiKeyNotChanged, ApiKeyNotFound, InvalidApiKey
from sigla.changes.kinds import DAY_MS
from sigla.ports.clock import day_of
from sigla.registry import Registry
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer, secret_answer
from sigla.web.api.wire import api_keys as wire
from sigla.web.http.answer import Answer
from sigla.web.http.refusals import NoSuchArgument

USE_DAYS: Final = 7
"""Reads of so many days are told before a key is changed."""


def key_list(exchange: Exchange, registry: Registry, *, revoked: bool) -> Answer:  # noqa: ARG001 - called as others are
    return json_answer(wire.key_list(listed_keys(_managed_keys(exchange), revoked=revoked)))


def key_use(exchange: Exchange, registry: Registry) -> Answer:
    """What a change of the key would meet."""
    now, found = registry.clock.now(), listed_keys(_managed_keys(exchange))
    name = exchange.params["key"]
    key = next((each for each in found.keys if each.name == name), None)
    if key is None:
        raise ApiKeyNotFound(key=name)
    first = day_of(now - (USE_DAYS - 1) * DAY_MS)
    reads = registry.reads.count_of(name, first) if registry.options.counts_reads else None
    told = {
        "key": name,
        "days": USE_DAYS,
        "secrets": sum(now < each.until for each in key.secrets),
        "administrators": sum(each != name for each in found.administrators(now)),
        "acceptedForSeconds": REMEMBERED_MS // 1000,
    }
    more = {"used": found.used(key), "reads": reads}
    return json_answer(told | {name: value for name, value in more.items() if value not in (None, "")})


def make_key(exchange: Exchange, registry: Registry) -> Answer:
    keys, now = _managed_keys(exchange), registry.clock.now()
    asked = wire.read_key_request(exchange.body, exchange.operation)
    try:
        key, secret = api_keys.create(
            keys,
            asked.name,
            asked.role,
            asked.subjects,
            now=now,
            deletes=asked.deletes,
            expires=None if asked.lasts_ms is None else now + asked.lasts_ms,
            by=exchange.caller,
        )
    except api_keys.NotAKey as problem:
        raise InvalidApiKey(why=str(problem)) from None
    except api_keys.KeyTaken:
        raise ApiKeyExists(key=asked.name) from None
    reach = f"for subjects that begin with {' or '.join(key.subjects)}" if key.subjects else "for all subjects"
    done = f"made the key {key.name}, with the role {key.role}, {reach}"
    return _with_log_line(exchange, "key-made", key.name, done, _shown_once(key, secret))


def rotate_key(exchange: Exchange, registry: Registry) -> Answer:
    keys, name = _managed_keys(exchange), exchange.params["key"]
    lasts_ms = wire.read_rotation(exchange.body, exchange.operation)
    with _changes_explained(name):
        rotated = rotation.rotate(keys, name, now=registry.clock.now(), lasts_ms=lasts_ms)
    done = f"gave the key {name} a new secret; those before are good for {lasts_ms // 1000} s more"
    return _with_log_line(exchange, "key-rotated", name, done, _shown_once(rotated.key, rotated.secret))


def revoke_key(exchange: Exchange, registry: Registry) -> Answer:
    keys, name = _managed_keys(exchange), exchange.params["key"]
    with _changes_explained(name):
        if not api_keys.revoke(keys, name, now=registry.clock.now(), by=exchange.caller):
            raise ApiKeyNotFound(key=name)
    answer = json_answer({"key": name, "acceptedForSeconds": REMEMBERED_MS // 1000})
    return _with_log_line(exchange, "key-revoked", name, f"revoked the key {name}", answer)


def _shown_once(key: api_keys.ApiKey, secret: str) -> Answer:
    return secret_answer(wire.key_with_secret(key, secret))


def _managed_keys(exchange: Exchange) -> api_keys.Keys:
    """Raises NoSuchArgument where keys are made elsewhere alone."""
    if exchange.keys is None:
        raise NoSuchArgument
    return exchange.keys


@contextmanager
def _changes_explained(name: str) -> Iterator[None]:
    """Raises refusals for what changes of keys raise."""
    try:
        yield
    except rotation.UnknownKey:
        raise ApiKeyNotFound(key=name) from None
    except api_keys.DamagedKey as damage:
        raise ApiKeyNotChanged(why=f"The key {name} opens nothing, because {damage.advice}.") from None
    except (rotation.NotRotated, api_keys.KeyChanged) as why:
        raise ApiKeyNotChanged(why=str(why)) from None


def _with_log_line(exchange: Exchange, event: str, name: str, done: str, answer: Answer) -> Answer:
    """The answer, with a line for the log."""
    answer.told = {"event": event, "key": name, "by": exchange.caller, "message": f"{exchange.caller} {done}."}
    return answer
