"""Verbs about exporters, for stories and for meetings."""

from contextlib import suppress
from typing import Any

from sigla.errors import Conflict
from sigla.exporters.nouns import ExporterDraft, ExporterState, Position
from sigla.exporters.verbs import changing
from tests.attack.world import Verb

THERE = {"schema.registry.url": "https://there"}
SECRET = {**THERE, "basic.auth.user.info": "orders:secret"}
NEXT = {**THERE, "basic.auth.user.info": "orders:next"}
MASKED = {**THERE, "basic.auth.user.info": "[hidden]", "more": "another secret"}
MOVED = {"schema.registry.url": "https://elsewhere", "basic.auth.user.info": "[hidden]"}


def created(name: str = "e", **said: Any) -> Verb:
    draft = ExporterDraft(name, **{"config": SECRET, **said})
    return lambda registry: changing.create_exporter(registry, draft).name


def updated(name: str = "e", **said: Any) -> Verb:
    return lambda registry: changing.update_exporter(registry, name, ExporterDraft(**said)).name


def paused(name: str = "e") -> Verb:
    return lambda registry: changing.pause_exporter(registry, name)


def resumed(name: str = "e") -> Verb:
    return lambda registry: changing.resume_exporter(registry, name)


def restarted(name: str = "e") -> Verb:
    return lambda registry: changing.reset_exporter(registry, name)


def deleted(name: str = "e") -> Verb:
    return lambda registry: changing.delete_exporter(registry, name)


def advanced(name: str = "e", offset: int = 7) -> Verb:
    """As a follower of the journal does."""

    def advance(registry: Any) -> None:
        seen, progress = registry.catalog.exporter(name), registry.catalog.progress(name)
        if progress.state is not ExporterState.PAUSED:
            said = progress._replace(state=ExporterState.RUNNING, position=Position(offset))
            with suppress(Conflict):  # then it begins anew
                registry.catalog.advance(seen, said)

    return advance


RUNNING = (created(), advanced())
PAUSED = (*RUNNING, paused())
