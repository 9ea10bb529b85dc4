"""The tags endpoint: a new version made from an existing one (TAG-1 to TAG-5)."""

from sigla.changes import Head
from sigla.errors import InvalidRuleSet, SubjectNotFound, VersionNotFound
from sigla.model import LATEST, Draft, OfferedReference, Record, RuleSet, Schema, Subject, TagRequest, Version
from sigla.registry.lookup import namesakes
from sigla.registry.register import register_derived
from sigla.registry.resources import Resources, View
from sigla.rules import names, rule_sets
from sigla.rules.merge import merge_rule_sets, stamped, without_rules


def tag(resources: Resources, subject: Subject, version: str, request: TagRequest) -> Record:
    """The version that the changed schema became.

    Raises InvalidSubject, InvalidVersion, SubjectNotFound, VersionNotFound,
    InvalidRuleSet, and what a registration raises.
    """
    names.check_registrable(subject)  # TAG-1, in this order
    number = names.version(version)
    before = Version(request.new_version - 1) if request.new_version and request.new_version > 1 else LATEST

    def derive() -> tuple[Draft, Head]:
        view = resources.ask(subject, versions=(number, before))
        schema = _base(resources, view, number)  # TAG-1
        metadata = schema.metadata if request.metadata is None else request.metadata  # TAG-3
        draft = Draft(
            schema.text,
            schema.type,
            tuple(OfferedReference(ref.name, ref.subject, ref.version) for ref in schema.references),
            metadata=stamped(metadata, request.new_version or 0),
            rule_set=_rule_set(resources, view, before, request),  # TAG-4
            version=request.new_version or 0,
            tags_to_add=request.add,  # TAG-2
            tags_to_remove=request.remove,
        )
        return draft, view.head

    return register_derived(resources, subject, derive)  # TAG-5


def _base(resources: Resources, view: View, number: Version) -> Schema:
    """The schema to start from: the subject's own version, else that of a namesake, as every read finds it (VER-8)."""
    row = view.row(number)
    if row is not None and not row.deleted:
        return resources.body(view.subject, row).schema
    for other in namesakes(resources, view):
        row = resources.look(other, versions=(number,)).row(number)
        if row is not None and not row.deleted:
            return resources.body(other, row).schema
    if view.head.newest is None:
        raise SubjectNotFound(subject=view.subject.sent or view.subject)
    raise VersionNotFound(version=number)


def _rule_set(resources: Resources, view: View, before: Version, request: TagRequest) -> RuleSet | None:
    """The rules sent; or those of the version before, merged and weeded (TAG-4). None inherits the newest version's."""
    rule_sets.validate(request.rule_set)
    rule_sets.validate(request.rules_to_merge)
    if request.rules_to_merge is None and not request.rules_to_remove:
        return request.rule_set
    if request.rule_set is not None:
        raise InvalidRuleSet(reason="ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
    row = view.row(before)
    standing = None if row is None or row.deleted else resources.body(view.subject, row).schema.rule_set
    return without_rules(merge_rule_sets(standing, request.rules_to_merge), request.rules_to_remove)
