"""The refusals that only exporters have; `errors` has those that everything has. docs/api.md lists them all.

The numbers are Confluent's; its sentences are not published, and these are ours.
"""

from sigla.errors import OperationNotPermitted, Refusal


class ExporterNotFound(Refusal):
    code, text = 40450, "Exporter '{exporter}' not found"


class InvalidExporterName(Refusal):
    code, text = 40950, "Missing or invalid exporter name: {why}"


class InvalidExporterConfig(Refusal):
    code, text = 40951, "Missing or invalid exporter config: {why}"


class InvalidExporterSubjects(Refusal):
    code, text = 40952, "Missing or invalid exporter subjects: {why}"


class ExporterExists(Refusal):
    code, text = 40960, "Exporter '{exporter}' already exists"


class ExporterNotPaused(Refusal):
    code, text = 40963, "Exporter '{exporter}' is not paused"


class TooManyExporters(Refusal):
    code, text = 40964, "Too many exporters: the limit is {limit}"


class ExportersClosed(OperationNotPermitted):
    text = "Exporters cannot be changed here: {why}"
