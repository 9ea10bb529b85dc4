"""Config and mode. Without a subject in the path the scope is the default context, which the API calls global."""

from sigla.model import Page, Subject
from sigla.registry import Registry
from sigla.rules import names
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer
from sigla.web.api.wire import answers, requests
from sigla.web.http.answer import Answer


def _scope(exchange: Exchange) -> Subject:
    return names.subject(exchange.params.get("subject", ""))


def listed_settings(
    exchange: Exchange,  # noqa: ARG001 - every endpoint is called alike
    registry: Registry,
    *,
    subject_prefix: str,
    offset: int,
    limit: int,
) -> Answer:
    found = registry.listed_settings(names.search(subject_prefix), page=Page(offset, limit))
    return json_answer([answers.scope_settings(*each) for each in found])


def config(exchange: Exchange, registry: Registry, *, default_to_global: bool) -> Answer:
    found = registry.config(_scope(exchange), default_to_global=default_to_global)
    return json_answer(answers.config(found))


def change_config(exchange: Exchange, registry: Registry) -> Answer:
    patch = requests.read_config_patch(exchange.body, exchange.operation)
    return json_answer(answers.config_update(registry.change_config(_scope(exchange), patch), patch))


def drop_config(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer(answers.config(registry.drop_config(_scope(exchange))))


def mode(exchange: Exchange, registry: Registry, *, default_to_global: bool) -> Answer:
    return json_answer(answers.mode(registry.mode(_scope(exchange), default_to_global=default_to_global)))


def change_mode(exchange: Exchange, registry: Registry, *, force: bool) -> Answer:
    """Echoes what was sent, in the spelling in which it was sent (MODE-1)."""
    wanted = requests.read_mode(exchange.body, exchange.operation)
    registry.change_mode(_scope(exchange), wanted, force=force)
    return json_answer(answers.mode(wanted))


def drop_mode(exchange: Exchange, registry: Registry, *, recursive: bool) -> Answer:
    dropped = registry.drop_mode(_scope(exchange), recursive=recursive)
    return json_answer({} if dropped is None else answers.mode(dropped))
