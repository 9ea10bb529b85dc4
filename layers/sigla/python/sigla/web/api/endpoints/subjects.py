"""Subjects and their versions: register, look up, list, delete, check."""

from sigla.errors import InvalidSchema
from sigla.model import Show
from sigla.registry import Registry
from sigla.rules import names
from sigla.web.api.exchange import LONGEST_LIST, SCHEMAS_PER_PAGE, Exchange
from sigla.web.api.replies import bare, told
from sigla.web.api.wire import answers, requests
from sigla.web.http.answer import Answer


def register(exchange: Exchange, registry: Registry) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    record = registry.register(
        exchange.subject,
        draft,
        normalize=exchange.flag("normalize"),
        force=exchange.flag("force"),
        form=exchange.text("format"),
    )
    return told(answers.registration(record))


def lookup(exchange: Exchange, registry: Registry) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    record = registry.lookup(
        exchange.subject,
        draft,
        normalize=exchange.flag("normalize"),
        deleted=exchange.flag("deleted"),
        form=exchange.text("format"),
    )
    return told(answers.entity(record))


def tag(exchange: Exchange, registry: Registry) -> Answer:
    request = requests.read_tag_request(exchange.body, exchange.operation)
    return told(answers.registration(registry.tag(exchange.subject, exchange.params["version"], request)))


def check(exchange: Exchange, registry: Registry) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    version = exchange.version if "version" in exchange.params else None
    verbose = exchange.flag("verbose")
    try:
        messages = registry.check(exchange.subject, draft, version=version, normalize=exchange.flag("normalize"))
    except InvalidSchema as refusal:
        if not verbose:
            raise
        messages = (refusal.message,)  # COMPAT-4
    return told(answers.verdict(messages, verbose=verbose))


def subjects(exchange: Exchange, registry: Registry) -> Answer:
    show = Show.DELETED if exchange.flag("deletedOnly") else Show.ALL if exchange.flag("deleted") else Show.ACTIVE
    search = names.search(exchange.text("subjectPrefix", ":*:"))
    return told([found.qualified for found in registry.subjects(search, show=show, page=exchange.page(LONGEST_LIST))])


def versions(exchange: Exchange, registry: Registry) -> Answer:
    found = registry.versions(
        exchange.subject,
        deleted=exchange.flag("deleted"),
        deleted_only=exchange.flag("deletedOnly"),
        deleted_as_negative=exchange.flag("deletedAsNegative"),
        page=exchange.page(LONGEST_LIST),
    )
    return told(found)


def version(exchange: Exchange, registry: Registry) -> Answer:
    record = registry.version(
        exchange.subject,
        exchange.version,
        deleted=exchange.flag("deleted"),
        form=exchange.text("format"),
        qualified_references=exchange.text("referenceFormat") == "qualified",
        find_tags=exchange.texts("findTags"),
    )
    return told(answers.entity(record))


def version_text(exchange: Exchange, registry: Registry) -> Answer:
    deleted, form = exchange.flag("deleted"), exchange.text("format")
    return bare(registry.version(exchange.subject, exchange.version, deleted=deleted, form=form).schema.text)


def referenced_by(exchange: Exchange, registry: Registry) -> Answer:
    page, deleted = exchange.page(SCHEMAS_PER_PAGE), exchange.flag("deleted")
    return told(registry.referenced_by(exchange.subject, exchange.version, deleted=deleted, page=page))


def metadata(exchange: Exchange, registry: Registry) -> Answer:
    pairs = list(zip(exchange.texts("key"), exchange.texts("value"), strict=False))
    deleted, form = exchange.flag("deleted"), exchange.text("format")
    return told(answers.entity(registry.find_by_metadata(exchange.subject, pairs, deleted=deleted, form=form)))


def delete_version(exchange: Exchange, registry: Registry) -> Answer:
    answer = told(registry.delete_version(exchange.subject, exchange.version, permanent=exchange.flag("permanent")))
    answer.deleted = 1
    return answer


def delete_subject(exchange: Exchange, registry: Registry) -> Answer:
    versions = registry.delete_subject(exchange.subject, permanent=exchange.flag("permanent"))
    answer = told(versions)
    answer.deleted = len(versions)
    return answer
