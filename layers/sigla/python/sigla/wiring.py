"""The only file that chooses adapters and reads the environment: settings in, a running registry out."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sigla import __version__, observe
from sigla.cache.memory import Memory
from sigla.cache.tiers import Tiers
from sigla.embedded.clock import SystemClock
from sigla.embedded.database import TooNew
from sigla.embedded.store import DataInUse, EmbeddedStore
from sigla.registry import Options, Registry
from sigla.settings import InvalidSetting, Settings
from sigla.web import app

STARTUP_PROBLEMS = (InvalidSetting, DataInUse, TooNew, OSError)
"""What can be wrong before the first request, each with a sentence."""


_KEPT_OPEN = ExitStack()
"""What a function opened at its start: nobody tells it when it ends."""


@contextmanager
def embedded(settings: Settings, data: Path | None) -> Iterator[tuple[Registry, EmbeddedStore]]:
    """A registry on this machine. data: a directory, made if need be; None for memory."""
    with EmbeddedStore(data, registry=settings.registry_name) as store:
        bodies = Tiers(Memory(settings.memory_bytes), store.bodies, unsettled=store.bodies.unsettled)
        store.bodies.on_replaced(bodies.forget)
        yield Registry(store.catalog, bodies, SystemClock(), _options(settings)), store


def serve(data: Path | None, host: str, port: int, *, announce: Callable[[str], None] | None = None) -> None:
    """Serves until SIGTERM or SIGINT. announce: is told the address. Raises one of STARTUP_PROBLEMS."""
    from sigla.web import local  # a Lambda function has no use for a server

    settings = Settings.read(os.environ)
    with embedded(settings, data) as (registry, store):
        application = local.application(
            registry,
            group=store.group,
            step=store.step,
            options=_web_options(settings, write=observe.Buffered()),
            stored=store.catalog.count,
            ready=lambda: store.writable,
        )
        local.serve(application, host=host, port=port, started=announce)


def lambda_handler() -> Callable[[Any, Any], dict[str, Any]]:
    """The API as a Lambda function, built once."""
    from sigla.web import gateway  # Mangum is no business of the local server

    settings = Settings.read(os.environ)
    data = Path(settings.data) if settings.data else None
    registry, _ = _KEPT_OPEN.enter_context(embedded(settings, data))
    return gateway.handler(registry, options=_web_options(settings, gateway.OPTIONS))


def _options(settings: Settings) -> Options:
    return Options(
        default_level=settings.default_level.upper(),
        mode_mutability=settings.mode_mutability,
        strict_reference_versions=settings.strict_reference_versions,
        schema_bytes=settings.schema_bytes,
    )


def _web_options(
    settings: Settings, door: app.Options | None = None, *, write: Callable[[bytes], None] = observe.to_stdout
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
    )
