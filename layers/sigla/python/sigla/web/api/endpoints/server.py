"""Contexts, zones, and what the server says about itself."""

from sigla.exporters.recognition import answer_to
from sigla.model import DEFAULT_CONTEXT, Page
from sigla.registry import Registry
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer, nothing
from sigla.web.api.wire import answers, requests
from sigla.web.http import paths
from sigla.web.http.answer import Answer
from sigla.web.http.refusals import MethodNotAllowed

# ruff: noqa: ARG001 - every endpoint is called alike, whether it asks the registry or not


def root(exchange: Exchange, registry: Registry, *, exporter: str) -> Answer:
    """exporter: what an exporter of this registry asks, to find out that it has met its own source."""
    proof = answer_to(exporter, registry.itself.mark)
    return json_answer({"exporter": proof} if proof else {})


def post_root(exchange: Exchange, registry: Registry) -> Answer:
    requests.check_root(exchange.body)
    return json_answer({})


def contexts(exchange: Exchange, registry: Registry, *, context_prefix: str, offset: int, limit: int) -> Answer:
    return json_answer(registry.contexts(context_prefix, page=Page(offset, limit)))


def drop_context(exchange: Exchange, registry: Registry) -> Answer:
    """The default context cannot be dropped: for it there is no such method (CTX-6)."""
    context = paths.context_name(exchange.params["context"])
    if context == DEFAULT_CONTEXT:
        raise MethodNotAllowed
    registry.drop_context(context)
    return nothing()


def zones(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer([answers.zone(one) for one in registry.zones()])


def metadata_id(exchange: Exchange, registry: Registry) -> Answer:
    clusters = {"kafka-cluster": exchange.service.cluster, "schema-registry-cluster": exchange.service.group}
    return json_answer({"scope": {"path": [], "clusters": clusters}})


def metadata_version(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer({"version": exchange.service.version, "commitId": exchange.service.commit})


def metadata_deployment(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer({"attributes": []})
