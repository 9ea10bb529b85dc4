"""Exporters, which write what is registered here to another registry as well."""

from sigla.exporters.verbs import asking, changing
from sigla.registry import Registry
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer, nothing
from sigla.web.api.wire import exporters as wire
from sigla.web.http.answer import Answer


def exporter_names(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    return json_answer(asking.exporter_names(registry))


def create_exporter(exchange: Exchange, registry: Registry) -> Answer:
    draft = wire.read_exporter(exchange.body, exchange.operation)
    return _named(changing.create_exporter(registry, draft).name)


def show_exporter(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer(wire.exporter(asking.read_exporter(registry, _name(exchange))))


def update_exporter(exchange: Exchange, registry: Registry) -> Answer:
    """The path says whose it is; a name in the body is passed by."""
    draft = wire.read_exporter(exchange.body, exchange.operation)
    return _named(changing.update_exporter(registry, _name(exchange), draft).name)


def delete_exporter(exchange: Exchange, registry: Registry) -> Answer:
    changing.delete_exporter(registry, _name(exchange))
    return nothing()


def show_config(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer(asking.shown_config(asking.read_exporter(registry, _name(exchange))))


def update_config(exchange: Exchange, registry: Registry) -> Answer:
    config = wire.read_config(exchange.body, exchange.operation)
    return _named(changing.update_config(registry, _name(exchange), config).name)


def show_cluster_link(exchange: Exchange, registry: Registry) -> Answer:
    """There are no cluster links here, so that no setting of one follows from an exporter."""
    asking.read_exporter(registry, _name(exchange))
    return json_answer({})


def show_status(exchange: Exchange, registry: Registry) -> Answer:
    name = _name(exchange)
    return json_answer(wire.status(name, asking.read_progress(registry, name)))


def pause_exporter(exchange: Exchange, registry: Registry) -> Answer:
    changing.pause_exporter(registry, _name(exchange))
    return _named(_name(exchange))


def resume_exporter(exchange: Exchange, registry: Registry) -> Answer:
    changing.resume_exporter(registry, _name(exchange))
    return _named(_name(exchange))


def reset_exporter(exchange: Exchange, registry: Registry) -> Answer:
    changing.reset_exporter(registry, _name(exchange))
    return _named(_name(exchange))


def _name(exchange: Exchange) -> str:
    return exchange.params["exporter"]


def _named(name: str) -> Answer:
    return json_answer({"name": name})
