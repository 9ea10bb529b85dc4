"""`POST /subjects/{subject}/versions`: ask once, decide purely, commit once (REG-1 to REG-15)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sigla.errors import Conflict, EmptySchema, IdTaken, Incompatible, InvalidSchema, Malformed, Taken
from sigla.model import (
    Body,
    BodyKey,
    Config,
    Draft,
    Guid,
    OfferedReference,
    Record,
    Row,
    Schema,
    SchemaId,
    Subject,
    Tagged,
    Target,
    Version,
)
from sigla.ports import Head, Registered
from sigla.registry import match, parsing
from sigla.registry.check import messages
from sigla.registry.committing import commit, nonce, until_committed
from sigla.registry.match import Match
from sigla.registry.parsing import Offered
from sigla.registry.rendering import rendered
from sigla.registry.stores import Stores, View
from sigla.rules import names, rule_sets
from sigla.rules.guid import guid_of
from sigla.rules.merge import VERSION_STAMP, stamped
from sigla.rules.settings import IMPORTING_MODES, fills_in
from sigla.rules.subject import check_registrable, next_version


def register(
    stores: Stores, subject: Subject, draft: Draft, *, normalize: bool = False, force: bool = False, form: str = ""
) -> Record:
    """The version that the draft is or becomes.

    force: skip the compatibility check. form: another form of the answer's text.

    Raises InvalidRuleSet, InvalidSubject, InvalidSchema and its kin, OperationNotPermitted and its kin, Incompatible,
    VersionOutOfOrder, TimedOut.
    """
    parsing.check_form(form)
    work = _Registration(stores, subject, lambda: (draft, None), normalize=normalize, force=force)
    record, parsed = until_committed(stores, "Register operation", work.attempt)
    return rendered(stores, record, form, parsed)


def register_derived(stores: Stores, subject: Subject, derive: "Derive") -> Record:
    """The version that a draft made from the subject itself becomes: made anew in each attempt."""
    record, _ = until_committed(stores, "Register operation", _Registration(stores, subject, derive).attempt)
    return record


Derive = Callable[[], tuple[Draft, Head | None]]
"""Makes a draft, and says from which state of the subject; None if the draft does not rest on it."""


@dataclass(slots=True)
class _Registration:
    """One registration, which may take several attempts. `drawn` keeps ids and bodies that a lost race would waste."""

    stores: Stores
    subject: Subject
    derive: Derive
    normalize: bool = False
    force: bool = False
    drawn: dict[tuple[str, Guid, tuple[Target, ...]], SchemaId] = field(default_factory=dict)

    def attempt(self) -> tuple[Record, Offered | None]:
        draft, seen = self.derive()
        rule_sets.validate(draft.rule_set)
        view = self.stores.ask(self.subject, references=draft.references, guess=_guess(draft))
        _check_unmoved(seen, view)
        names.check_registrable(view.subject)
        normalize = self.normalize or bool(view.config.normalize)
        offered: Offered | None = None
        refusal: InvalidSchema | None = None
        if not _is_derived(draft, view.config) and not parsing.is_blank(draft.text):
            offered, refusal = _understood(self.stores, view, draft, normalize=normalize)
            if existing := _existing(self.stores, view, draft, offered):
                return existing, offered
        draft = _with_tags(self.stores, view, draft)
        check_registrable(view.subject, view.mode, with_id=_brings_id(draft))
        importing = view.mode in IMPORTING_MODES
        if refusal is not None:
            raise refusal
        if parsing.is_blank(draft.text):
            draft = _cloned(self.stores, view, draft)
            view = _with_references(self.stores, view, draft)
        if offered is None or (importing and normalize):
            # An import is stored as it comes, never normalised.
            offered = _offer(self.stores, view, draft, normalize=normalize and not importing)
        if not importing:
            offered = _described(self.stores, view, draft, offered)
        return self._place(view, draft, offered, importing=importing), offered

    def _place(self, view: View, draft: Draft, offered: Offered, *, importing: bool) -> Record:
        """Finds the content its id and its version, and commits."""
        stores, context = self.stores, view.subject.context
        known = stores.id_of(view, offered.guid)
        if known is not None and _brings_id(draft) and known != draft.id:
            known = None
        if not draft.version and (same := _same_version(stores, view, draft, offered, known)):
            return same
        if not (importing or self.force):
            _check_compatible(stores, view, offered)
        version = next_version(view.head.highest, draft.version, importing=importing)
        if known is not None:
            schema_id = known
            self._check_content(BodyKey(context, known), offered.schema)
        elif _brings_id(draft):
            schema_id = self._import_id(view, offered, SchemaId(draft.id or 0), version)
        else:
            schema_id = self._draw_id(view, offered, version)
        # A number just drawn has no versions to supersede.
        reused = known is not None or _brings_id(draft)
        purged = tuple(_superseded(stores, view, schema_id, version)) if reused else ()
        self._commit(view, offered, schema_id, version, purged=purged, imported=importing)
        return Record(offered.schema, offered.guid, view.subject, version, schema_id)

    def _check_content(self, key: BodyKey, schema: Schema) -> None:
        """Equal content hashes may hide different types (HQ-1): an id means one thing."""
        if self.stores.bodies.get(key).schema != schema:
            raise IdTaken(id=key.id, context=names.delimited(key.context))

    def _draw_id(self, view: View, offered: Offered, version: Version) -> SchemaId:
        """A new id with its body in place.

        An orphan of a write that never committed is adopted if it has our content. An id that means something else was
        used before (a table restored behind its bucket): then the next one is past the last body.
        """
        context = view.subject.context
        drawn = context, offered.guid, offered.targets
        if drawn in self.drawn:
            return self.drawn[drawn]
        while True:
            key = BodyKey(context, self.stores.catalog.next_id(context))
            try:
                self.stores.bodies.put(key, self._body(view, offered, version))
            except Taken as taken:
                if taken.standing.gone or _means_other(taken.standing, offered):
                    self.stores.catalog.raise_counter(context, self.stores.bodies.last(context))
                    continue
            self.drawn[drawn] = key.id
            return key.id

    def _import_id(self, view: View, offered: Offered, schema_id: SchemaId, version: Version) -> SchemaId:
        """An id brought along: free, or of the very same content; a tombstone of the same content lives again."""
        key = BodyKey(view.subject.context, schema_id)
        body = self._body(view, offered, version)
        try:
            self.stores.bodies.put(key, body)
        except Taken as taken:
            if taken.standing.schema != offered.schema:
                raise IdTaken(id=schema_id, context=names.delimited(key.context)) from None
            if taken.standing.gone:
                # What its references resolved to is part of what the id has always meant.
                self.stores.bodies.revive(key, replace(body, targets=taken.standing.targets))
        # Importing id 0 uses up number 1 as well; so the reference counts (REG-11).
        self.stores.catalog.raise_counter(key.context, max(schema_id, SchemaId(1)))
        return schema_id

    def _body(self, view: View, offered: Offered, version: Version) -> Body:
        now = self.stores.clock.now()
        return Body(offered.schema, offered.guid, offered.targets, view.subject, version, now, nonce())

    def _commit(
        self,
        view: View,
        offered: Offered,
        schema_id: SchemaId,
        version: Version,
        *,
        purged: tuple[Row, ...],
        imported: bool,
    ) -> None:
        stores, head = self.stores, view.head
        ts = stores.clock.now()
        schema = offered.schema
        row = Row(
            version,
            schema_id,
            offered.guid,
            schema.type,
            schema.references,
            deleted=False,
            ts=ts,
            revision=head.revision + 1,
        )
        change = Registered(
            head,
            row,
            ts,
            nonce(),
            purged=purged,
            targets=offered.targets,
            seen=_seen(view, offered.targets),
            digests=(offered.language.digest(offered.parsed),),
            imported=imported,
        )
        commit(stores, change)


def _guess(draft: Draft) -> Guid | None:
    """The content hash, should the text be canonical already and nothing be merged in.

    Then the question asked first suffices.
    """
    if draft.text is None or draft.references:
        return None
    return guid_of(Schema(draft.type, draft.text, (), draft.metadata, draft.rule_set))


def _check_unmoved(seen: Head | None, view: View) -> None:
    """What a draft was made from must still be so, or it would bring back what somebody has changed since."""
    if seen is not None and (seen.subject, seen.revision) != (view.head.subject, view.head.revision):
        raise Conflict


def _with_references(stores: Stores, view: View, draft: Draft) -> View:
    """The view, asked with the draft's references as well."""
    if not draft.references:
        return view
    again = stores.look(view.subject, references=draft.references)
    _check_unmoved(view.head, again)
    return again


def _means_other(standing: Body, offered: Offered) -> bool:
    """Equal text may mean other things: a reference's number can be given anew after a permanent delete."""
    return (standing.schema, standing.targets) != (offered.schema, offered.targets)


def _brings_id(draft: Draft) -> bool:
    return draft.id is not None and draft.id >= 0


def _is_derived(draft: Draft, config: Config) -> bool:
    """Whether more is stored than was sent, so that an existing version cannot be told beforehand (REG-1)."""
    return bool(draft.tags_to_add or draft.tags_to_remove or draft.propagate_tags) or fills_in(config)


def _validates_as_new(draft: Draft, config: Config) -> bool:
    return not _brings_id(draft) and config.validate_new_schemas is not False


def _understood(stores: Stores, view: View, draft: Draft, *, normalize: bool) -> tuple[Offered, InvalidSchema | None]:
    """The draft as the pre-check sees it: lenient. With it the refusal that a new schema of this text will meet."""

    def parse(*, strict: bool) -> Offered:
        offered = parsing.understand(
            stores, view, draft.text, draft.type, draft.references, strict=strict, normalize=normalize
        )
        return offered.described(draft.metadata, draft.rule_set)

    if not _validates_as_new(draft, view.config):
        return parse(strict=False), None
    try:
        return parse(strict=True), None
    except InvalidSchema as refusal:
        return parse(strict=False), refusal


def _existing(stores: Stores, view: View, draft: Draft, offered: Offered) -> Record | None:
    """An active version that the draft already is, whatever the mode (REG-1)."""
    found = _precheck(stores, view, draft, offered)
    if found is None:
        return None
    row = found.row
    if not draft.version or draft.version < 0:
        return found.record(view.subject, offered) if not _brings_id(draft) or draft.id == row.id else None
    if not _brings_id(draft) or draft.id != row.id:
        return None
    if draft.version == row.version:
        return found.record(view.subject, offered)
    wanted = Version(draft.version)
    other = stores.look(view.subject, versions=(wanted,)).row(wanted)
    if other is None or other.deleted or (other.id, other.guid) != (row.id, row.guid):
        return None
    schema = stores.body(view.subject, other).schema
    return Match(other, schema).record(view.subject, offered)


def _precheck(stores: Stores, view: View, draft: Draft, offered: Offered) -> Match | None:
    if draft.version is None or draft.version >= 0:
        return match.find(stores, view, offered, deleted=False)
    newest = view.head.newest
    return match.equivalent_to(stores, view, offered, newest) if newest else None


def _with_tags(stores: Stores, view: View, draft: Draft) -> Draft:
    """The draft with the tags it asks for; using them stamps the version (REG-6a)."""
    add = tuple(draft.tags_to_add)
    if draft.propagate_tags:
        add = _newest_tags(stores, view) + add
    if not (add or draft.tags_to_remove):
        return draft
    if parsing.is_blank(draft.text):
        raise EmptySchema
    offered = parsing.understand(stores, view, draft.text, draft.type, draft.references, strict=False, normalize=False)
    try:
        text = offered.language.retag(offered.parsed, add, draft.tags_to_remove)
    except Malformed as malformed:
        raise InvalidSchema(reason=malformed.reason) from malformed
    explicit = draft.tags_to_add or draft.tags_to_remove
    version = -1 if explicit and draft.version is None else draft.version
    return replace(draft, text=text, version=version)


def _newest_tags(stores: Stores, view: View) -> tuple[Tagged, ...]:
    newest = view.head.newest
    if newest is None:
        return ()
    parsed = parsing.stored(stores, BodyKey(view.subject.context, newest.id))
    return parsing.language_of(parsed.language).tagged(parsed)


def _offer(stores: Stores, view: View, draft: Draft, *, normalize: bool) -> Offered:
    strict = _validates_as_new(draft, view.config)
    offered = parsing.understand(
        stores, view, draft.text, draft.type, draft.references, strict=strict, normalize=normalize
    )
    return offered.described(draft.metadata, draft.rule_set)


def _cloned(stores: Stores, view: View, draft: Draft) -> Draft:
    """A draft without text means the newest version's: so metadata and rules alone get a version (REG-5)."""
    newest = view.head.newest
    if newest is None:
        raise EmptySchema
    schema = stores.body(view.subject, newest).schema
    references = tuple(OfferedReference(ref.name, ref.subject, ref.version) for ref in schema.references)
    return replace(draft, text=schema.text, type=schema.type, references=references)


def _described(stores: Stores, view: View, draft: Draft, offered: Offered) -> Offered:
    """With metadata and rules from config and newest version, and stamped where a stamp is asked for (REG-6)."""
    newest = stores.body(view.subject, view.head.newest).schema if view.head.newest else None
    offered = match.described(offered, view.config, newest)
    metadata = offered.schema.metadata
    if not draft.version and (metadata is None or VERSION_STAMP not in metadata.properties):
        return offered
    number = draft.version if draft.version and draft.version > 0 else view.head.highest + 1
    return offered.described(stamped(metadata, number), offered.schema.rule_set)


def _same_version(stores: Stores, view: View, draft: Draft, offered: Offered, known: SchemaId | None) -> Record | None:
    """An active version of identical content (REG-8), or an equivalent one (REG-9), in the request's own words."""
    held = match.holding(stores, view, known)
    if held is None or held.deleted:
        active = match.equivalents(stores, view, offered, deleted=False)
        held = next((m.row for m in active if not _brings_id(draft) or m.row.id == draft.id), None)
    if held is None:
        return None
    return Record(offered.schema, held.guid, view.subject, held.version, held.id)


def _check_compatible(stores: Stores, view: View, offered: Offered) -> None:
    if found := messages(stores, view, offered):
        raise Incompatible(subject=view.subject.qualified, details=", ".join(found))


def _superseded(stores: Stores, view: View, schema_id: SchemaId, version: Version) -> Iterator[Row]:
    """Soft-deleted versions of the same content: replaced, unless something refers to them (REG-14)."""
    held = stores.catalog.holders(BodyKey(view.subject.context, schema_id), view.subject)
    old = [holder.version for holder in held if holder.deleted and holder.version < version]
    rows = stores.look(view.subject, versions=old).snapshot.rows.values() if old else ()
    for superseded in rows:
        if next(stores.catalog.referrers(view.subject, superseded.version), None) is None:
            yield superseded


def _seen(view: View, targets: tuple[Target, ...]) -> tuple[Head, ...]:
    subjects = {Subject(target.context, target.subject) for target in targets} - {view.subject}
    return tuple(view.snapshot.heads[subject] for subject in subjects)
