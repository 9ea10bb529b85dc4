"""Schemas by id, by GUID, and as a list."""

from sigla.languages import LANGUAGES
from sigla.model import DEFAULT_CONTEXT
from sigla.registry import Registry
from sigla.rules import names
from sigla.web.api.exchange import LONGEST_LIST, SCHEMAS_PER_PAGE, Exchange
from sigla.web.api.replies import bare, told
from sigla.web.api.wire import answers
from sigla.web.http.answer import Answer

SHAPING = frozenset({"format", "referenceFormat", "findTags"})
LIFECYCLES = frozenset({"NONE", "STRONG", "WEAK"})


def schema_by_id(exchange: Exchange, registry: Registry) -> Answer:
    if not exchange.query:
        return exchange.rendered.by_id(registry, DEFAULT_CONTEXT, exchange.id)
    scope = exchange.id_scope
    if not _shapes(exchange):
        if scope is not None and scope.name:
            return exchange.rendered.by_id_in(registry, scope, exchange.id)
        return exchange.rendered.by_id(registry, DEFAULT_CONTEXT if scope is None else scope.context, exchange.id)
    record = registry.schema_by_id(
        exchange.id,
        subject=scope,
        form=exchange.text("format"),
        qualified_references=exchange.text("referenceFormat") == "qualified",
        find_tags=exchange.texts("findTags"),
        with_max_id=exchange.flag("fetchMaxId"),
    )
    return told(answers.by_id(record))


def _shapes(exchange: Exchange) -> bool:
    """Whether the query asks for more than what an id means."""
    if exchange.flag("fetchMaxId"):
        return True
    if SHAPING.isdisjoint(exchange.query):
        return False
    return bool(exchange.text("format").strip() or exchange.text("referenceFormat") or exchange.texts("findTags"))


def text_by_id(exchange: Exchange, registry: Registry) -> Answer:
    return bare(registry.schema_by_id(exchange.id, subject=exchange.id_scope, form=exchange.text("format")).schema.text)


def subjects_by_id(exchange: Exchange, registry: Registry) -> Answer:
    found = registry.subjects_of(
        exchange.id, subject=exchange.id_scope, deleted=exchange.flag("deleted"), page=exchange.page(LONGEST_LIST)
    )
    return told([subject.qualified for subject in found])


def versions_by_id(exchange: Exchange, registry: Registry) -> Answer:
    found = registry.holders_of(
        exchange.id, subject=exchange.id_scope, deleted=exchange.flag("deleted"), page=exchange.page(LONGEST_LIST)
    )
    return told([answers.subject_version(held) for held in found])


def schema_by_guid(exchange: Exchange, registry: Registry) -> Answer:
    return told(answers.by_id(registry.schema_by_guid(exchange.params["guid"], form=exchange.text("format"))))


def ids_by_guid(exchange: Exchange, registry: Registry) -> Answer:
    return told([answers.context_id(key) for key in registry.ids_of(exchange.params["guid"])])


def schemas(exchange: Exchange, registry: Registry) -> Answer:
    page = exchange.page(SCHEMAS_PER_PAGE)
    if _wants_associations(exchange):
        return told([])
    found = registry.schemas(
        names.search(exchange.text("subjectPrefix")),
        deleted=exchange.flag("deleted"),
        latest_only=exchange.flag("latestOnly"),
        aliases=exchange.flag("aliases"),
        rule_type=exchange.text("ruleType"),
        page=page,
    )
    return told([answers.entity(record) for record in found])


def _wants_associations(exchange: Exchange) -> bool:
    """Whether only subjects with an association are wanted: there are none. `NONE` wants those without: all."""
    lifecycles = exchange.choices("lifecycle", LIFECYCLES)
    if "NONE" in lifecycles:
        return False
    return bool(lifecycles or exchange.text("resourceType") or exchange.texts("associationType"))


def schema_types(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    return told(list(LANGUAGES))
