"""Events in the order of the topic → the state at its end.

An id is bound in its context to one text as long as a version holds it; a record that gives it another text loses
(JRN-4). That takes two looks: `claims` at one version, when it takes and gives up ids; `rejected` at one id, who was
there first. What is left is looked at subject by subject: `lived`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from operator import attrgetter

from sigla.associations.nouns import Association, AssociationKey
from sigla.journal.replay.events import (
    Associated,
    Cleared,
    ConfigSet,
    ContextSet,
    Continued,
    DekSet,
    Event,
    Hidden,
    KekSet,
    ModeSet,
    Purged,
    Put,
    Skipped,
)
from sigla.journal.replay.records import TopicRecord, read
from sigla.keks.nouns import Dek, DekName, Kek
from sigla.model import BodyKey, Guid, SchemaId, Settings, Subject, Version

REBOUND = "its id belongs to another schema in that context"

Place = tuple[Subject, Version]


@dataclass(frozen=True, slots=True)
class Claim:
    """A version takes an id with a text (its digest), or gives it up (None)."""

    key: BodyKey
    offset: int
    place: Place
    digest: bytes | None


@dataclass(frozen=True, slots=True)
class State:
    """A registry as its topic tells it.

    subjects: their stored versions, by the offset of what was written last of each. contexts: those that are listed.
    highest: the highest id each context ever had, or had since its numbering was made to go on elsewhere.
    displaced: what ids meant whose last version was written over by another one, as long as one is stored there.
    gone: what all other ids meant that no version holds any more. keks, deks: keys for field encryption, the latter by
    their name and their version. records: how many of them told it.
    """

    subjects: Mapping[Subject, tuple[Put, ...]] = field(default_factory=dict)
    settings: Mapping[Subject, Settings] = field(default_factory=dict)
    contexts: tuple[str, ...] = ()
    highest: Mapping[str, SchemaId] = field(default_factory=dict)
    gone: Mapping[BodyKey, Put] = field(default_factory=dict)
    displaced: Mapping[BodyKey, Put] = field(default_factory=dict)
    keks: Mapping[str, Kek] = field(default_factory=dict)
    deks: Mapping[tuple[DekName, int], Dek] = field(default_factory=dict)
    associations: tuple[Association, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    records: int = field(default=0, compare=False)


def claims(events: Iterable[Put | Purged]) -> Iterator[Claim]:
    """events: those of one version of one subject, by offset."""
    held: BodyKey | None = None
    for event in events:
        place = event.subject, event.version
        key = key_of(event) if isinstance(event, Put) else None
        if held is not None and held != key:
            yield Claim(held, event.offset, place, None)
        if isinstance(event, Put):
            yield Claim(key_of(event), event.offset, place, _text_digest(event.schema.text))
        held = key


def rejected(claims: Iterable[Claim]) -> Iterator[int]:
    """Offsets of the records that lose. claims: those on one id in one context, by offset."""
    holders: set[Place] = set()
    bound: bytes | None = None
    for claim in claims:
        if claim.digest is None:
            holders.discard(claim.place)
        elif holders and bound != claim.digest:
            yield claim.offset
        else:
            holders.add(claim.place)
            bound = claim.digest


@dataclass(slots=True)
class Lives:
    """The versions of one subject at the end, in the order in which they were last written; `offset` says when.

    over: what stood under their numbers before, with other ids.
    """

    stored: dict[Version, Put] = field(default_factory=dict)
    over: dict[Version, list[Put]] = field(default_factory=dict)

    @property
    def written_over(self) -> Iterator[Put]:
        """Whether their ids are held elsewhere is not looked at."""
        return chain.from_iterable(self.over.values())

    def put(self, put: Put) -> None:
        before = self.stored.pop(put.version, None)
        if before is not None and before.id != put.id:
            self.over.setdefault(put.version, []).append(before)
        self.stored[put.version] = put

    def purge(self, version: Version) -> None:
        self.stored.pop(version, None)
        self.over.pop(version, None)


def lived(events: Iterable[Put | Purged | Hidden], cleared: Sequence[Cleared] = ()) -> Lives:
    """events: those of one subject, without the rejected, in any order; cleared: of all scopes."""
    lives = Lives()
    stored = lives.stored
    for event in sorted((*events, *cleared), key=attrgetter("offset")):
        match event:
            case Put():
                lives.put(event)
            case Purged(version=version):
                lives.purge(version)
            case Hidden(through=through):
                # The reference writes each of them anew in its indexes, also those that were hidden before.
                for version in sorted(v for v in stored if v <= through):
                    stored[version] = replace(stored.pop(version), deleted=True, offset=event.offset)
            case Cleared(search=search):
                for version in [v for v, put in stored.items() if put.deleted and search.matches(put.subject)]:
                    lives.purge(version)
    return lives


def surviving(events: Iterable[Put | Purged | Hidden], cleared: Sequence[Cleared] = ()) -> tuple[Put, ...]:
    """The versions stored at the end, as `lived` tells them."""
    return tuple(lived(events, cleared).stored.values())


def last_words(puts: Iterable[Put]) -> set[Place]:
    """Where the id stands by which a content is known that has several in its context: the one written last (JRN-5).

    Deleted versions count like all others. Contents with one id are left out.
    """
    ids: dict[tuple[str, Guid], set[SchemaId]] = defaultdict(set)
    last: dict[tuple[str, Guid], Place] = {}
    for put in sorted(puts, key=attrgetter("offset")):
        content = put.subject.context, put.guid
        ids[content].add(put.id)
        last[content] = put.subject, put.version
    return {place for content, place in last.items() if len(ids[content]) > 1}


def replayed(records: Iterable[TopicRecord]) -> State:
    """The state after these records, in the order of the topic."""
    return state_of(map(read, records))


def state_of(events: Iterable[Event]) -> State:
    by_place: dict[Place, list[Put | Purged]] = defaultdict(list)
    hidden: dict[Subject, list[Put | Purged | Hidden]] = defaultdict(list)
    settings: dict[Subject, Settings] = defaultdict(Settings)
    contexts: dict[str, bool] = {}
    highest: dict[str, SchemaId] = {}
    keks: dict[str, Kek | None] = {}
    deks: dict[tuple[DekName, int], Dek | None] = {}
    cleared: list[Cleared] = []
    skipped: list[Skipped] = []
    associations: dict[AssociationKey, Association] = {}
    records = 0
    for event in events:
        records += 1
        match event:
            case Put() | Purged():
                by_place[event.subject, event.version].append(event)
            case Hidden(subject=subject):
                hidden[subject].append(event)
            case Cleared():
                cleared.append(event)
            case ConfigSet(scope=scope, config=config):
                settings[scope] = replace(settings[scope], config=config)
            case ModeSet(scope=scope, mode=mode):
                settings[scope] = replace(settings[scope], mode=mode)
            case ContextSet(context=context, listed=listed):
                contexts[context] = listed
            case Skipped():
                skipped.append(event)
            case KekSet(name=name, kek=kek):
                keks[name] = kek
            case DekSet(name=dek_name, version=version, dek=dek):
                deks[dek_name, version] = dek
            case Continued(context=context, after=after):
                highest[context] = after
            case Associated():
                _associate(associations, event)
        if isinstance(event, Put):
            highest[event.subject.context] = max(event.id, highest.get(event.subject.context, event.id))
    lost = _lost(by_place.values())
    puts: dict[BodyKey, Put] = {}
    for event in sorted(chain.from_iterable(by_place.values()), key=attrgetter("offset")):
        if isinstance(event, Put) and event.offset in lost:
            skipped.append(Skipped(event.offset, f"{event.subject} version {event.version} id {event.id}", REBOUND))
            continue
        hidden[event.subject].append(event)
        if isinstance(event, Put):
            puts[key_of(event)] = event
    lives = {subject: lived(events, cleared) for subject, events in hidden.items()}
    held = {key_of(put) for each in lives.values() for put in each.stored.values()}
    over = sorted(chain.from_iterable(each.written_over for each in lives.values()), key=attrgetter("offset"))
    displaced = {key_of(put): put for put in over if key_of(put) not in held}
    return State(
        subjects={subject: tuple(each.stored.values()) for subject, each in lives.items() if each.stored},
        settings={scope: each for scope, each in settings.items() if each != Settings()},
        contexts=tuple(context for context, listed in contexts.items() if listed),
        highest=highest,
        gone={key: put for key, put in puts.items() if key not in held and key not in displaced},
        displaced=displaced,
        keks={name: kek for name, kek in keks.items() if kek is not None},
        deks={place: dek for place, dek in deks.items() if dek is not None},
        associations=tuple(associations.values()),
        skipped=tuple(sorted(skipped, key=attrgetter("offset"))),
        records=records,
    )


def _associate(found: dict[AssociationKey, Association], event: Associated) -> None:
    """An association that is written again was created when it was written first."""
    before = found.pop(event.key, None)
    if event.association is not None:
        created = before.created if before else event.association.created
        found[event.key] = replace(event.association, created=created)


def key_of(put: Put) -> BodyKey:
    return BodyKey(put.subject.context, put.id)


def _lost(versions: Iterable[Iterable[Put | Purged]]) -> set[int]:
    by_key: dict[BodyKey, list[Claim]] = defaultdict(list)
    for events in versions:
        for claim in claims(events):
            by_key[claim.key].append(claim)
    ordered = (sorted(each, key=attrgetter("offset")) for each in by_key.values())
    return set(chain.from_iterable(map(rejected, ordered)))


def _text_digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
