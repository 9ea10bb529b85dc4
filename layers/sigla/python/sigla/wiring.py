"""The only file that chooses adapters and reads the environment: settings in, a running registry out."""

import ipaddress
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import orjson

from sigla import __version__, observe
from sigla.auth.api_keys import Keys
from sigla.auth.credentials import Authenticator, BasicKeys
from sigla.cache.memory import Memory
from sigla.cache.tiers import Tiers
from sigla.embedded.clock import SystemClock
from sigla.embedded.database import TooNew
from sigla.embedded.keys import EmbeddedKeys
from sigla.embedded.store import DataInUse, EmbeddedStore
from sigla.ports import Clock
from sigla.registry import Options, Registry
from sigla.settings import AUTO, KEYS, NONE, PREFIX, InvalidSetting, Settings
from sigla.web import app


class OpenToOthers(Exception):  # noqa: N818 - says what the registry would be
    """Other machines would reach it, and nobody has said who may; the sentence says how to."""


class NowhereForKeys(Exception):  # noqa: N818 - says what is missing
    """Keys are asked for where none can be kept; the sentence says what to change."""


STARTUP_PROBLEMS = (InvalidSetting, OpenToOthers, NowhereForKeys, DataInUse, TooNew, OSError)
"""What can be wrong before the first request, each with a sentence."""

ACCESS = {KEYS: "with an API key", NONE: "open: whoever reaches it may do everything"}
"""Who may ask, for people."""

NO_KEY_YET = f"{ACCESS[KEYS]}; there is none yet: `sigla keys create`"

_KEPT_OPEN = ExitStack()
"""What a function opened at its start: nobody tells it when it ends."""


@contextmanager
def embedded(settings: Settings, data: Path | None) -> Iterator[tuple[Registry, EmbeddedStore]]:
    """A registry on this machine. data: a directory, made if need be; None for memory."""
    with EmbeddedStore(data, registry=settings.registry_name) as store:
        bodies = Tiers(Memory(settings.memory_bytes), store.bodies, unsettled=store.bodies.unsettled)
        store.bodies.on_replaced(bodies.forget)
        yield Registry(store.catalog, bodies, SystemClock(), _options(settings)), store


@contextmanager
def aws(settings: Settings) -> Iterator[tuple[Registry, Keys]]:
    """A registry in a DynamoDB table and an S3 bucket, and its keys. Any number of instances may share them."""
    from sigla.aws.api_keys import AwsKeys
    from sigla.aws.bodies import AwsBodies
    from sigla.aws.catalog import AwsCatalog
    from sigla.aws.clients import Clients
    from sigla.aws.objects import Objects

    clock, name = SystemClock(), settings.registry_name
    with closing(Clients()) as clients, closing(Objects(clients.s3, settings.bucket, clock=clock)) as objects:
        bodies = Tiers(Memory(settings.memory_bytes), AwsBodies(objects, registry=name))
        with closing(AwsCatalog(clients.dynamodb, settings.table, clock, registry=name)) as catalog:
            yield Registry(catalog, bodies, clock, _options(settings)), AwsKeys(objects, registry=name)


def serve(
    data: Path | None,
    host: str,
    port: int,
    *,
    closed: bool = False,
    announce: Callable[[str, str], None] = lambda _, __: None,
) -> None:
    """Serves until SIGTERM or SIGINT. closed: only for those with keys, whatever the settings say.

    announce: is told the address, and who may ask. Raises one of STARTUP_PROBLEMS.
    """
    from sigla.web import local  # a Lambda function has no use for a server

    settings = Settings.read(os.environ)
    auth = KEYS if closed else _local_auth(settings.auth, host)
    if auth == KEYS and data is None:
        raise NowhereForKeys("API keys are kept with the data: give it a directory with --data.")
    with embedded(settings, data) as (registry, store):
        kept = _keys(settings, store.path)
        access = ACCESS[auth] if auth == NONE or any(kept.list()) else NO_KEY_YET
        application = local.application(
            registry,
            group=store.group,
            step=store.step,
            options=_web_options(settings, _authenticator(auth, kept), write=observe.Buffered()),
            stored=store.catalog.count,
            ready=lambda: store.writable,
        )
        if auth == NONE and not _is_loopback(host):
            _tell_open(host)
        local.serve(application, host=host, port=port, started=lambda url: announce(url, access))


def lambda_handler() -> Callable[[Any, Any], dict[str, Any]]:
    """The API as a Lambda function, built once."""
    from sigla.web import gateway  # Mangum is no business of the local server

    settings = Settings.read(os.environ)
    registry, keys = _KEPT_OPEN.enter_context(aws(settings) if settings.table else _in_a_directory(settings))
    auth = KEYS if settings.auth == AUTO else settings.auth
    if auth == NONE:
        _tell_open("the function")
    return gateway.handler(registry, options=_web_options(settings, _authenticator(auth, keys), gateway.OPTIONS))


@contextmanager
def _in_a_directory(settings: Settings) -> Iterator[tuple[Registry, Keys]]:
    """As `aws`, on this machine; in memory without a directory."""
    with embedded(settings, Path(settings.data) if settings.data else None) as (registry, store):
        yield registry, _keys(settings, store.path)


@contextmanager
def keys(data: Path, bucket: str = "") -> Iterator[tuple[Keys, Clock]]:
    """Where keys are kept, in the bucket if one is named, and what dates them. Raises InvalidSetting, ImportError."""
    settings = Settings.read(os.environ)
    if not bucket:
        yield _keys(settings, data), SystemClock()
        return
    from sigla.aws.api_keys import AwsKeys
    from sigla.aws.clients import Clients
    from sigla.aws.objects import Objects

    with closing(Clients()) as clients, closing(Objects(clients.s3, bucket, clock=SystemClock())) as objects:
        yield AwsKeys(objects, registry=settings.registry_name), SystemClock()


def _keys(settings: Settings, data: Path) -> Keys:
    return EmbeddedKeys(data, registry=settings.registry_name)


def _authenticator(auth: str, keys: Keys) -> Authenticator | None:
    """None where everybody may do everything."""
    return None if auth == NONE else BasicKeys(keys, SystemClock())


def _local_auth(auth: str, host: str) -> str:
    """What AUTO means where `sigla serve` listens. Raises OpenToOthers."""
    if auth != AUTO:
        return auth
    if _is_loopback(host):
        return NONE
    raise OpenToOthers(
        f"Everybody who reaches {host or 'this machine'} could change everything: make a key with `sigla keys create` "
        f"and start with --auth, or leave it open with {PREFIX}AUTH={NONE}."
    )


def _is_loopback(host: str) -> bool:
    """Whether only this machine reaches it. Of names only `localhost` is known to mean that."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tell_open(where: str) -> None:
    """Once per start: nobody may be able to say that he did not know."""
    told = f"No key is asked for: whoever reaches {where} may do everything ({PREFIX}AUTH={NONE})."
    observe.to_stdout(orjson.dumps({"event": "open", "message": told}, option=orjson.OPT_APPEND_NEWLINE))


def _options(settings: Settings) -> Options:
    return Options(
        default_level=settings.default_level.upper(),
        mode_mutability=settings.mode_mutability,
        strict_reference_versions=settings.strict_reference_versions,
        schema_bytes=settings.schema_bytes,
    )


def _web_options(
    settings: Settings,
    authenticate: Authenticator | None,
    door: app.Options | None = None,
    *,
    write: Callable[[bytes], None] = observe.to_stdout,
) -> app.Options:
    """door: what the front door is like, if there is one before the application. write: takes the lines of the log."""
    door = door or app.Options()
    watchers = (observe.Log(write, clock=SystemClock(), release=__version__),) if settings.log_requests else ()
    return app.Options(
        body_bytes=settings.request_bytes,
        answer_bytes=door.answer_bytes,
        gzip=door.gzip,
        cors_origins=tuple(origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()),
        watchers=watchers,
        authenticate=authenticate,
    )
