"""`POST /subjects/{subject}/versions`: ask once, decide purely, commit once (REG-1 to REG-16).

`judge` and `attempt` are the walk, from top to bottom. Its order is part of the contract: it decides which refusal a
client meets first (docs/api.md §4.1), so a step moves only with that table.

Nothing can be seen of a registration before its commit, and it may end anywhere. The body is put first, under an id
that no row names yet: if the commit never comes, no read can reach it, and the same content adopts it. The commit
says all that was decided upon (`changes.Registered`); if any of that has moved, the store refuses with Conflict and has
written nothing, and the walk begins again at its first step, with what the world looks like then (REG-16). Ids that
were drawn stay with this registration: a lost race costs no number.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple

from sigla import effort
from sigla.changes import Head, Registered
from sigla.errors import IdTaken, IdUsedUp, Incompatible, Taken
from sigla.model import Body, BodyKey, Draft, Guid, Record, Row, SchemaId, Subject, Target, Version
from sigla.registry.check import objections
from sigla.registry.resources import Resources, View, check_references
from sigla.registry.steps import drafts, lost, numbering, parsing
from sigla.registry.steps.committing import commit, nonce, until_committed
from sigla.registry.steps.drafts import Asked, Expect, Understood
from sigla.registry.steps.known import Found, question
from sigla.registry.steps.parsed import Offered
from sigla.registry.steps.rendering import rendered
from sigla.rules import names, rule_sets
from sigla.rules.subject import next_version

Derive = Callable[[], tuple[Draft, Head | None]]
"""Makes a draft, and says from which state of the subject; None if the draft does not rest on it."""


def register(
    resources: Resources,
    subject: Subject,
    draft: Draft,
    *,
    normalize: bool = False,
    force: bool = False,
    form: str = "",
) -> Record:
    """The version that the draft is or becomes.

    force: skip the compatibility check. form: another form of the answer's text.

    Raises InvalidRuleSet, InvalidSubject, InvalidSchema and its kin, OperationNotPermitted and its kin, Incompatible,
    VersionOutOfOrder, TimedOut.
    """
    parsing.check_form(form)
    state, asked = resources.catalog.state, question(subject, draft, normalize=normalize)
    if state is None or asked is None or resources.expected is not None:
        record, offered = _registered(resources, subject, draft, normalize=normalize, force=force)
    elif found := resources.known.get(asked, state):
        _, record, offered = found
        lost.check_standing(resources, record, offered)
    else:
        record, offered = _registered(resources, subject, draft, normalize=normalize, force=force)
        # What an alias led to is asked for each time: another principal may not be allowed to see it.
        if record.subject == subject and resources.catalog.state == state:
            resources.known.keep(asked, Found(state, record, offered))
    return rendered(resources, record, form, offered)


def _registered(
    resources: Resources, subject: Subject, draft: Draft, *, normalize: bool, force: bool
) -> tuple[Record, Offered]:
    work = _Registration(resources, subject, lambda: (draft, None), normalize=normalize, force=force)
    return until_committed(resources, "Register operation", work.committed)


class Decided(NamedTuple):
    """A registration up to its commit. change: what is to be committed; None if the draft is a version already.

    standing: a body that stands under the version's id since before: it is to be revived after the commit.
    """

    record: Record
    offered: Offered
    change: Registered | None = None
    standing: Body | None = None


Drawn = dict[tuple[str, Guid, tuple[Target, ...]], SchemaId]
"""Ids that were drawn for contents, with their bodies in place."""


def decide(resources: Resources, subject: Subject, draft: Draft, *, normalize: bool, drawn: Drawn) -> Decided:
    """A registration that becomes part of a greater commit. drawn: shared by all of that commit.

    The subject's alias is not followed. Raises what `register` raises, but TimedOut; and Conflict.
    """
    work = _Registration(resources, subject, lambda: (draft, None), normalize=normalize, drawn=drawn, follows=False)
    return work.attempt()


def judge(
    resources: Resources, subject: Subject, draft: Draft, *, normalize: bool, expect: Expect
) -> Decided | Understood:
    """What registering it would come to: the version that it is already, or what `number_of` gives a number.

    Nothing is written, unless the body of this very content was lost: it is put back. Raises what `register` raises.
    """
    guess = drafts.canonical_guess if resources.pays_for_reads else drafts.guess
    work = _Registration(resources, subject, lambda: (draft, None), normalize=normalize, guess=guess, expect=expect)
    return work.judge()


def number_of(resources: Resources, understood: Understood, *, force: bool = False) -> Version:
    """The number that the version will have, if it may follow those before it. force: it may.

    Raises Incompatible, VersionOutOfOrder.
    """
    draft, view = understood.draft, understood.view
    if not (view.importing or force):
        _check_compatible(resources, view, understood.offered)
    return next_version(view.head.highest, draft.version, importing=view.importing)


def revive(resources: Resources, decided: Decided) -> None:
    """Called after the commit: the id may have been buried while it was being decided upon.

    A writer that buries looks once more after its tombstone.
    """
    if decided.standing is not None and decided.change is not None:
        key = BodyKey(decided.change.scope.context, decided.change.row.id)
        resources.bodies.revive(key, decided.standing)


def register_derived(resources: Resources, subject: Subject, derive: Derive) -> Record:
    """The version that a draft made from the subject itself becomes: made anew in each attempt."""
    record, _ = until_committed(resources, "Register operation", _Registration(resources, subject, derive).committed)
    return record


class Placed(NamedTuple):
    """An id with the content's body under it. standing: one that stood there before, and may be buried meanwhile.

    lives: no body has said that the id was deleted for good.
    """

    id: SchemaId
    standing: Body | None = None
    lives: bool = False


@dataclass(slots=True)
class _Registration:
    """One registration, which may take several attempts. drawn: ids and bodies that a lost race would waste.

    follows: whether the subject's alias is followed. guess: what content the draft may be.
    expect: what is told how the text was understood.
    """

    resources: Resources
    subject: Subject
    derive: Derive
    normalize: bool = False
    force: bool = False
    drawn: Drawn = field(default_factory=dict)
    follows: bool = True
    guess: Callable[[Draft], Guid | None] = drafts.guess
    expect: Expect | None = None

    def committed(self) -> tuple[Record, Offered]:
        """The version that the draft is or has become, and what its text means. Raises Conflict for a lost race."""
        decided = self.attempt()
        if decided.change is not None:
            commit(self.resources, decided.change)  # REG-16
            revive(self.resources, decided)
        return decided.record, decided.offered

    def judge(self) -> Decided | Understood:
        """The version that it is already, or what may become one. No row, no number and no new body is written."""
        resources = self.resources
        asked = self._ask()  # the rule set, the alias, the name: steps 2 and 3
        reading = drafts.read(resources, asked)
        if reading and self.expect:
            self.expect(asked.view, reading.offered)
        if reading and (record := drafts.known(resources, asked, reading.offered)):  # REG-1
            lost.check_standing(resources, record, reading.offered)
            return Decided(record, reading.offered)
        effort.pulse()  # what is not there yet is not found at a glance
        asked = drafts.with_tags(resources, asked)  # REG-6a
        drafts.check_mode(asked)  # REG-2
        asked = drafts.with_text(resources, asked)  # REG-5
        understood = drafts.understood(resources, asked, reading)  # REG-6, REG-7
        if record := drafts.same(resources, understood):  # REG-8, REG-9
            return Decided(record, understood.offered)
        return understood

    def attempt(self) -> Decided:
        """What is to be committed, if anything is. The body is in its place when it returns."""
        understood = self.judge()
        if isinstance(understood, Decided):
            return understood
        resources = self.resources
        version = self._number(understood)  # COMPAT-2, REG-3, REG-10
        resources.quotas.spend(understood.offered.schema.text)
        placed = self._place(understood, version)  # REG-4, REG-11, REG-12, REG-13
        change = self._change(understood, version, placed)  # REG-14
        return Decided(understood.record(version, placed.id), understood.offered, change, placed.standing)

    def _ask(self) -> Asked:
        """All that the decisions rest on, in one question; in two where an alias leads elsewhere."""
        draft, seen = self.derive()
        rule_sets.validate(draft.rule_set)
        ask = self.resources.ask if self.follows else self.resources.look
        view = ask(self.subject, references=draft.references, guess=self.guess(draft))
        drafts.check_unmoved(seen, view)
        names.check_registrable(view.subject)
        check_references(view, draft)
        return Asked(draft, view, view.normalizes(wanted=self.normalize))

    def _number(self, understood: Understood) -> Version:
        return number_of(self.resources, understood, force=self.force)

    def _place(self, understood: Understood, version: Version) -> Placed:
        """The body is there when it returns: under the id that the content has, one brought along, or a new one."""
        if understood.id is not None:
            _check_content(BodyKey(understood.view.subject.context, understood.id), understood)
            return Placed(understood.id)
        if drafts.brings_id(understood.draft):
            return self._import_id(understood, SchemaId(understood.draft.id or 0), version)
        return Placed(self._draw_id(understood, version))

    def _draw_id(self, understood: Understood, version: Version) -> SchemaId:
        """A new id with its body in place (REG-11).

        An orphan of a write that never committed is adopted if it has our content. An id that means something else was
        used before (a table restored behind its bucket, numbering that was set back): then it is skipped.
        """
        resources, context, offered = self.resources, understood.view.subject.context, understood.offered
        drawn = context, offered.guid, offered.targets
        if drawn in self.drawn:
            return self.drawn[drawn]
        for met in count():
            key = BodyKey(context, resources.catalog.next_id(context))
            try:
                resources.bodies.put(key, self._body(understood, version))
            except Taken as taken:
                if taken.standing.gone or _means_other(taken.standing, offered):
                    numbering.skip(resources, key, met)
                    continue
            self.drawn[drawn] = key.id
            return key.id
        raise AssertionError  # count() does not end

    def _import_id(self, understood: Understood, id: SchemaId, version: Version) -> Placed:
        """An id brought along: free, or of the very same content, whose body then lives, or lives again (REG-12)."""
        resources, subject = self.resources, understood.view.subject
        numbering.check_reach(resources, subject, id)
        key = BodyKey(subject.context, id)
        resources.catalog.admit(key, understood.offered.guid)
        body = replace(self._body(understood, version), brought=True)
        standing, lives = None, True
        try:
            # The other region is told as well if the id comes back, and has to be told before the commit.
            resources.bodies.put(key, body)
        except Taken as taken:
            if taken.standing.schema != understood.offered.schema:
                refusal = IdUsedUp if taken.standing.gone else IdTaken
                raise refusal(id=id, context=names.delimited(key.context)) from None
            # What its references resolved to is part of what the id has always meant.
            standing, lives = replace(body, targets=taken.standing.targets), not taken.standing.gone
            resources.bodies.revive(key, standing)
        # Importing id 0 uses up number 1 as well; so the reference counts (REG-11).
        resources.catalog.raise_counter(key.context, max(id, SchemaId(1)))
        return Placed(id, standing, lives)

    def _body(self, understood: Understood, version: Version) -> Body:
        offered, now = understood.offered, self.resources.clock.now()
        compiled = offered.language.compiled(offered.parsed)
        return Body(
            offered.schema,
            offered.guid,
            offered.targets,
            understood.view.subject,
            version,
            now,
            nonce(),
            compiled=compiled,
        )

    def _change(self, understood: Understood, version: Version, placed: Placed) -> Registered:
        """The row, and all that it rests on; what it supersedes goes with it (REG-14)."""
        resources, view, offered = self.resources, understood.view, understood.offered
        # A number just drawn has no versions to supersede.
        reused = understood.id is not None or drafts.brings_id(understood.draft)
        purged = tuple(_superseded(resources, view, placed.id, version)) if reused else ()
        ts = resources.clock.now()
        return Registered(
            view.head,
            _new_row(understood, version, placed.id, ts),
            ts,
            nonce(),
            purged=purged,
            targets=offered.targets,
            seen=_seen(view, offered.targets),
            digests=(offered.language.digest(offered.parsed),),
            # An id that stands for the content is held; if it is buried meanwhile, it is taken as one that is brought.
            imported=view.importing and understood.id is None,
            lives=placed.lives,
        )


def _new_row(understood: Understood, version: Version, id: SchemaId, ts: int) -> Row:
    offered, revision = understood.offered, understood.view.head.revision + 1
    schema = offered.schema
    return Row(version, id, offered.guid, schema.type, schema.references, deleted=False, ts=ts, revision=revision)


def _check_content(key: BodyKey, understood: Understood) -> None:
    """An id means one thing (REG-12): equal content hashes may hide different types (HQ-1)."""
    if understood.body is None or understood.body.schema != understood.offered.schema:
        raise IdTaken(id=key.id, context=names.delimited(key.context))


def _means_other(standing: Body, offered: Offered) -> bool:
    """Equal text may mean other things: a reference's number can be given anew after a permanent delete."""
    return (standing.schema, standing.targets) != (offered.schema, offered.targets)


def _check_compatible(resources: Resources, view: View, offered: Offered) -> None:
    if found := objections(resources, view, offered):
        details = ", ".join(each.message for each in found)
        raise Incompatible(subject=view.subject.qualified, details=details, objections=found)


def _superseded(resources: Resources, view: View, schema_id: SchemaId, version: Version) -> Iterator[Row]:
    """Soft-deleted versions of the same content: replaced, unless something refers to them (REG-14)."""
    held = resources.catalog.holders(BodyKey(view.subject.context, schema_id), view.subject)
    old = [holder.version for holder in held if holder.deleted and holder.version < version]
    rows = resources.look(view.subject, versions=old).snapshot.rows.values() if old else ()
    for superseded in rows:
        if next(resources.catalog.referrers(view.subject, superseded.version), None) is None:
            yield superseded


def _seen(view: View, targets: tuple[Target, ...]) -> tuple[Head, ...]:
    subjects = {Subject(target.context, target.subject) for target in targets} - {view.subject}
    return tuple(view.snapshot.heads[subject] for subject in subjects)
