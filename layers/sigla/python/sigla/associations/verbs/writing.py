"""Create and update: what a request wants becomes one commit, or nothing (steps 3 to 9 of docs/api.md, §12.1).

`attempt` is the walk, from top to bottom. Its order is part of the contract: it decides which refusal a client meets
first. Schemas are registered as ever (`registry/register`), up to their commits; the commit is one for all of them and
for the associations.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from uuid import uuid4

from sigla import keys
from sigla.associations.nouns import (
    STRONG,
    WEAK,
    Association,
    Associations,
    Request,
    Resource,
)
from sigla.associations.refusals import (
    AssociationExists,
    IncompatibleAssociation,
    NoActiveVersion,
    ReferencedByOthers,
    SubjectAssociated,
    SubjectOwned,
)
from sigla.associations.verbs.judging import Case, check_lifecycles, check_resource_name, judged
from sigla.associations.verbs.wishes import Wish, check_types_once, placed, refused, resource_of, understood
from sigla.changes import AssociationsChanged, Head
from sigla.contract import IMPORT
from sigla.errors import Conflict, Denied, DeniedEverywhere, ReadOnly, Refusal
from sigla.model import DEFAULT_CONTEXT, Draft, OfferedReference, Record, Subject
from sigla.registry import check, lookup, register
from sigla.registry.register import Decided, Drawn
from sigla.registry.resources import Resources, View, is_complete, target_of
from sigla.registry.steps.committing import commit, nonce, until_committed
from sigla.rules import names
from sigla.rules.settings import READ_ONLY_MODES


@dataclass(frozen=True, slots=True)
class AssociationOutcome:
    """What became of a request. written: its associations that are new. schemas: by type, those that it registered."""

    resource: Resource
    written: Associations = ()
    schemas: Mapping[str, Record] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a request is meant. context: that of its subjects. dry: everything is checked, and nothing written."""

    context: str = DEFAULT_CONTEXT
    dry: bool = False


def write(resources: Resources, request: Request, manner: Manner) -> AssociationOutcome:
    """Creates or updates the associations of a resource, with their schemas: all of it or nothing.

    Raises InvalidAssociation, ReadOnly, AssociationExists, NoActiveVersion, SubjectAssociated, SubjectOwned,
    ReferencedByOthers, IncompatibleAssociation, Denied, and what a registration raises.
    """
    resource = resource_of(request, needs_id=not manner.dry)
    return write_wishes(resources, resource, [placed(understood(each, resource)) for each in request.wanted], manner)


def write_wishes(
    resources: Resources, resource: Resource, wishes: Sequence[Wish], manner: Manner
) -> AssociationOutcome:
    """Writes as `write` does, from step 3 on."""
    work = _Writing(resources, resource, wishes, manner)
    return until_committed(resources, "Association operation", work.attempt)


def with_id(request: Request, id: str) -> Request:
    """The request with the id of its path (step 0). Raises InvalidAssociation."""
    if request.id is None:
        return replace(request, id=id)
    if request.id != id:
        detail = "Resource ID in the path parameter does not match the resource ID in the request body"
        raise refused("resourceId", detail)
    return request


def check_writable(view: View) -> None:
    """Raises ReadOnly, with the bare name of the subject."""
    if view.mode in READ_ONLY_MODES:
        raise ReadOnly(subject=view.subject.name, context=view.subject.context)


@contextmanager
def subject_untold(subject: Subject) -> Iterator[None]:
    """Around a question about a subject that the request does not name: a client that may not see it is not told it."""
    try:
        yield
    except Denied as denied:
        if denied.facts.get("subject") != subject:
            raise
        raise DeniedEverywhere(operation=denied.facts["operation"]) from None


@dataclass(slots=True)
class _Writing:
    """One request, which may take several attempts. drawn: ids that a lost race would waste."""

    resources: Resources
    resource: Resource
    wishes: Sequence[Wish]
    manner: Manner
    drawn: Drawn = field(default_factory=dict)
    views: dict[tuple[Subject, tuple[OfferedReference, ...]], View] = field(default_factory=dict)

    def attempt(self) -> AssociationOutcome:
        """What the request comes to. Raises Conflict for a lost race."""
        self.views.clear()
        subjects = [self._subject(wish) for wish in self.wishes]  # step 3
        check_types_once(self.wishes)  # step 4
        seen = self._seen()
        try:
            return self._outcome(subjects, seen)
        except Refusal:
            # Another request for the topic may have come between the first question and the last: then it looks as if
            # its subjects were used by others.
            if self._seen() != seen:
                raise Conflict from None
            raise

    def _outcome(self, subjects: Sequence[Subject | None], seen: Associations) -> AssociationOutcome:
        """Steps 5 to 9. seen: what the resource has."""
        cases = [self._judged(wish, subject, seen) for wish, subject in zip(self.wishes, subjects, strict=True)]
        check_lifecycles(seen, cases)  # step 6
        due = [case for case in cases if case.is_new or case.wish.draft is not None]
        for case in due:
            self._check_subject(case, due)  # step 7
        for case in due:
            self._check_schema(case)  # step 8
        check_resource_name(seen, self.resource)
        if self.manner.dry:
            self._rehearse(seen, due)
            return AssociationOutcome(self.resource)
        return self._written(seen, due)  # step 9

    def _subject(self, wish: Wish) -> Subject | None:
        """The subject that is meant, in the context of the request; where its config names an alias, that one."""
        if wish.subject is None:
            return None
        context, said = self.manner.context, wish.subject
        within = context != DEFAULT_CONTEXT and not names.names_context(said)
        named = replace(names.subject(f":{context}:{said}" if within else said), under=context)
        view = self.resources.ask(named)
        check_writable(view)
        return Subject(view.subject.context, view.subject.name)

    def _seen(self) -> Associations:
        """What the resource has. A dry run may not know the id yet: then it is found by its name, the newest one."""
        catalog, resource = self.resources.catalog, self.resource
        if resource.id:
            return catalog.associations_of_resource(resource.id)
        named = tuple(catalog.associations_named(resource.name, resource.namespace))
        newest = max(named, key=lambda one: one.updated, default=None)
        return tuple(one for one in named if newest and one.resource.id == newest.resource.id)

    def _judged(self, wish: Wish, subject: Subject | None, seen: Associations) -> Case:
        old = next((one for one in seen if one.type == wish.type), None)
        if old is not None and old.subject != subject:
            with subject_untold(old.subject):
                self._view(old.subject, wish)
        return judged(Case(wish, old, subject, self._facts))  # step 5

    def _facts(self, subject: Subject, wish: Wish) -> "_Facts":
        return _Facts(self.resources, self._view(subject, wish), wish.draft, wish.wanted.normalize)

    def _view(self, subject: Subject, wish: Wish) -> View:
        """The subject as it was when this attempt asked for it first, with what the wish's schema references."""
        references = wish.draft.references if wish.draft else ()
        asked = subject, references
        if asked not in self.views:
            self.views[asked] = self.resources.look(subject, references=references)
        return self.views[asked]

    def _check_subject(self, case: Case, due: Sequence[Case]) -> None:
        """Step 7: whether the subject may have the association."""
        view, subject = self._view(case.where, case.wish), case.where
        keys.check_length(subject)
        if view.mode == IMPORT and case.wish.draft is not None:
            raise refused("schema", f"cannot be provided while subject '{subject}' is in IMPORT mode")
        if case.wish.draft is None and view.head.newest is None:
            raise NoActiveVersion(subject=subject)
        if case.lifecycle == STRONG:
            if view.head.associations > (0 if case.is_new else 1):
                raise SubjectAssociated(subject=subject)
            if subject in _referenced(due) or next(self.resources.catalog.referrers(subject), None) is not None:
                raise ReferencedByOthers(subject=subject)
        elif view.head.strong:
            raise SubjectOwned(subject=subject)
        elif view.head.associations:
            self._check_place(case)

    def _check_place(self, case: Case) -> None:
        """A topic of the same name and another id takes no association over, as the reference lets it (ASC-13)."""
        resource = self.resource
        for one in self.resources.catalog.associations_named(resource.name, resource.namespace):
            if (one.resource.type, one.type, one.subject) == (resource.type, case.wish.type, case.where):
                raise AssociationExists(type=one.type, resource=resource.name)

    def _check_schema(self, case: Case) -> None:
        """Step 8: whether the schema may follow the active versions."""
        draft = case.wish.draft
        if draft is None:
            return
        view = self._view(case.where, case.wish)
        if found := check.check_in(self.resources, view, draft, normalize=case.wish.wanted.normalize):
            raise IncompatibleAssociation(details=", ".join(found))

    def _written(self, seen: Associations, due: Sequence[Case]) -> AssociationOutcome:
        """Step 9: registers the schemas and writes what is new, in one commit."""
        decided = {case.wish.type: self._decided(case) for case in due if case.wish.draft is not None}
        heads = {case.where: self._head(case, decided.get(case.wish.type)) for case in due}
        now, mark = self.resources.clock.now(), nonce()
        written = tuple(self._association(case, now) for case in due if case.is_new)
        registered = tuple(replace(each.change, nonce=mark) for each in decided.values() if each.change)
        moved = {each.subject for each in written} | {each.scope for each in registered}
        if moved:
            standing = tuple(head for subject, head in heads.items() if subject in moved)
            change = AssociationsChanged(
                self.resource.id, seen, standing, now, mark, written=written, registered=registered
            )
            commit(self.resources, change)
            for each in decided.values():
                register.revive(self.resources, each)
        new = {one.type for one in written}
        schemas = {type: each.record for type, each in decided.items() if each.change is not None or type in new}
        return AssociationOutcome(self.resource, written, schemas)

    def _rehearse(self, seen: Associations, due: Sequence[Case]) -> None:
        """Whether the client may have what is new: a commit looks at that by itself (PERM-9)."""
        now = self.resources.clock.now()
        written = tuple(self._association(case, now) for case in due if case.is_new)
        if written:
            heads = tuple(self._head(case, None) for case in due)
            change = AssociationsChanged(self.resource.id, seen, heads, now, nonce(), written=written)
            self.resources.catalog.rehearse(change)

    def _decided(self, case: Case) -> Decided:
        draft = case.wish.draft or Draft(None)
        normalize = case.wish.wanted.normalize
        return register.decide(self.resources, case.where, draft, normalize=normalize, drawn=self.drawn)

    def _head(self, case: Case, decided: Decided | None) -> Head:
        """The subject as everything was decided upon. Raises Conflict where it has moved in between."""
        head = self._view(case.where, case.wish).head
        if decided is not None and decided.change is not None and decided.change.head.revision != head.revision:
            raise Conflict
        return head

    def _association(self, case: Case, now: int) -> Association:
        lifecycle = case.lifecycle or WEAK
        return Association(case.where, str(uuid4()), self.resource, case.wish.type, lifecycle, now, now)


@dataclass(frozen=True, slots=True)
class _Facts:
    """`judging.Facts` of a subject that was asked for."""

    resources: Resources
    view: View
    draft: Draft | None
    normalize: bool

    @property
    def importing(self) -> bool:
        return self.view.mode == IMPORT

    @property
    def newest(self) -> int | None:
        return self.view.head.newest.version if self.view.head.newest else None

    def has_schema(self) -> bool:
        if self.draft is None:
            return False
        return lookup.find_in(self.resources, self.view, self.draft, normalize=self.normalize) is not None


def _referenced(due: Sequence[Case]) -> set[Subject]:
    """What the schemas of the request itself refer to."""
    return {
        target_of(reference, case.where.context).subject
        for case in due
        if case.wish.draft is not None
        for reference in case.wish.draft.references
        if is_complete(reference)
    }
