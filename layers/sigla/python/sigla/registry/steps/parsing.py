"""From text to understanding: schemas as offered and schemas as stored."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple

from sigla import effort
from sigla.errors import EmptySchema, InvalidSchema, InvalidSchemaType, Malformed, SchemaTooLarge, StoreError
from sigla.keys import utf16
from sigla.languages import LANGUAGES
from sigla.languages.language import Language
from sigla.model import Body, BodyKey, OfferedReference, Parsed, Reference, Resolved, Schema, Target
from sigla.registry.resources import Resources, View, is_complete, target_of
from sigla.registry.steps.parsed import Offer, Offered
from sigla.rules import references
from sigla.rules.guid import guid_of
from sigla.rules.settings import IMPORTING_MODES

LOGICAL = "logical"
"""A schema as a table definition, in the reference an optional feature."""

MOST_REFERENCED_SUBJECTS = references.MOST_SUBJECTS


def language_of(schema_type: str) -> Language:
    """Raises InvalidSchemaType."""
    language = LANGUAGES.get(schema_type)
    if language is None:
        raise InvalidSchemaType(type=schema_type)
    return language


def is_blank(text: str | None) -> bool:
    return text is None or not text.strip()


def understand(
    resources: Resources,
    view: View,
    text: str | None,
    schema_type: str,
    offered: Sequence[OfferedReference],
    *,
    strict: bool,
    normalize: bool,
) -> Offered:
    """Parses a text offered for the view's subject, which was asked with the same references.

    strict: as a new schema: today's rules, and references only to active versions. Where schemas are imported, what
    only validation can tell is not asked (REG-7).

    Raises InvalidSchema, InvalidSchemaType, EmptySchema, SchemaTooLarge.
    """
    language_of(schema_type)
    if text is None or is_blank(text):
        raise EmptySchema
    if (
        len(text) > resources.options.schema_bytes
        or len(text.encode("utf-8", "replace")) > resources.options.schema_bytes
    ):
        raise SchemaTooLarge
    resolved: Sequence[tuple[Reference, Target]] = ()
    if offered:
        with explained(schema_type):
            resolved = [_resolve(view, reference, strict=strict) for reference in offered]
    if normalize:
        resolved = list(dict.fromkeys(sorted(resolved, key=_normal_order)))
    validated = None if view.mode in IMPORTING_MODES else bool(view.config.validate_fields)
    offer = _offer(resources, text, schema_type, resolved, strict=strict, normalize=normalize, validated=validated)
    understood = resources.offered.get(offer)
    if understood is None:
        understood = _understand(view, offer)
        resources.offered.keep(offer, understood, len(text) + sum(len(each.text) for each in offer.texts))
    return understood


def _offer(
    resources: Resources,
    text: str,
    schema_type: str,
    resolved: Sequence[tuple[Reference, Target]],
    *,
    strict: bool,
    normalize: bool,
    validated: bool | None,
) -> Offer:
    if not resolved:
        return Offer(text, schema_type, (), (), (), strict, normalize, validated)
    refs, targets = tuple(ref for ref, _ in resolved), tuple(target for _, target in resolved)
    with explained(schema_type):
        _check_fan_out(targets)
        texts = tuple(_texts(resources, refs, targets))
    return Offer(text, schema_type, refs, targets, texts, strict, normalize, validated)


def _understand(view: View, offer: Offer) -> Offered:
    effort.pulse()  # who has only a glance for this leaves it to others
    language = language_of(offer.type)
    with explained(offer.type):
        parsed = language.parse(offer.text, offer.texts, offer.strict)
    if offer.validated is not None:
        _validate(view, parsed)
    if offer.normalize:
        with explained(offer.type):
            parsed = language.normalise(parsed)
    schema = Schema(offer.type, parsed.canonical, offer.references)
    return Offered(schema, parsed, offer.targets, guid_of(schema))


def stored(resources: Resources, key: BodyKey, body: Body | None = None) -> Parsed:
    """A stored schema, parsed leniently: what broke today's rules takes part all the same. Raises InvalidSchema."""
    parsed = resources.parsed.get(key)
    if parsed is None:
        effort.pulse()
        body = body or resources.bodies.get(key)
        language = language_of(body.schema.type)
        with explained(body.schema.type):
            texts = _texts(resources, body.schema.references, body.targets)
            parsed = language.parse(body.schema.text, texts, False)  # noqa: FBT003 - leniently; a plain function
        resources.parsed.keep(key, parsed, len(parsed.canonical))
    return parsed


def read_together(resources: Resources, targets: Iterable[Target]) -> None:
    """Reads what is referenced, and what that references, all of one depth together: it is at hand afterwards.

    Where a read costs no trip, each is read when it is wanted. What cannot be read is told by the parser that wants it.
    """
    met: set[BodyKey] = set()
    wanted = _keys_of(targets) if resources.pays_for_reads else []
    with suppress(StoreError):
        while wanted:
            met.update(wanted)
            bodies = resources.bodies.get_many(wanted)
            wanted = [key for key in _keys_of(target for body in bodies for target in body.targets) if key not in met]


def _keys_of(targets: Iterable[Target]) -> list[BodyKey]:
    return list(dict.fromkeys(BodyKey(each.context, each.id) for each in targets if each.id >= 0))


def render(parsed: Parsed, form: str) -> str:
    """The text in another form, whose name is matched without regard to case. Raises InvalidSchema."""
    check_form(form)
    effort.pulse()
    with explained(parsed.language):
        return language_of(parsed.language).render(parsed, form.lower())


def check_form(form: str) -> None:
    """Refuses the one form that is known and not offered; all others fall back to the canonical text."""
    if form.lower() == LOGICAL:
        raise InvalidSchema(reason=f"The format '{form}' is not supported")


@contextmanager
def explained(schema_type: str) -> Iterator[None]:
    """What a language cannot understand becomes a refusal that names the language."""
    try:
        yield
    except Malformed as malformed:
        raise InvalidSchema(reason=f"Invalid schema of type {schema_type}, details: {malformed.reason}") from malformed


def _validate(view: View, parsed: Parsed) -> None:
    try:
        language_of(parsed.language).validate(parsed, bool(view.config.validate_fields))
    except Malformed as malformed:
        shown = f"{{subject={view.subject.qualified},schemaType={parsed.language}}}"
        raise InvalidSchema(reason=f"Invalid schema {shown}, details: {malformed.reason}") from malformed


def _texts(resources: Resources, refs: Sequence[Reference], targets: Sequence[Target]) -> Sequence[Resolved]:
    if not refs:
        return ()
    read_together(resources, targets)
    strict = resources.options.strict_reference_versions
    return references.resolve(refs, targets, resources.referenced, strict_versions=strict)


def _resolve(view: View, offered: OfferedReference, *, strict: bool) -> tuple[Reference, Target]:
    if not is_complete(offered):
        name, subject, version = ("null" if part is None else part for part in astuple(offered))
        shown = f"name='{name}', subject='{subject}', version={version}"
        raise Malformed(f"Invalid reference: {{{shown}}}")
    key = target_of(offered, view.subject.context)
    row = view.row(key.version, key.subject)
    if row is None or (strict and row.deleted):
        raise Malformed(
            f'No schema reference found for subject "{key.subject.qualified}" and version {offered.version}'
        )
    reference = Reference(offered.name or "", offered.subject or "", row.version)
    return reference, Target(key.subject.context, key.subject.name, row.version, row.id)


def _check_fan_out(targets: Sequence[Target]) -> None:
    if len({(target.context, target.subject) for target in targets}) > MOST_REFERENCED_SUBJECTS:
        raise Malformed(f"More than {MOST_REFERENCED_SUBJECTS} subjects are referenced")


def _normal_order(resolved: tuple[Reference, Target]) -> tuple[bytes, int]:
    reference, _ = resolved
    return utf16(reference.subject), reference.version
