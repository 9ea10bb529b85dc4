"""What verbs and followers ask first: the exporter, its settings, and those of them that are kept apart."""

from collections.abc import Mapping

from sigla.exporters.nouns import Exporter, ExporterProgress
from sigla.exporters.refusals import ExporterNotFound
from sigla.exporters.rules import HIDDEN
from sigla.ports.secrets import SecretName, Secrets
from sigla.registry import Resources


def exporter_names(resources: Resources) -> list[str]:
    return [exporter.name for exporter in resources.catalog.exporters()]


def read_exporter(resources: Resources, name: str) -> Exporter:
    """Raises ExporterNotFound."""
    exporter = resources.catalog.exporter(name)
    if exporter is None:
        raise ExporterNotFound(exporter=name)
    return exporter


def read_progress(resources: Resources, name: str) -> ExporterProgress:
    """Raises ExporterNotFound."""
    progress = resources.catalog.progress(name)
    if progress is None:
        raise ExporterNotFound(exporter=name)
    return progress


def secret_settings(secrets: Secrets, exporter: Exporter) -> Mapping[str, str]:
    """The settings that are kept apart; none where they got lost, as in a restored registry. Raises StoreError."""
    if not exporter.credentials:
        return {}
    found = secrets.get(SecretName(exporter.name, exporter.credentials))
    return {} if found is None else found.settings


def shown_config(exporter: Exporter) -> dict[str, str]:
    """The settings as answers have them: of what is secret the name alone."""
    return dict(sorted({**exporter.config, **dict.fromkeys(exporter.hidden, HIDDEN)}.items()))
