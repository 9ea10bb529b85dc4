"""Prepared states, and the verbs that are attacked in them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sigla.model import (
    GLOBAL,
    LATEST,
    BodyKey,
    Draft,
    Entity,
    Metadata,
    OfferedReference,
    Page,
    Rule,
    RuleSet,
    SchemaId,
    Search,
    Show,
    Subject,
    Tagged,
    TagRequest,
    Version,
)
from sigla.registry import Registry
from sigla.registry.steps.numbering import Occupied, check_clear, continue_after
from sigla.rules import names
from tests.attack.importer import Had, bring, buried, displaced, listed
from tests.attack.keys import (
    KEYS,
    dek,
    deks_deleted,
    deks_purged,
    deks_undeleted,
    kek,
    kek_deleted,
    kek_patched,
    kek_purged,
    kek_undeleted,
)
from tests.attack.world import Verb

BASE = '{"type":"record","name":"Base","fields":[{"name":"a","type":"int"}]}'
ONE = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"}]}'
TWO = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":0}]}'
THREE = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"},{"name":"c","type":"int","default":0}]}'
USING = '{"type":"record","name":"Using","fields":[{"name":"base","type":"Base"}]}'
UGLY = '{ "name": "Order", "type": "record", "doc": "d", "fields": [ {"type": {"type": "int"}, "name": "a"} ] }'

RULES = RuleSet(domain=(Rule(name="r", type="CEL", expr="true"),))


@dataclass(frozen=True)
class Story:
    """A verb in a state. `before` are verbs too, run in order on a fresh registry.

    imported: one content may have several ids in this state. piecewise: the verb promises each commit alone, not all.
    """

    verb: Verb
    before: tuple[Verb, ...] = ()
    imported: bool = False
    piecewise: bool = False


def register(subject: str, text: str | None = ONE, *uses: str | tuple[str, int], **fields: Any) -> Verb:
    """Registers a text; `uses` are subjects whose schema it references under the name Base."""
    references = tuple(
        OfferedReference("Base", each, 1) if isinstance(each, str) else OfferedReference("Base", *each) for each in uses
    )
    options = {key: fields.pop(key) for key in ("normalize", "force") if key in fields}
    draft = Draft(text, references=references, **fields)
    return lambda registry: registry.register(names.subject(subject), draft, **options)


def said(**properties: str) -> Metadata:
    return Metadata(properties=properties)


def delete(subject: str, version: int | None = None, *, permanent: bool = False) -> Verb:
    """Deletes a version, or the whole subject."""
    name = names.subject(subject)
    if version is None:
        return lambda registry: registry.delete_subject(name, permanent=permanent)
    return lambda registry: registry.delete_version(name, Version(version), permanent=permanent)


def purge(subject: str, version: int | None = None) -> Verb:
    return delete(subject, version, permanent=True)


def config(scope: str, **patch: Any) -> Verb:
    return lambda registry: registry.change_config(names.subject(scope), patch)


def mode(scope: str, wanted: str | None, *, force: bool = False) -> Verb:
    return lambda registry: registry.change_mode(names.subject(scope), wanted, force=force)


def on(verb: Callable[..., Any], subject: str, *args: Any, **kwargs: Any) -> Verb:
    """Any other verb of a subject or scope: `on(Registry.version, "orders", Version(1))`."""
    return lambda registry: verb(registry, names.subject(subject), *args, **kwargs)


def drop_context(context: str) -> Verb:
    return lambda registry: registry.drop_context(context)


def go_on(context: str, after: int) -> Verb:
    """Has the ids of a context go on after a number, as `sigla ids --continue-after` does: not where one is taken.

    Where they went on before is another answer the second time, so it is left out.
    """

    def verb(registry: Registry) -> None:
        with suppress(Occupied):
            check_clear(registry.catalog, registry.bodies, BodyKey(context, SchemaId(after)))
            continue_after(registry, context, SchemaId(after))

    return verb


def tag(subject: str, version: str, **request: Any) -> Verb:
    return lambda registry: registry.tag(names.subject(subject), version, TagRequest(**request))


PII = (Tagged(Entity("Order.a", "sr_field"), ("PII",)),)
PAGE = Page()

HISTORY = (register("orders", ONE), register("orders", TWO))
USED = (register("base", BASE), register("using", USING, "base"))
DELETED = (*HISTORY, delete("orders"))
IMPORTING = (*HISTORY, mode(":.c:", "IMPORT"), register(":.c:orders", ONE, id=7, version=3))
SETTINGS = (
    config(":.c:", level="FULL"),
    mode(":.c:", "READONLY"),
    mode(":.c:a", "READONLY"),
    mode(":.c:b", "READWRITE"),
)

WRITES: dict[str, Story] = {
    "the first schema": Story(register("orders")),
    "the first schema of a context": Story(register(":.c:orders"), HISTORY),
    "a second version": Story(register("orders", TWO), (register("orders", ONE),)),
    "a known schema": Story(register("orders", ONE), HISTORY),
    "a known schema in other words": Story(register("orders", UGLY, normalize=True), HISTORY),
    "a schema known elsewhere": Story(register("other", ONE), HISTORY),
    "a schema with a reference": Story(register("using", USING, "base"), (register("base", BASE),)),
    "a schema with a reference into another context": Story(
        register(":.c:using", USING, ":.d:base"), (register(":.d:base", BASE),)
    ),
    "metadata alone": Story(register("orders", None, metadata=said(owner="a")), HISTORY),
    "rules alone": Story(register("orders", "", rule_set=RULES), HISTORY),
    "a stamped version": Story(register("orders", ONE, version=3), HISTORY),
    "against all versions": Story(register("orders", THREE), (*HISTORY, config("", level="FULL_TRANSITIVE"))),
    "by an alias": Story(register("alias", TWO), (register("orders", ONE), config("alias", alias="orders"))),
    "what was deleted": Story(register("orders", TWO), DELETED),
    "what was deleted, in part": Story(register("orders", TWO), (*HISTORY, delete("orders", 2))),
    "what was gone": Story(register("orders", ONE), (*DELETED, purge("orders"))),
    "an import": Story(register(":.c:orders", TWO, id=9, version=5), IMPORTING, imported=True),
    "an import over a version": Story(register(":.c:orders", TWO, id=9, version=3), IMPORTING, imported=True),
    "an import under a second id": Story(register(":.c:other", ONE, id=9), IMPORTING, imported=True),
    "an import of what was gone": Story(
        register(":.c:other", ONE, id=7), (*IMPORTING, delete(":.c:orders", 3), purge(":.c:orders", 3)), imported=True
    ),
    "several versions brought": Story(
        bring(
            ":.c:orders", Had(2, 7, ONE, deleted=True), Had(4, 3, TWO), Had(9, 7, ONE), Had(8, 5, THREE, deleted=True)
        ),
        HISTORY,
        imported=True,
    ),
    "versions brought to a subject that has some": Story(
        bring("orders", Had(1, 1, ONE), Had(4, 1, ONE), Had(3, 8, THREE)), HISTORY, imported=True
    ),
    "versions brought with references": Story(
        bring("orders", Had(1, 5, BASE), Had(2, 6, USING, "base"), Had(3, 9, USING, "orders")),
        (register("base", BASE),),
        imported=True,
    ),
    "versions brought of what was gone": Story(
        bring("orders", Had(1, 1, ONE), Had(2, 2, TWO, deleted=True)), (*DELETED, purge("orders")), imported=True
    ),
    "an id brought whose version was written over": Story(
        displaced("orders", Had(1, 9, THREE)), HISTORY, imported=True
    ),
    "an id brought whose version was deleted": Story(buried("orders", Had(3, 9, THREE)), HISTORY, imported=True),
    "ids that go on elsewhere": Story(go_on(".", 40), HISTORY),
    "a context listed": Story(listed(".c"), HISTORY),
    "tags": Story(tag("orders", "latest", add=PII), HISTORY),
    "rules by the tags' door": Story(
        tag("orders", "latest", rules_to_merge=RULES, rules_to_remove=("x",)),
        (register("orders", ONE, rule_set=RuleSet(domain=(Rule(name="x", type="CEL"),))),),
    ),
    "a soft delete": Story(delete("orders", 1), HISTORY),
    "a soft delete of the latest": Story(delete("orders", LATEST), HISTORY),
    "a permanent delete": Story(purge("orders", 1), (*HISTORY, delete("orders", 1))),
    "a permanent delete of the last version": Story(
        purge("orders", 1), (register("orders"), config("orders", level="FULL"), delete("orders", 1))
    ),
    "a permanent delete of an id in use": Story(purge("orders", 1), (*HISTORY, register("x"), delete("orders", 1))),
    "a permanent delete of a referrer": Story(purge("using", 1), (*USED, delete("using", 1))),
    "a soft delete of a subject": Story(delete("orders"), HISTORY),
    "a permanent delete of a subject": Story(purge("orders"), (*DELETED, config("orders", level="FULL"))),
    "a config": Story(config("orders", level="full", group="g"), (config("orders", alias="x", level="NONE"),)),
    "a global config": Story(config("", default_metadata=said(owner="a")), HISTORY),
    "a config dropped": Story(on(Registry.drop_config, "orders"), (config("orders", level="NONE"),)),
    "a mode": Story(mode("orders", "readonly"), HISTORY),
    "a mode removed": Story(mode("orders", None), (mode("orders", "READONLY"),)),
    "a mode dropped": Story(on(Registry.drop_mode, "orders"), (mode("orders", "READONLY"),)),
    "modes dropped below a context": Story(on(Registry.drop_mode, ":.c:", recursive=True), SETTINGS, piecewise=True),
    "import of a subject": Story(mode("orders", "IMPORT"), DELETED),
    "import of everything": Story(mode("", "IMPORT"), (*DELETED, register(":.c:x"), delete(":.c:x"))),
    "import by force": Story(mode(":.c:", "IMPORT", force=True), (register(":.c:orders"),)),
    "a context dropped": Story(drop_context(".c"), (register(":.c:x"), delete(":.c:x"), purge(":.c:x"))),
}

WRITES |= {
    "a KEK": Story(kek("k")),
    "an update of a KEK": Story(kek_patched("k", doc="d"), KEYS),
    "a soft delete of a KEK": Story(kek_deleted("k"), (kek("k"),)),
    "a permanent delete of a KEK": Story(kek_purged("k"), (kek("k"), kek_deleted("k"))),
    "a KEK undeleted": Story(kek_undeleted("k"), (kek("k"), kek_deleted("k"))),
    "a DEK": Story(dek("k", "s"), (kek("k"),)),
    "a DEK wrapped anew": Story(dek("k", "s", material="new", rewrap=True), KEYS),
    "a soft delete of DEKs": Story(deks_deleted("k", "s"), KEYS),
    "a permanent delete of DEKs": Story(deks_purged("k", "s"), (*KEYS, deks_deleted("k", "s"))),
    "DEKs undeleted": Story(deks_undeleted("k", "s"), (*KEYS, deks_deleted("k", "s"))),
}
"""KEKs and DEKs."""

READS: dict[str, Story] = {
    "a lookup": Story(on(Registry.lookup, "orders", Draft(UGLY), normalize=True), HISTORY),
    "a lookup in a namesake": Story(on(Registry.lookup, "orders", Draft(ONE)), (register(":.c:orders"),)),
    "a check": Story(
        on(Registry.check, "orders", Draft(BASE)), (*HISTORY, config("orders", level="BACKWARD_TRANSITIVE"))
    ),
    "by id": Story(lambda registry: registry.schema_by_id(SchemaId(1)), HISTORY),
    "by id, resolved": Story(lambda registry: registry.schema_by_id(SchemaId(2), form="resolved"), USED),
    "by version": Story(on(Registry.version, "orders", LATEST), HISTORY),
    "by guid": Story(lambda r: r.schema_by_guid("095d71cf-1255-6b9d-5e33-0ad575b3df5d"), (register("s", '"string"'),)),
    "by metadata": Story(
        on(Registry.find_by_metadata, "orders", [("k", "v")]), (register("orders", metadata=said(k="v")),)
    ),
    "who holds an id": Story(lambda r: r.holders_of(SchemaId(1), subject=None, deleted=True, page=PAGE), HISTORY),
    "schemas": Story(lambda registry: registry.schemas(Search(context=None), page=PAGE), USED),
    "subjects": Story(lambda registry: registry.subjects(Search(context=None), show=Show.ALL, page=PAGE), USED),
    "versions": Story(on(Registry.versions, "orders", page=PAGE), HISTORY),
    "a history": Story(
        lambda registry: [told.matters for told in registry.subject_history(subject("orders"), page=PAGE)], HISTORY
    ),
    "referrers": Story(on(Registry.referenced_by, "base", Version(1), deleted=True, page=PAGE), USED),
    "the config in force": Story(on(Registry.config, "orders", default_to_global=True), (config("", level="FULL"),)),
    "the global mode": Story(lambda registry: registry.mode(GLOBAL), (mode("", "READONLY"),)),
    "the contexts": Story(lambda registry: registry.contexts(page=PAGE), (register(":.c:x"),)),
    "a schema that is refused": Story(register("orders", '"string"'), HISTORY),
    "a text that is no schema": Story(register("orders", "{"), HISTORY),
    "a delete that is refused": Story(delete("base", 1), USED),
    "nothing to delete": Story(delete("nobody"), HISTORY),
    "a context in use": Story(drop_context(".c"), (register(":.c:x"),)),
    "import where something lives": Story(mode("", "IMPORT"), HISTORY),
    "a write where none is allowed": Story(register("orders", THREE), (*HISTORY, mode("orders", "READONLY"))),
}


def subject(text: str) -> Subject:
    return names.subject(text)
