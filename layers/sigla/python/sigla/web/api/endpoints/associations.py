"""Which topics are tied to which subjects: none are, here. Clients ask before the first message of every topic."""

from sigla.registry import Registry
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer
from sigla.web.http.answer import Answer


def none(exchange: Exchange, registry: Registry, **asked: object) -> Answer:  # noqa: ARG001 - called as every endpoint is
    """Returns the empty list, whatever is asked for."""
    return json_answer([])
