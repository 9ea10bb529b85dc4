"""What is promised of two regions in AWS, whatever happened to them before, and how it is looked at."""

import random
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple
from uuid import UUID

import pytest

from sigla import keys
from sigla.errors import SchemaNotFound
from sigla.model import BodyKey, Schema, SchemaId, Subject
from sigla.regions.nouns import RegionKind
from sigla.regions.refusals import MayBeElsewhere
from sigla.registry import Registry
from tests.attack.aws_replay import contents
from tests.attack.aws_sites import TableSite, shared
from tests.attack.aws_told_keys import ToldKeys
from tests.unit.aws.checking import settle

SKEW_MS: Final = 3_000
NEVER_GIVEN: Final = SchemaId(1_000_000)


class Acknowledged(NamedTuple):
    """at: the region that did it. ts: by its clock."""

    key: BodyKey
    schema: Schema
    at: TableSite
    ts: int


class TwoPromised:
    """here: was promoted last, or is the first primary. there: follows it, joins it, or was passed over."""

    here: TableSite
    there: TableSite

    def __init__(self, seed: int) -> None:
        self.seed, self.name = seed, f"two{seed}"
        self.dice = random.Random(seed)
        self.tally: Tally[str] = Tally()
        self.meanings: dict[BodyKey, Schema] = {}
        self.acknowledged: list[Acknowledged] = []
        self.stands_in_both: dict[BodyKey, bool] = {}
        self.keys = ToldKeys(self.dice, self.tally, seed)

    @property
    def sites(self) -> tuple[TableSite, TableSite]:
        return self.here, self.there

    # --- what is asked -----------------------------------------------------------------------------------------------

    def read(self) -> None:
        """By id, at either, of what either has acknowledged: that, or nothing. Then the primary is asked."""
        if self.acknowledged:
            one = self.dice.choice(self.acknowledged[-200:])
            # What a region that joins has is not asked for: it sends everything on.
            site = self.dice.choice([each for each in self.sites if each.role.kind is not RegionKind.JOINING])
            # A follower does not conclude from absence: it asks the primary.
            assert self.meaning(one.key, site) in (None, one.schema)
            if one.at is self.here or self.here.role.reconciled:
                # A closed primary adopts nothing: an id without a version is asked for in the other region, or 50003.
                if self.here.role.writes or self.here.is_known(one.key):
                    self.check_readable(one, self.here)
            elif self.here.role.writes:
                self.check_not_denied(one)

    def read_key(self) -> None:
        """At either: a follower, or one that was passed over, may tell what was so before."""
        site = self.dice.choice((self.here, self.here, self.there))
        if site.role.kind is not RegionKind.JOINING:
            self.keys.read(site, is_latest=site is self.here)

    def ask_for_unknown(self) -> None:
        """Nothing is concluded from absence while a region is out that may have it: 50003, and 404 before and after."""
        role = self.here.role
        if not role.writes:
            return
        guid, context = str(UUID(int=self.dice.getrandbits(128))), Subject(".never", "")
        questions: list[tuple[Callable[[Registry], Any], bool]] = [
            (lambda registry: registry.schema_by_id(SchemaId(1), subject=context), not role.reconciled),
            (lambda registry: registry.schema_by_guid(guid), not role.reconciled),
            (lambda registry: registry.schema_by_id(NEVER_GIVEN, subject=context), False),
        ]
        for question, may_be_elsewhere in questions:
            with pytest.raises(MayBeElsewhere if may_be_elsewhere else SchemaNotFound):
                self.here.answered(question)
        self.tally["  may be elsewhere"] += not role.reconciled

    # --- what is promised --------------------------------------------------------------------------------------------

    def note(self, key: BodyKey, schema: Schema) -> None:
        assert self.meanings.setdefault(key, schema) == schema, f"{key} has two meanings, by seed {self.seed}"

    def meaning(self, key: BodyKey, at: TableSite) -> Schema | None:
        """As it is read there. The body of an import that was not handed over stands and means nothing."""
        with suppress(SchemaNotFound, MayBeElsewhere):
            return self._told(key, at)
        return None

    def _told(self, key: BodyKey, at: TableSite) -> Schema:
        return at.answered(lambda registry: registry.schema_by_id(key.id, subject=Subject(key.context, ""))).schema

    def check_readable(self, one: Acknowledged, at: TableSite) -> None:
        assert self.meaning(one.key, at) == one.schema, f"{one.key} by seed {self.seed}"

    def check_not_denied(self, one: Acknowledged) -> None:
        """What a region has acknowledged that is out is read here, or it is said that it may be there."""
        with suppress(MayBeElsewhere):
            assert self._told(one.key, self.here) == one.schema, f"{one.key} by seed {self.seed}"

    def check_all_is_there(self, site: TableSite) -> None:
        for one in self.acknowledged:
            self.check_readable(one, site)
        self.keys.check(site)

    def check_complete(self, site: TableSite) -> None:
        """What was acknowledged before the moment up to which a follower is complete is there, whatever clocks say."""
        ours, theirs = site.role, self.here.role
        if site is not self.there or not ours.follows(theirs):
            return
        complete_at = site.aws.region.state().complete_at
        for one in self.acknowledged:
            if one.at is self.here and one.ts < complete_at - 2 * SKEW_MS:
                assert site.is_known(one.key), f"{one.key} is not there, by seed {self.seed}"

    def check_equal(self) -> None:
        """Each side has bodies of registrations that were refused, and commits of its own that were brought."""
        for site in self.sites:
            settle(site.store.stores)
            site.store.check()
            site.check_sound(imported=True)
        mine, theirs = (shared(contents(site)) for site in self.sites)
        unknown = tuple(self._places_of_unknown())
        for key in {*mine, *theirs}:
            of_unknown = isinstance(key, str) and key.endswith(unknown)
            pair = mine.get(key), theirs.get(key)
            assert of_unknown or pair[0] == pair[1], f"{key} differs by seed {self.seed}: {pair}"
        self.stands_in_both = dict.fromkeys(self.stands_in_both, True)

    def _places_of_unknown(self) -> Iterator[str]:
        """How names of objects end of which no version tells, nor any answer."""
        acknowledged = {one.key for one in self.acknowledged}
        inventory = self.here.aws.inventory
        for key in {*inventory.bodies(), *self.there.aws.inventory.bodies()} - acknowledged:
            if not self.here.is_known(key) and not inventory.buried([key]):
                name = keys.body_object(self.name, key).partition("/schemas")[2]
                yield from (name, name.removesuffix(".json"))
