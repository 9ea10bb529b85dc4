"""Exporters in a copy of a registry: they stand there paused, at the start and without credentials.

A copy beside its original, of which both wrote to one destination, would be worse than one that waits for a word.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from sigla.changes import ExporterChanged
from sigla.exporters.nouns import START, Exporter, ExporterState
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.upkeep.importing.insisting import insist


def bring_exporters(resources: Resources, told: Iterable[Exporter]) -> None:
    """Those that are not here yet, as another registry had them. Raises StoreError."""
    for exporter in told:
        insist(resources, partial(_bring, resources, exporter))


def set_down_exporters(resources: Resources) -> None:
    """All that are here. Raises StoreError."""
    for exporter in [*resources.catalog.exporters()]:
        _set_down(resources, exporter, exporter)


def _bring(resources: Resources, exporter: Exporter) -> None:
    if resources.catalog.exporter(exporter.name) is None:
        _set_down(resources, None, exporter)


def _set_down(resources: Resources, seen: Exporter | None, exporter: Exporter) -> None:
    ts, mark = resources.clock.now(), nonce()
    stripped = replace(exporter, hidden=(), credentials="", ts=ts, revision=mark)
    change = ExporterChanged(exporter.name, seen, stripped, ts, mark, ExporterState.PAUSED, START)
    commit(resources, change)
