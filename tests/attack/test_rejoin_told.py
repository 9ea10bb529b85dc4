"""Two regions that both took writes: what one of them has done alone comes to the other one, or is told by name."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Final

import pytest

from sigla.errors import Refusal, StoreError
from sigla.model import BodyKey, Schema, Subject
from sigla.regions import rules
from sigla.registry import Resources
from sigla.stores.sqlite.promoting import DirectoryPair
from sigla.upkeep.rejoining import Rejoined, merge
from tests.attack import exporters
from tests.attack.associations import ended, strong
from tests.attack.keys import KEYS, deks_deleted, deks_purged, kek, kek_deleted, kek_purged
from tests.attack.region_sites import Site
from tests.attack.replay import TRAFFIC, embedded
from tests.attack.stories import BASE, HISTORY, ONE, USING, WRITES, config, delete, mode, register
from tests.attack.two_regions import BLOCK, TwoRegions
from tests.attack.world import EVERYTHING, Verb


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK", BLOCK)


class BothWrote:
    """A was passed over by force, and B is the primary. cut: the link, while A was asked what B never heard of."""

    def __init__(
        self, before: Sequence[Verb], there: Sequence[Verb], here: Sequence[Verb], *, cut: bool = False
    ) -> None:
        self._regions = TwoRegions(0, required=False, failing=0.0)
        self.a = self._regions.here
        self.ask(self.a, before)
        self._regions.catch_up()
        self.split, self.known = things(self.a), resolved(self.a)
        self._regions.failing = float(cut)
        self.ask(self.a, there)
        self._regions.failing = 0.0
        self._regions.force()
        self.b = self._regions.here
        self.ask(self.b, here)

    @staticmethod
    def ask(site: Site, verbs: Sequence[Verb]) -> None:
        for verb in verbs:
            site.clock.time += 7
            with suppress(Refusal, StoreError), embedded(site).group(), embedded(site).step():
                verb(site.registry)

    def rejoin(self) -> Rejoined:
        a, b = embedded(self.a), embedded(self.b)
        return merge([*DirectoryPair(b, a).missing()], a.bodies, Resources(b.catalog, b.bodies, self.b.clock))

    def close(self) -> None:
        self._regions.close()


def things(site: Site) -> dict[tuple[str, str], Any]:
    """What stands there, by its kind and as the report names it."""
    catalog = site.store.catalog
    found: dict[tuple[str, str], Any] = {
        ("version", f"{subject} version {row.version}"): (row.id, row.deleted) for subject, row in site.rows()
    }
    for scope, settings in catalog.settings(EVERYTHING):
        found["config", str(scope) or "the registry"] = settings.config
        found["mode", str(scope) or "the registry"] = settings.mode
    found |= {("context", f":{context}:"): True for context in catalog.contexts()}
    found |= {("KEK", each.name): (each.kms_key_id, each.doc, each.deleted) for each in catalog.keks()}
    found |= {("DEK", each.subject): (each.kek, each.version, each.material, each.deleted) for each in site.deks()}
    for one in catalog.associations_named():
        topic = f"{one.resource.namespace}/{one.resource.name}"
        found["association", f"{one.subject} as the {one.type} of {topic}"] = (one.lifecycle, one.resource.id)
    found |= {("exporter", f"exporter {each.name}"): (each.subjects, each.config) for each in catalog.exporters()}
    return found


def resolved(site: Site) -> dict[BodyKey, Schema]:
    """What ids mean, references and all."""
    found = {}
    for key in embedded(site).inventory.bodies():
        with suppress(Refusal):
            record = site.registry.schema_by_id(key.id, subject=Subject(key.context, ""), form="resolved")
            found[key] = record.schema
    return found


@pytest.fixture
def apart() -> Iterator[Callable[..., BothWrote]]:
    opened: list[BothWrote] = []

    def make(*sides: Sequence[Verb], cut: bool = False) -> BothWrote:
        opened.append(BothWrote(*sides, cut=cut))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


TAKEN_AWAY: Final[dict[str, tuple[Sequence[Verb], Sequence[Verb], list[str]]]] = {
    "a topic's associations and subjects": (
        (strong("t", ONE),),
        (ended("t", cascade=True),),
        [
            ":.lkc:t-value as the value of lkc/t: an association was ended",
            ":.lkc:t-value version 1: the subject was deleted",
            ":.lkc:t-value version 1: a version was deleted for good",
        ],
    ),
    "a KEK": ((kek("k"),), (kek_deleted("k"), kek_purged("k")), ["KEK k: a KEK was deleted for good"]),
    "a DEK": (
        KEYS,
        (deks_deleted("k", "s", 1), deks_purged("k", "s", 1)),
        ["DEK of s under k, AES256_GCM, version 1: a DEK was deleted for good"],
    ),
    "a version that another one has superseded": (
        (register("orders", ONE),),
        (delete("orders"), register("orders", ONE)),
        ["orders version 1: the subject was deleted", "orders version 1: a version was deleted for good"],
    ),
    "exporters": (
        (exporters.created("e"), exporters.paused("e"), exporters.created("f"), exporters.paused("f")),
        (exporters.updated("e", subjects=("a",)), exporters.deleted("f")),
        ["exporter e: an exporter was changed", "exporter f: an exporter was changed"],
    ),
}


@pytest.mark.parametrize("name", TAKEN_AWAY)
def test_what_was_taken_away_there_alone_is_told_by_name(apart: Callable[..., BothWrote], name: str) -> None:
    before, there, wanted = TAKEN_AWAY[name]
    left = apart(before, there, ()).rejoin().left
    assert left == [f"{line} there, and not here" for line in wanted]


def test_what_was_done_in_both_or_was_taken_back_is_not_told(apart: Callable[..., BothWrote]) -> None:
    alike = (config("orders", level="FULL"), mode("other", "READONLY"))
    back = (config("a", level="NONE"), lambda registry: registry.drop_config(Subject(".", "a")))
    assert apart(HISTORY, (*alike, *back), alike).rejoin().left == []


def test_an_id_means_what_it_did_where_the_number_that_it_references_is_taken(apart: Callable[..., BothWrote]) -> None:
    """Whether its body had come, or not; who follows its references by their numbers is told."""
    more, other = (BASE.replace("]", f',{{"name":"{name}","type":"int","default":0}}]') for name in "xy")
    there = (register("base", more), register("using", USING, ("base", 2)))
    for cut in (False, True):
        regions = apart((register("base", BASE),), there, (register("base", other),), cut=cut)
        means = resolved(regions.a)
        done = regions.rejoin()
        assert means.items() <= resolved(regions.b).items()
        assert "using version 1 id 3: it references base version 2, which is another schema here" in done.left
        assert done.report.remarks == {}


ASKED: Final = [verb for verb in TRAFFIC if verb is not WRITES["an id brought whose version was written over"].verb]
"""An import writes the version first that stands in the place of such an id."""
LIVES: Final = [*range(8), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(8, 1_000))]


@pytest.mark.parametrize("seed", LIVES)
def test_whatever_both_have_done_comes_or_is_told_and_changes_nothing_that_stands(
    apart: Callable[..., BothWrote], seed: int
) -> None:
    dice = Random(seed)
    sides = [dice.choices(ASKED, k=dice.choice((0, 1, 5, 30))) for _ in range(3)]
    regions = apart(*sides, cut=dice.random() < 0.5)
    there, before = things(regions.a), things(regions.b)
    means, meant = resolved(regions.a), resolved(regions.b)
    left = regions.rejoin().left
    here, now = things(regions.b), resolved(regions.b)
    for thing in {*regions.split, *there}:
        (kind, name), told, wanted = thing, "\n".join(left), there.get(thing)
        is_gone = kind == "version" and wanted and wanted[1] and thing not in here
        if wanted not in (regions.split.get(thing), here.get(thing)) and not is_gone:
            assert (name.partition(" version ")[0] if kind == "version" else name) in told, (thing, left)
    assert before.items() <= here.items()
    assert meant.items() <= now.items()
    assert {key: schema for key, schema in means.items() if key not in regions.known}.items() <= now.items()
    regions.b.check_sound(imported=True)
