"""Sigla: a schema registry for Kafka that has no servers."""

__version__ = "0.3.0"
