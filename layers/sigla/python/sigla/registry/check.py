"""The compatibility endpoints: would this schema be accepted? Nothing is written (COMPAT-1 to COMPAT-9)."""

from collections.abc import Iterator, Sequence

from sigla import effort
from sigla.contract import STRICT
from sigla.errors import VersionNotFound
from sigla.model import LATEST, BodyKey, Draft, Row, Subject, Version
from sigla.registry.resources import Resources, View
from sigla.registry.steps import parsing
from sigla.registry.steps.parsed import Offered
from sigla.rules import compatibility
from sigla.rules.compatibility import Earlier, Objection

STEPS_OF_A_VERSION = 50


def check(
    resources: Resources, subject: Subject, draft: Draft, *, version: Version | None = None, normalize: bool = False
) -> tuple[str, ...]:
    """What stands against the draft; nothing if it is compatible.

    version: only that one is compared, else as registration would.

    Raises VersionNotFound for a number that is not active, InvalidSchema and its kin.
    """
    view = resources.ask(subject, references=draft.references, versions=() if version is None else (version,))
    only = None if version is None else _one(view, version)  # COMPAT-1
    return check_in(resources, view, draft, only, normalize=normalize)


def check_in(
    resources: Resources, view: View, draft: Draft, only: Sequence[Row] | None = None, *, normalize: bool = False
) -> tuple[str, ...]:
    """As `check`, for a subject that was asked with the draft's references. only: of these versions.

    Raises InvalidSchema and its kin.
    """
    offered = parsing.understand(  # COMPAT-4
        resources,
        view,
        draft.text,
        draft.type,
        draft.references,
        strict=view.config.validate_new_schemas is not False,
        normalize=normalize or bool(view.config.normalize),  # COMPAT-6
    )
    return messages(resources, view, offered.described(draft.metadata, draft.rule_set), only)  # COMPAT-5


def messages(resources: Resources, view: View, offered: Offered, only: Sequence[Row] | None = None) -> tuple[str, ...]:
    """The messages against the active versions, or against `only` these."""
    return tuple(objection.message for objection in objections(resources, view, offered, only))


def objections(
    resources: Resources, view: View, offered: Offered, only: Sequence[Row] | None = None
) -> tuple[Objection, ...]:
    """As `messages`, with what each of them rests on."""
    config = view.config
    rows = _active(resources, view) if only is None else only  # COMPAT-2
    return compatibility.objections(
        offered.parsed,
        offered.schema.metadata,
        (_earlier(resources, view, row) for row in rows),
        language=offered.language,
        level=level_of(resources, view),
        group=config.group,  # COMPAT-7
        validate_fields=bool(config.validate_fields),  # COMPAT-9
        policy=config.policy or STRICT,  # COMPAT-8
    )


def level_of(resources: Resources, view: View) -> str:
    """The level at which a schema of the subject is checked."""
    return view.config.level or resources.options.default_level


def newest(resources: Resources, view: View) -> Earlier | None:
    """The newest active version, which every level but NONE compares with."""
    return None if view.head.newest is None else _earlier(resources, view, view.head.newest)


def _one(view: View, version: Version) -> Sequence[Row]:
    row = view.row(version)
    if row is not None and not row.deleted:
        return (row,)
    if version == LATEST:
        return ()
    raise VersionNotFound(version=version)


def _active(resources: Resources, view: View) -> Iterator[Row]:
    """Newest first. The newest is at hand; the others are asked for only if a level needs them."""
    if view.head.newest is None:
        return
    yield view.head.newest
    effort.pulse(STEPS_OF_A_VERSION * view.head.highest)
    for row in reversed(resources.catalog.history(view.subject)):
        if not row.deleted and row.version < view.head.newest.version:
            yield row


def _earlier(resources: Resources, view: View, row: Row) -> Earlier:
    body = resources.body(view.subject, row)
    parsed = parsing.stored(resources, BodyKey(view.subject.context, row.id), body)
    return Earlier(row.version, parsed, body.schema.metadata)
