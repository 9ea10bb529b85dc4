"""Sigla: a schema registry for Kafka that has no servers."""

__version__ = "0.1.0"
