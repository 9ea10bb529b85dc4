"""A registry with everything that can be seen of it, in a form that two worlds can be compared by."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self

from sigla import records
from sigla.associations import records as association_records
from sigla.changes import Author
from sigla.errors import BodyMissing, Refusal
from sigla.exporters import records as exporter_records
from sigla.exporters.verbs.asking import secret_settings
from sigla.journal import SIGLA, buried_ids
from sigla.journal.subject_histories import subjects_of
from sigla.keks.nouns import Dek, Kek, ListedDek
from sigla.keks.records import dek_key, dek_value, kek_key, kek_value
from sigla.keks.verbs.deks import ShownDek
from sigla.model import (
    Body,
    BodyKey,
    Draft,
    OfferedReference,
    Page,
    Record,
    Row,
    Schema,
    SchemaId,
    Search,
    Subject,
)
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.journal import Journal
from sigla.ports.principals import Principals
from sigla.ports.secrets import Secrets
from sigla.registry import Options, Registry
from sigla.registry.attributed import attributed
from sigla.rules.guid import guid_of
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.ports import Between, client, watched
from tests.build import FixedClock

AUTHOR = Author("orders-team", "api", "request-1", "192.0.2.1")
"""The author of all that happens in a world."""

EVERYTHING = Search(context=None)
EVERY_PAGE = Page()

Verb = Callable[[Registry], Any]
Rows = Sequence[tuple[Subject, Row]]


class Store(Protocol):
    """What an adapter brings: the ports over one fresh set of data, and how a `Between` comes before them.

    watched: adapters that share nothing with the others but the data. check: that its own rows agree with each other,
    once what may be done later is done.
    """

    @property
    def catalog(self) -> Catalog: ...
    @property
    def bodies(self) -> Bodies: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def secrets(self) -> Secrets: ...
    @property
    def principals(self) -> Principals: ...
    def watched(self, between: Between) -> tuple[Catalog, Bodies]: ...
    def watched_secrets(self, between: Between) -> Secrets: ...
    def check(self) -> None: ...
    def close(self) -> None: ...


class Embedded(EmbeddedStore):
    """In memory."""

    def watched(self, between: Between) -> tuple[Catalog, Bodies]:
        return watched(self.catalog, self.bodies, between)

    def watched_secrets(self, between: Between) -> Secrets:
        secrets: Secrets = client("secrets", self.secrets, between)
        return secrets

    def check(self) -> None:
        """Nothing is left for later, and all of it can be seen."""


Fresh = Callable[[], Store]
"""Makes a store with nothing in it."""


class World:
    """A fresh registry and its clock, in the state that some verbs left it in."""

    def __init__(self, *verbs: Verb, store: Store | None = None) -> None:
        self.store: Store = store or Embedded()
        self.clock = FixedClock()
        self.registry = self.registry_with()
        for verb in verbs:
            verb(self.registry)

    def registry_with(self, between: Between | None = None, options: Options | None = None) -> Registry:
        catalog, bodies = self.store.watched(between) if between else (self.store.catalog, self.store.bodies)
        secrets = self.store.watched_secrets(between) if between else self.store.secrets
        registry = Registry(catalog, bodies, self.clock, options or Options(), secrets=secrets)
        return attributed(registry, AUTHOR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    # --- what can be seen --------------------------------------------------------------------------------------------

    def rows(self) -> list[tuple[Subject, Row]]:
        return list(self.store.catalog.versions(EVERYTHING, deleted=True, latest_only=False))

    def contexts(self) -> list[str]:
        return self.registry.contexts(page=EVERY_PAGE)

    def ids(self, rows: Rows | None = None) -> dict[BodyKey, int]:
        """Every id that is held, numbered as one meets it: who shares an id, and nothing about the numbers."""
        found: dict[BodyKey, int] = {}
        for subject, row in self.rows() if rows is None else rows:
            found.setdefault(BodyKey(subject.context, row.id), len(found))
        return found

    def picture(self) -> dict[str, Any]:
        """All that clients can read, with ids as places (`ids`) and without times."""
        catalog, rows = self.store.catalog, self.rows()
        ids = self.ids(rows)
        return {
            "contexts": self.contexts(),
            "settings": [(str(scope), s.config, s.mode) for scope, s in catalog.settings(EVERYTHING)],
            "versions": [
                (str(s), row.version, ids[BodyKey(s.context, row.id)], row.guid, row.type, row.references, row.deleted)
                for s, row in rows
            ],
            "ids": [(key.context, place, self._meaning(key)) for key, place in ids.items()],
            "displaced": [(key, self._meaning(key)) for key in self.numbers() if catalog.displaced(key)],
            "buried": sorted(buried_ids(row for _, row in self.store.journal.read())),
            "referrers": [
                (str(s), version, str(referrer.subject), referrer.version, referrer.deleted)
                for s in dict.fromkeys(subject for subject, _ in rows)
                for version, referrer in catalog.referrers(s)
            ],
            "keks": [without_times(kek) for kek in catalog.keks()],
            "deks": [without_times(dek) for dek in self.deks()],
            "associations": [
                (str(one.subject), one.resource, one.type, one.lifecycle) for one in catalog.associations_named()
            ],
            "exporters": self._exporters(),
        }

    def _exporters(self) -> list[tuple[Any, ...]]:
        """Each with its state, and with the credentials by which it enters its destination."""
        found = []
        for one in self.store.catalog.exporters():
            progress = self.store.catalog.progress(one.name)
            secrets = secret_settings(self.store.secrets, one)
            assert tuple(sorted(secrets)) == one.hidden, f"{one.name} names credentials that are not there"
            plain = replace(one, ts=0, revision="", credentials="")
            found.append((plain, dict(secrets), progress and (progress.state, progress.position)))
        return found

    def deks(self) -> list[Dek]:
        """Those under every KEK that is told of, also where that is gone."""
        told = {
            *(kek.name for kek in self.store.catalog.keks()),
            *(dek.kek for dek in self.store.catalog.deks_listed()),
        }
        found = (dek for kek in sorted(told) for dek in self.store.catalog.deks(kek))
        return sorted(found, key=lambda dek: (dek.kek, dek.subject, dek.algorithm.value, dek.version))

    def _meaning(self, key: BodyKey) -> tuple[Any, ...]:
        record = self.registry.schema_by_id(key.id, subject=Subject(key.context, ""))
        return record.schema, str(record.subject), record.version, record.deleted

    def numbers(self) -> list[BodyKey]:
        """Every id up to the last that has a body, in every context the journal speaks of."""
        entries = (entry for _, row in self.store.journal.read() for entry in _entries(row))
        contexts = dict.fromkeys(entry["context"] for entry in entries if "context" in entry)
        last = self.store.bodies.last
        return [BodyKey(context, SchemaId(id)) for context in contexts for id in range(1, last(context) + 1)]

    def meanings(self) -> dict[BodyKey, Schema]:
        """What every id means that ever had a body."""
        found = {}
        for key in self.numbers():
            try:
                found[key] = self.store.bodies.get(key).schema
            except BodyMissing:
                continue
        return found

    # --- what must always hold ---------------------------------------------------------------------------------------

    def check_sound(self, *, imported: bool = False) -> None:
        """Catalog, bodies and journal tell one story. imported: one content may have several ids."""
        rows = self.rows()
        keys = list(dict.fromkeys(BodyKey(subject.context, row.id) for subject, row in rows))
        bodies = dict(zip(keys, self.store.bodies.get_many(keys), strict=True))
        self._check_versions(rows, bodies, imported=imported)
        self._check_references(rows, bodies)
        self._check_keys()
        self._check_associations()
        assert self.replayed() == self.catalogued(rows), "the journal tells another story than the catalog"
        self._check_authors()
        self._check_histories()
        if not imported:
            self._check_one_id(rows)

    def _check_versions(self, rows: Rows, bodies: Mapping[BodyKey, Body], *, imported: bool) -> None:
        catalog = self.store.catalog
        snapshots = {subject: catalog.snapshot(subject) for subject, _ in rows}
        contents = {(subject.context, row.guid) for subject, row in rows}
        found = {content for content in contents if catalog.id_of(*content) is not None}
        assert found == contents, f"not found by content: {contents - found}"
        for subject, row in rows:
            body, snapshot = bodies[BodyKey(subject.context, row.id)], snapshots[subject]
            assert guid_of(body.schema) == body.guid == row.guid, f"{subject} {row} means something else: {body}"
            assert (body.schema.type, body.schema.references) == (row.type, row.references)
            assert not body.gone, f"{subject} {row} is told by a tombstone"
            assert row.version <= snapshot.head.highest
            # An import may overwrite what a stored schema references, and an alias leads lookups elsewhere.
            own = snapshot.chain.own.config
            if not imported and not (own and own.alias):
                record = self.registry.lookup(subject, draft_of(body.schema), deleted=True)
                assert record.version == row.version or not row.deleted or record.guid == row.guid

    def _check_authors(self) -> None:
        """Every row says who asked for it, and the name behind that is kept."""
        kept = {each.token for each in self.store.principals.names(self.clock.now())}
        said = {row.get("by") for _, row in self.store.journal.read()}
        assert said <= kept | {SIGLA}, f"{said} are not known: {kept}"

    def _check_histories(self) -> None:
        """Each subject has what the journal tells of it, and nothing else."""
        told = {(str(row["nonce"]), one) for _, row in self.store.journal.read() for one in subjects_of(row)}
        found = {(entry.nonce, one) for _, one in told for entry in self.store.catalog.commits_about(one)}
        assert found == told, f"histories and journal differ by {found ^ told}"

    def _check_references(self, rows: Rows, bodies: Mapping[BodyKey, Body]) -> None:
        catalog = self.store.catalog
        for subject, row in rows:
            body = bodies[BodyKey(subject.context, row.id)]
            for target in body.targets:
                referred = catalog.referrers(Subject(target.context, target.subject), target.version)
                holders = {(each.subject, each.version) for _, each in referred}
                assert (subject, row.version) in holders, f"{target} does not know {subject} {row.version}"

    def _check_keys(self) -> None:
        """No DEK without its KEK; each KEK knows how many there are, and lists tell them all."""
        deks = self.deks()
        for kek in self.store.catalog.keks():
            under = [dek for dek in deks if dek.kek == kek.name]
            counted = self.store.catalog.deks_counted(kek.name)
            assert counted == (len(under), sum(not dek.deleted for dek in under))
        assert {dek.kek for dek in deks} <= {kek.name for kek in self.store.catalog.keks()}
        assert set(self.store.catalog.deks_listed()) == {ListedDek(dek.kek, dek.subject, dek.deleted) for dek in deks}

    def _check_associations(self) -> None:
        """Each has an active version of its subject, each subject knows how many it has, and each question finds them.

        A strong one has its subject for itself.
        """
        catalog = self.store.catalog
        listed = tuple(catalog.associations_named())
        for one in listed:
            of_subject = catalog.associations_of_subject(one.subject)
            head = catalog.snapshot(one.subject).head
            assert head.newest is not None, f"{one} has no subject"
            assert (head.associations, head.strong) == (len(of_subject), one.strong)
            assert one in of_subject
            assert one in catalog.associations_of_resource(one.resource.id)
            assert one in catalog.associations_named(one.resource.name, one.resource.namespace)
            if one.strong:
                assert of_subject == (one,)
                assert not list(catalog.referrers(one.subject)), f"{one.subject} is referenced"
        if listed:  # a world without any is asked no more than before
            told = {one.guid for subject, _ in self.rows() for one in catalog.associations_of_subject(subject)}
            assert told == {one.guid for one in listed}

    def _check_one_id(self, rows: Rows) -> None:
        held: dict[tuple[str, str], set[int]] = defaultdict(set)
        for subject, row in rows:
            held[subject.context, row.guid].add(row.id)
        assert all(len(ids) == 1 for ids in held.values()), f"one content, several ids: {held}"

    def replayed(self) -> dict[str, Any]:
        """What the journal's rows add up to."""
        versions: dict[tuple[str, int], tuple[int, bool]] = {}
        configs: dict[str, Any] = {}
        modes: dict[str, str] = {}
        contexts: set[str] = set()
        keys: dict[str, Any] = {}
        associations: dict[str, Any] = {}
        for _, row in self.store.journal.read():
            for entry in _entries(row):
                if entry["type"] in ("KEK", "DEK", "EXPORTER"):
                    _put(keys, str(entry["key"]), entry["value"])
                    continue
                name = str(Subject(entry["context"], entry.get("name", "")))
                match entry["type"]:
                    case "SCHEMA" if entry["id"] is None:
                        versions.pop((name, entry["version"]), None)
                    case "SCHEMA":
                        versions[name, entry["version"]] = entry["id"], entry["deleted"]
                    case "DELETE_SUBJECT":
                        for (subject, version), (id, _) in list(versions.items()):
                            if subject == name and version <= entry["version"]:
                                versions[subject, version] = id, True
                    case "CONFIG":
                        _put(configs, name, entry["config"] and records.config(entry["config"]))
                    case "MODE":
                        _put(modes, name, entry["mode"])
                    case "ASSOC":
                        _put(associations, str(entry["key"]), entry["association"])
                    case "CONTEXT":
                        (contexts.add if entry["listed"] else contexts.discard)(entry["context"])
        return {
            "versions": versions,
            "configs": configs,
            "modes": modes,
            "contexts": contexts,
            "keys": keys,
            "associations": associations,
        }

    def catalogued(self, rows: Rows) -> dict[str, Any]:
        """The same of the catalog."""
        settings = list(self.store.catalog.settings(EVERYTHING))
        return {
            "versions": {(str(subject), row.version): (row.id, row.deleted) for subject, row in rows},
            "configs": {str(scope): s.config for scope, s in settings if s.config is not None},
            "modes": {str(scope): s.mode for scope, s in settings if s.mode is not None},
            "contexts": set(self.store.catalog.contexts()),
            "keys": {str(kek_key(kek.name)): kek_value(kek) for kek in self.store.catalog.keks()}
            | {str(dek_key(dek)): dek_value(dek) for dek in self.deks()}
            | {
                str(exporter_records.exporter_key(one.name)): exporter_records.exporter_value(one)
                for one in self.store.catalog.exporters()
            },
            "associations": {
                str(association_records.key(one)): association_records.value(one)
                for one in self.store.catalog.associations_named()
            },
        }


def _entries(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(row["entries"])


def _put(entries: dict[str, Any], name: str, value: object) -> None:
    if value is None:
        entries.pop(name, None)
    else:
        entries[name] = value


def draft_of(schema: Schema) -> Draft:
    """What a client would send to find this schema again."""
    references = tuple(OfferedReference(ref.name, ref.subject, ref.version) for ref in schema.references)
    return Draft(schema.text, schema.type, references, schema.metadata, schema.rule_set)


def outcome(world: World, verb: Verb, registry: Registry | None = None) -> Any:
    """What a client is answered, comparable between worlds: ids as places, refusals by name."""
    try:
        return shown(world, verb(registry or world.registry))
    except Refusal as refusal:
        if refusal.code >= 50_000:
            raise
        return type(refusal).__name__, refusal.message


def shown(world: World, answer: Any) -> Any:
    """An answer with ids as places and without times."""
    if isinstance(answer, Kek):
        return without_times(answer)
    if isinstance(answer, ShownDek):
        return without_times(answer.dek)
    if not isinstance(answer, Record):
        return answer
    place = None
    if answer.subject is not None and answer.id is not None:
        place = world.ids().get(BodyKey(answer.subject.context, answer.id), f"{answer.id} is not held")
    return answer.schema, str(answer.subject), answer.version, place, answer.guid


def without_times(key: Kek | Dek) -> Kek | Dek:
    """A key without the marks of its last commit."""
    return replace(key, ts=0, revision="")
