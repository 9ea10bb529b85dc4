"""The refusals that only API keys have; `errors` has those that everything has. docs/api.md lists them all.

Confluent's registry has no API for keys: numbers and sentences are ours.
"""

from sigla.errors import Refusal


class ApiKeyNotFound(Refusal):
    code, text = 40480, "API key '{key}' not found"


class ApiKeyExists(Refusal):
    code, text = 40980, "API key '{key}' already exists: revoke it first, or choose another name"


class ApiKeyNotChanged(Refusal):
    code, text = 40981, "{why}"


class InvalidApiKey(Refusal):
    code, text = 42280, "{why}"
