"""`POST /subjects/{subject}/versions`: ask once, decide purely, commit once (REG-1 to REG-15)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from sigla import effort
from sigla.changes import Head, Registered
from sigla.errors import EmptySchema, IdTaken, IdUsedUp, Incompatible, InvalidSchema, Taken
from sigla.model import (
    Body,
    BodyKey,
    Draft,
    Guid,
    Record,
    Row,
    SchemaId,
    Subject,
    Target,
    Version,
)
from sigla.registry.check import messages
from sigla.registry.steps import drafts, lost, match, numbering, parsing
from sigla.registry.steps.committing import commit, nonce, until_committed
from sigla.registry.steps.known import Found, question
from sigla.registry.steps.parsed import Offered
from sigla.registry.steps.rendering import rendered
from sigla.registry.stores import Stores, View
from sigla.rules import names, rule_sets
from sigla.rules.subject import check_registrable, next_version

Derive = Callable[[], tuple[Draft, Head | None]]
"""Makes a draft, and says from which state of the subject; None if the draft does not rest on it."""


def register(
    stores: Stores, subject: Subject, draft: Draft, *, normalize: bool = False, force: bool = False, form: str = ""
) -> Record:
    """The version that the draft is or becomes.

    force: skip the compatibility check. form: another form of the answer's text.

    Raises InvalidRuleSet, InvalidSubject, InvalidSchema and its kin, OperationNotPermitted and its kin, Incompatible,
    VersionOutOfOrder, TimedOut.
    """
    parsing.check_form(form)
    state, asked = stores.catalog.state, question(subject, draft, normalize=normalize)
    if state is None or asked is None:
        record, offered = _registered(stores, subject, draft, normalize=normalize, force=force)
    elif found := stores.known.get(asked, state):
        _, record, offered = found
        _check_standing(stores, record, offered)
    else:
        record, offered = _registered(stores, subject, draft, normalize=normalize, force=force)
        # What an alias led to is asked for each time: not everybody may see it.
        if offered and record.subject == subject and stores.catalog.state == state:
            stores.known.keep(asked, Found(state, record, offered))
    return rendered(stores, record, form, offered)


def _registered(
    stores: Stores, subject: Subject, draft: Draft, *, normalize: bool, force: bool
) -> tuple[Record, Offered | None]:
    work = _Registration(stores, subject, lambda: (draft, None), normalize=normalize, force=force)
    return until_committed(stores, "Register operation", work.attempt)


def register_derived(stores: Stores, subject: Subject, derive: Derive) -> Record:
    """The version that a draft made from the subject itself becomes: made anew in each attempt."""
    record, _ = until_committed(stores, "Register operation", _Registration(stores, subject, derive).attempt)
    return record


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
        view = self.stores.ask(self.subject, references=draft.references, guess=drafts.guess(draft))
        drafts.check_unmoved(seen, view)
        names.check_registrable(view.subject)
        importing = view.importing
        normalize = view.normalizes(wanted=self.normalize)
        offered: Offered | None = None
        refusal: InvalidSchema | None = None
        if not drafts.is_derived(draft, view.config) and not parsing.is_blank(draft.text):
            offered, refusal = drafts.understood(self.stores, view, draft, normalize=normalize)
            if existing := drafts.existing(self.stores, view, draft, offered):
                _check_standing(self.stores, existing, offered)
                return existing, offered
        effort.pulse()  # what is not there yet is not found at a glance
        draft = drafts.with_tags(self.stores, view, draft)
        check_registrable(view.subject, view.mode, with_id=drafts.brings_id(draft))
        if refusal is not None:
            raise refusal
        if parsing.is_blank(draft.text):
            if importing:
                raise EmptySchema
            draft = drafts.cloned(self.stores, view, draft)
            view = drafts.with_references(self.stores, view, draft)
        if offered is None:
            offered = drafts.offer(self.stores, view, draft, normalize=normalize)
        if not importing:
            offered = drafts.described(self.stores, view, draft, offered)
        return self._place(view, draft, offered, importing=importing), offered

    def _place(self, view: View, draft: Draft, offered: Offered, *, importing: bool) -> Record:
        """Finds the content its id and its version, and commits."""
        stores, context = self.stores, view.subject.context
        known = stores.id_of(view, offered.guid)
        if known is not None and drafts.brings_id(draft) and known != draft.id:
            known = None
        # A body that was lost is put back, whether or not the subject has the content already.
        held = None if known is None else lost.standing(stores, BodyKey(context, known), offered)
        if not draft.version and (same := _same_version(stores, view, draft, offered, known)):
            return same
        if not (importing or self.force):
            _check_compatible(stores, view, offered)
        version = next_version(view.head.highest, draft.version, importing=importing)
        standing = None
        if known is not None:
            schema_id = known
            _check_content(BodyKey(context, known), held, offered)
        elif drafts.brings_id(draft):
            schema_id, standing = self._import_id(view, offered, SchemaId(draft.id or 0), version)
        else:
            schema_id = self._draw_id(view, offered, version)
        # A number just drawn has no versions to supersede.
        reused = known is not None or drafts.brings_id(draft)
        purged = tuple(_superseded(stores, view, schema_id, version)) if reused else ()
        # An id that stands for the content is held; if it is buried meanwhile, it is taken as one that is brought.
        imported = importing and known is None
        self._commit(view, offered, schema_id, version, purged=purged, imported=imported)
        if standing is not None:
            # It may have been buried meanwhile; who buries looks once more after his tombstone.
            stores.bodies.revive(BodyKey(context, schema_id), standing)
        return Record(offered.schema, offered.guid, view.subject, version, schema_id)

    def _draw_id(self, view: View, offered: Offered, version: Version) -> SchemaId:
        """A new id with its body in place.

        An orphan of a write that never committed is adopted if it has our content. An id that means something else was
        used before (a table restored behind its bucket, numbering that was set back): then it is skipped.
        """
        context = view.subject.context
        drawn = context, offered.guid, offered.targets
        if drawn in self.drawn:
            return self.drawn[drawn]
        for met in count():
            key = BodyKey(context, self.stores.catalog.next_id(context))
            try:
                self.stores.bodies.put(key, self._body(view, offered, version))
            except Taken as taken:
                if taken.standing.gone or _means_other(taken.standing, offered):
                    numbering.skip(self.stores, key, met)
                    continue
            self.drawn[drawn] = key.id
            return key.id
        raise AssertionError  # count() does not end

    def _import_id(
        self, view: View, offered: Offered, schema_id: SchemaId, version: Version
    ) -> tuple[SchemaId, Body | None]:
        """An id brought along: free, or of the very same content, whose body then lives, or lives again."""
        numbering.check_reach(self.stores, view.subject, schema_id)
        key = BodyKey(view.subject.context, schema_id)
        body = self._body(view, offered, version)
        standing = None
        try:
            self.stores.bodies.put(key, body)
        except Taken as taken:
            if taken.standing.schema != offered.schema:
                refusal = IdUsedUp if taken.standing.gone else IdTaken
                raise refusal(id=schema_id, context=names.delimited(key.context)) from None
            # What its references resolved to is part of what the id has always meant.
            standing = replace(body, targets=taken.standing.targets)
            self.stores.bodies.revive(key, standing)
        # Importing id 0 uses up number 1 as well; so the reference counts (REG-11).
        self.stores.catalog.raise_counter(key.context, max(schema_id, SchemaId(1)))
        return schema_id, standing

    def _body(self, view: View, offered: Offered, version: Version) -> Body:
        now = self.stores.clock.now()
        compiled = offered.language.compiled(offered.parsed)
        return Body(
            offered.schema, offered.guid, offered.targets, view.subject, version, now, nonce(), compiled=compiled
        )

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


def _check_standing(stores: Stores, existing: Record, offered: Offered) -> None:
    """Has the body of a version that was found put back if it is lost, which takes the very same content."""
    if existing.id is not None and existing.subject is not None and existing.guid == offered.guid:
        lost.standing(stores, BodyKey(existing.subject.context, existing.id), offered)


def _check_content(key: BodyKey, held: Body | None, offered: Offered) -> None:
    """Equal content hashes may hide different types (HQ-1): an id means one thing."""
    if held is None or held.schema != offered.schema:
        raise IdTaken(id=key.id, context=names.delimited(key.context))


def _means_other(standing: Body, offered: Offered) -> bool:
    """Equal text may mean other things: a reference's number can be given anew after a permanent delete."""
    return (standing.schema, standing.targets) != (offered.schema, offered.targets)


def _same_version(stores: Stores, view: View, draft: Draft, offered: Offered, known: SchemaId | None) -> Record | None:
    """An active version of identical content (REG-8), or an equivalent one (REG-9), in the request's own words."""
    held = match.holding(stores, view, offered, known)
    if held is None or held.deleted:
        active = match.equivalents(stores, view, offered, deleted=False)
        held = next((m.row for m in active if not drafts.brings_id(draft) or m.row.id == draft.id), None)
    if held is None:
        return None
    return Record(offered.schema, offered.guid, view.subject, held.version, held.id)


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
