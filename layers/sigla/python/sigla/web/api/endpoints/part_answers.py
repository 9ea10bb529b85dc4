"""Parts of lists for the console: each tells after which place the next one begins."""

from dataclasses import replace

from sigla.keks.rules import without_credentials
from sigla.registry import Registry, parts, usages
from sigla.rules import names
from sigla.web.api.endpoints.subjects import known_names, told_usage
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer
from sigla.web.api.wire import answers
from sigla.web.api.wire import associations as association_wire
from sigla.web.api.wire import keks as kek_wire
from sigla.web.api.wire import parts as wire
from sigla.web.http.answer import Answer


def version_part(exchange: Exchange, registry: Registry, *, version: str, after: str, limit: int) -> Answer:
    below, wanted = wire.read_version_place(after), wire.read_version_place(version)
    part = parts.version_part(registry, exchange.subject, below, limit, wanted)
    told = wire.part(part.listed, told=wire.told_version, place=lambda each: str(each.version))
    told |= {"subject": part.subject.qualified, "name": part.name.qualified}
    latest = {} if part.latest is None else {"latest": part.latest}
    near = {} if wanted is None else {"near": [wire.told_version(each) for each in part.near]}
    return json_answer(told | latest | near)


def usage_part(exchange: Exchange, registry: Registry, *, tokens: bool, after: str, limit: int) -> Answer:
    found, goes_on = usages.usage_part(registry, exchange.subject, wire.read_version_place(after), limit)
    told = told_usage(exchange, registry, found, {} if tokens else known_names(exchange, registry, found.tokens))
    told["found"] = told.pop("versions")
    return json_answer(told | ({"after": str(found.versions[-1].row.version)} if goes_on else {}))


def context_part(exchange: Exchange, registry: Registry, *, after: str, limit: int) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    part = parts.context_part(registry, after, limit)
    return json_answer(wire.part(part, told=str, place=str))


def settings_part(exchange: Exchange, registry: Registry, *, subject_prefix: str, after: str, limit: int) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    search = names.search(subject_prefix)
    if after:
        search = replace(search, after=names.subject(after))
    part = parts.settings_part(registry, search, limit)
    return json_answer(
        wire.part(part, told=lambda each: answers.scope_settings(*each), place=lambda each: each[0].qualified)
    )


def holder_part(exchange: Exchange, registry: Registry, *, subject: str, after: str, limit: int) -> Answer:
    behind = names.subject(after) if after else None
    part = parts.holder_part(registry, exchange.id, exchange.scope(subject), behind, limit)
    return json_answer(wire.part(part, told=answers.subject_version, place=lambda each: each[0].qualified))


def referrer_part(exchange: Exchange, registry: Registry, *, version: str, after: str, limit: int) -> Answer:
    wanted, behind = wire.read_version_place(version), wire.read_referrer_place(after)
    part = parts.referrer_part(registry, exchange.subject, wanted, behind, limit)
    return json_answer(wire.part(part, told=wire.told_referrer, place=wire.referrer_place))


def kek_part(exchange: Exchange, registry: Registry, *, after: str, limit: int) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    """Tells no credentials, also not to those who may write: the KEK itself does."""
    part = parts.kek_part(registry, after, limit)
    told = wire.part(part, told=lambda each: kek_wire.kek(without_credentials(each)), place=lambda each: each.name)
    return json_answer(told)


def association_part(exchange: Exchange, registry: Registry, *, after: str, limit: int) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    part = parts.association_part(registry, wire.read_association_place(after), limit)
    return json_answer(wire.part(part, told=association_wire.listed, place=wire.association_place))
