"""May this schema follow the earlier ones? The rules are LV-1 to LV-11 of docs/compatibility.md."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import chain, islice
from typing import TypeAlias

from sigla.contract import STRICT
from sigla.errors import CheckAbandoned
from sigla.languages.language import Budget, Language
from sigla.model import Finding, Metadata, Parsed, Version

RESERVED_FIELDS = "confluent:reserved"
LONGEST_QUOTED_SCHEMA = 10_240


class Direction(Enum):
    """Who must be able to read whose data: (reader, writer) as the sentences call them."""

    NEW_READS_OLD = ("new", "old")
    OLD_READS_NEW = ("old", "new")


@dataclass(frozen=True, slots=True)
class Earlier:
    """An active version of the subject, with the metadata it was registered with."""

    version: Version
    parsed: Parsed
    metadata: Metadata | None


@dataclass(frozen=True, slots=True)
class Objection:
    """One message of a check, and what it rests on.

    finding: the difference, where the message tells of one. direction: who cannot read whom, then. version: of the
    earlier schema. reader: the schema that the path of the finding leads through. quotes: the message objects to
    nothing, it says what was compared.
    """

    message: str
    finding: Finding | None = None
    direction: Direction | None = None
    version: Version | None = None
    reader: Parsed | None = None
    quotes: bool = False


_Compare: TypeAlias = Callable[[Parsed, Earlier, Direction], Iterator[Objection]]
"""(new, old, who reads whom) → what stands against it."""


class Against(Enum):
    LATEST = "latest"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Level:
    """directions: in the order in which they are checked."""

    directions: tuple[Direction, ...]
    against: Against


BACKWARD = (Direction.NEW_READS_OLD,)
FORWARD = (Direction.OLD_READS_NEW,)
FULL = (Direction.OLD_READS_NEW, Direction.NEW_READS_OLD)

LEVELS: Mapping[str, Level] = {
    "NONE": Level((), Against.LATEST),
    "BACKWARD": Level(BACKWARD, Against.LATEST),
    "BACKWARD_TRANSITIVE": Level(BACKWARD, Against.ALL),
    "FORWARD": Level(FORWARD, Against.LATEST),
    "FORWARD_TRANSITIVE": Level(FORWARD, Against.ALL),
    "FULL": Level(FULL, Against.LATEST),
    "FULL_TRANSITIVE": Level(FULL, Against.ALL),
}


def check(
    new: Parsed,
    metadata: Metadata | None,
    earlier: Iterable[Earlier],
    *,
    language: Language,
    level: str,
    group: str | None = None,
    validate_fields: bool = False,
    policy: str = STRICT,
) -> tuple[str, ...]:
    """The messages of a check; none if the new schema may follow. The arguments are those of `objections`."""
    found = objections(
        new,
        metadata,
        earlier,
        language=language,
        level=level,
        group=group,
        validate_fields=validate_fields,
        policy=policy,
    )
    return tuple(each.message for each in found)


def objections(
    new: Parsed,
    metadata: Metadata | None,
    earlier: Iterable[Earlier],
    *,
    language: Language,
    level: str,
    group: str | None = None,
    validate_fields: bool = False,
    policy: str = STRICT,
) -> tuple[Objection, ...]:
    """What stands against the new schema, in the order of A.4; nothing if it may follow.

    earlier: newest first; consumed no further than the level needs. group: a metadata property; only versions with the
    new schema's value for it take part (GR-1). However many versions there are, the comparisons share one budget.
    """
    directions, against = LEVELS[level].directions, LEVELS[level].against
    if not directions and not validate_fields:
        return ()
    versions = (old for old in earlier if group is None or _property(old.metadata, group) == _property(metadata, group))
    newest = list(islice(versions, 1))
    compare = partial(_compared, language=language, budget=Budget(), policy=policy)
    found: list[Objection] = []
    if validate_fields:
        found += map(Objection, _reserved_fields(new, metadata, newest, language))
    for old in newest if against is Against.LATEST else chain(newest, versions):
        against_it = list(_against(new, old, directions, compare))
        found += against_it
        if against_it:
            break
    if found:
        settings = f"{{validateFields: '{str(validate_fields).lower()}', compatibility: '{level}'}}"
        found.append(Objection(settings, quotes=True))
    return tuple(found)


def _against(new: Parsed, old: Earlier, directions: Sequence[Direction], compare: _Compare) -> Iterator[Objection]:
    if not directions:
        return
    if old.parsed.language != new.language:
        yield Objection("Incompatible because of different schema type", version=old.version)
        return
    failed: list[Objection] = []
    for direction in directions:
        failed = list(compare(new, old, direction))
        yield from failed
    # Only the direction checked last tells which schema it failed against (MS-1).
    if failed:
        yield Objection(f"{{oldSchemaVersion: {old.version}}}", quotes=True)
        yield Objection(_quoted(old.parsed.canonical), quotes=True)


def _compared(
    new: Parsed, old: Earlier, direction: Direction, *, language: Language, budget: Budget, policy: str
) -> Iterator[Objection]:
    """What one comparison came to."""
    reader, writer = (new, old.parsed) if direction is Direction.NEW_READS_OLD else (old.parsed, new)
    try:
        findings: tuple[Finding, ...] = language.compare(reader, writer, budget, policy)
    except CheckAbandoned as abandoned:
        yield Objection(abandoned.message, direction=direction, version=old.version)
        return
    for finding in findings:
        yield Objection(language.sentence(finding, *direction.value), finding, direction, old.version, reader)


def _quoted(canonical: str) -> str:
    if len(canonical) > LONGEST_QUOTED_SCHEMA:
        return f"{{oldSchema: <truncated> '{canonical[:LONGEST_QUOTED_SCHEMA]}...'}}"
    return f"{{oldSchema: '{canonical}'}}"


def _reserved_fields(
    new: Parsed, metadata: Metadata | None, newest: Sequence[Earlier], language: Language
) -> Iterator[str]:
    """RS-1 and RS-2. newest: the version to compare with, or none."""
    kept, fields = _reserved(metadata), language.top_level_fields(new)
    for field in (field for old in newest for field in _reserved(old.metadata) if field not in kept):
        yield (
            f"The new schema has reserved field {field} removed from its metadata "
            "which is present in the old schema's metadata."
        )
    for field in (field for field in kept if field in fields):
        yield f"The new schema has field that conflicts with the reserved field {field}."


def _reserved(metadata: Metadata | None) -> list[str]:
    names = (_property(metadata, RESERVED_FIELDS) or "").split(",")
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


def _property(metadata: Metadata | None, key: str) -> str | None:
    return metadata.properties.get(key) if metadata else None
