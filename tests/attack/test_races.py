"""A second writer between any two port calls of a verb: the outcome is one that some order of the two allows.

Two verbs meet in every way in which one can run inside the other; what both answered, and what can be read afterwards,
must be what one after the other would have given, on a fresh registry, up to ids.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from sigla.errors import Refusal, TimedOut
from sigla.model import LATEST, BodyKey, Draft, Subject
from sigla.registry import Options, Registry
from tests.attack.importer import Had, bring, listed
from tests.attack.ports import At, Call, Recorder
from tests.attack.stories import (
    BASE,
    DELETED,
    HISTORY,
    ONE,
    PII,
    RULES,
    THREE,
    TWO,
    USED,
    USING,
    config,
    delete,
    drop_context,
    mode,
    on,
    purge,
    register,
    said,
    tag,
)
from tests.attack.world import Embedded, Fresh, Verb, World, outcome
from tests.build import NOW


@dataclass(frozen=True)
class Pair:
    """Two verbs that meet. `also`: an outcome that no order explains and the contract allows all the same."""

    one: Verb
    other: Verb
    before: tuple[Verb, ...] = ()
    imported: bool = False
    also: Verb | None = None


BASED = (register("base", BASE),)
GONE = (register(":.c:x"), delete(":.c:x"), purge(":.c:x"))

PAIRS: dict[str, Pair] = {
    "same text, same subject": Pair(register("orders"), register("orders")),
    "same text, other subject": Pair(register("orders"), register("other")),
    "same text, other subject, both known": Pair(register("orders", TWO), register("other", TWO), HISTORY),
    "other text, same subject": Pair(register("orders", ONE), register("orders", TWO)),
    "other text, both over one version": Pair(register("orders", TWO), register("orders", THREE), HISTORY[:1]),
    "incompatible with each other": Pair(
        register("orders", TWO), register("orders", THREE), (*HISTORY[:1], config("orders", level="FULL"))
    ),
    "same demand of a number": Pair(
        register("orders", TWO, version=2), register("orders", THREE, version=2), HISTORY[:1]
    ),
    "metadata alone against a new text": Pair(
        register("orders", None, metadata=said(k="v")), register("orders", TWO), HISTORY[:1]
    ),
    "metadata alone, twice": Pair(
        register("orders", None, metadata=said(k="v")), register("orders", None, metadata=said(k="w")), HISTORY[:1]
    ),
    "metadata alone, over references, against a new text": Pair(
        register("using", None, metadata=said(k="v")),
        register("using", USING.replace("}]", '},{"name":"b","type":"int","default":0}]'), "base"),
        USED,
    ),
    "inherited metadata against its change": Pair(
        register("orders", TWO),
        register("orders", ONE, metadata=said(k="w")),
        (register("orders", metadata=said(k="v")),),
    ),
    "tags against a new text": Pair(tag("orders", "latest", add=PII), register("orders", TWO), HISTORY[:1]),
    "tags against the delete of their version": Pair(tag("orders", "1", add=PII), delete("orders", 1), HISTORY),
    "rules against a new text": Pair(
        tag("orders", "latest", rules_to_merge=RULES), register("orders", TWO), HISTORY[:1]
    ),
    "a reference against the soft delete of its target": Pair(
        register("using", USING, "base"), delete("base", 1), BASED
    ),
    "a reference against the delete of its target's subject": Pair(
        register("using", USING, "base"), delete("base"), BASED
    ),
    "a reference to the latest against a newer one": Pair(
        register("using", USING, ("base", -1)), register("base", BASE.replace('"int"', '"long"')), BASED
    ),
    "a permanent delete against a referrer in IMPORT": Pair(
        purge(":.c:base", 1),
        register(":.c:using", USING, "base", id=9),
        (mode(":.c:", "IMPORT"), register(":.c:base", BASE, id=1), delete(":.c:base", 1)),
        imported=True,
    ),
    "a permanent subject delete against a referrer in IMPORT": Pair(
        purge(":.c:base"),
        register(":.c:using", USING, "base", id=9),
        (mode(":.c:", "IMPORT"), register(":.c:base", BASE, id=1), delete(":.c:base")),
        imported=True,
    ),
    "a delete against the delete of the referrer": Pair(delete("base", 1), delete("using", 1), USED),
    "a delete twice": Pair(delete("orders", 1), delete("orders", 1), HISTORY),
    "latest deleted twice": Pair(delete("orders", LATEST), delete("orders", LATEST), HISTORY),
    "a subject deleted twice": Pair(delete("orders"), delete("orders"), HISTORY),
    "a subject against its version": Pair(delete("orders"), delete("orders", 2), HISTORY),
    "a subject against its only version": Pair(delete("orders"), delete("orders", 1), HISTORY[:1]),
    "a subject against a new version": Pair(delete("orders"), register("orders", THREE), HISTORY),
    "a subject purged twice": Pair(purge("orders"), purge("orders"), DELETED),
    "a subject purged against its version": Pair(purge("orders"), purge("orders", 1), DELETED),
    "a subject purged against its return": Pair(purge("orders"), register("orders", TWO), DELETED),
    "a purge against the same content elsewhere": Pair(
        purge("orders", 1), register("other", ONE), (*HISTORY, delete("orders", 1))
    ),
    "a purge against the same content": Pair(
        purge("orders", 1), register("orders", ONE), (*HISTORY[:1], delete("orders", 1))
    ),
    "content that returns twice": Pair(register("orders", ONE), register("other", ONE), (*DELETED, purge("orders"))),
    "content that returns against a soft delete": Pair(
        register("orders", ONE), delete("orders", 2), (*HISTORY, delete("orders", 1))
    ),
    "a context dropped against its first schema": Pair(drop_context(".c"), register(":.c:x"), GONE),
    "a context dropped twice": Pair(drop_context(".c"), drop_context(".c"), GONE),
    "config against config": Pair(config("orders", level="FULL"), config("orders", group="g")),
    "config against its drop": Pair(
        config("orders", level="FULL"), on(Registry.drop_config, "orders"), (config("orders", group="g"),)
    ),
    "config against a purge": Pair(
        config("orders", level="FULL"), purge("orders"), (*DELETED, config("orders", group="g"))
    ),
    "mode against config": Pair(mode("orders", "READONLY"), config("orders", level="FULL")),
    "mode against mode": Pair(mode("orders", "READONLY"), mode("orders", "READWRITE")),
    "mode dropped twice": Pair(
        on(Registry.drop_mode, "orders"), on(Registry.drop_mode, "orders"), (mode("orders", "READONLY"),)
    ),
    "read-only against a registration": Pair(mode("orders", "READONLY"), register("orders", TWO), HISTORY[:1]),
    "read-only against a delete": Pair(mode("orders", "READONLY"), delete("orders", 1), HISTORY),
    "IMPORT against a registration": Pair(mode("orders", "IMPORT"), register("orders", TWO), DELETED),
    "IMPORT against a first registration": Pair(
        mode("orders", "IMPORT"),
        register("orders"),
        # The mode binds requests that begin after it was acknowledged.
        also=lambda registry: (register("orders")(registry), mode("orders", "IMPORT", force=True)(registry)),
    ),
    "IMPORT of a context against its first registration": Pair(
        mode(":.c:", "IMPORT"),
        register(":.c:orders"),
        also=lambda registry: (register(":.c:orders")(registry), mode(":.c:", "IMPORT", force=True)(registry)),
    ),
    "IMPORT of all against a first registration": Pair(
        mode("", "IMPORT"),
        register("orders"),
        also=lambda registry: (register("orders")(registry), mode("", "IMPORT", force=True)(registry)),
    ),
    "IMPORT of all against a returning schema": Pair(mode("", "IMPORT"), register("orders", TWO), DELETED),
    "IMPORT twice": Pair(mode("orders", "IMPORT"), mode("orders", "IMPORT"), DELETED),
    "IMPORT against the purge of what it clears": Pair(mode("", "IMPORT"), purge("orders"), DELETED),
    "IMPORT against a referrer elsewhere": Pair(
        mode("base", "IMPORT"),
        register(":.c:using", USING, "base", id=9),
        (mode(":.c:", "IMPORT"), register("base", BASE), delete("base")),
        imported=True,
    ),
    "one id imported twice, with one content": Pair(
        register(":.c:a", ONE, id=5), register(":.c:b", ONE, id=5), (mode(":.c:", "IMPORT"),), imported=True
    ),
    "one id imported twice, with two contents": Pair(
        register(":.c:a", ONE, id=5), register(":.c:b", TWO, id=5), (mode(":.c:", "IMPORT"),), imported=True
    ),
    "one version imported twice": Pair(
        register(":.c:a", ONE, id=5, version=3),
        register(":.c:a", TWO, id=6, version=3),
        (mode(":.c:", "IMPORT"),),
        imported=True,
    ),
    "an id taken again against its tombstone": Pair(
        purge(":.c:a", 3),
        register(":.c:b", ONE, id=7, version=1),
        (mode(":.c:", "IMPORT"), register(":.c:a", ONE, id=7, version=3), delete(":.c:a", 3)),
        imported=True,
    ),
    "versions brought against a registration": Pair(
        bring("orders", Had(2, 8, THREE), Had(3, 9, THREE, deleted=True)),
        register("orders", TWO),
        HISTORY[:1],
        imported=True,
    ),
    "versions brought twice, in part the same": Pair(
        bring("orders", Had(1, 1, ONE), Had(2, 2, TWO)), bring("orders", Had(2, 2, TWO), Had(3, 1, ONE)), imported=True
    ),
    "one id brought with two contents": Pair(bring("a", Had(1, 1, ONE)), bring("b", Had(1, 1, TWO)), imported=True),
    "one id brought to two subjects": Pair(
        bring(":.c:a", Had(1, 5, ONE)), bring(":.c:b", Had(1, 5, ONE), Had(2, 6, ONE)), imported=True
    ),
    "a reference brought against the soft delete of its target": Pair(
        bring("using", Had(1, 5, USING, "base")), delete("base", 1), BASED, imported=True
    ),
    "an id brought against its tombstone": Pair(
        purge(":.c:a", 3),
        bring(":.c:b", Had(1, 7, ONE)),
        (mode(":.c:", "IMPORT"), register(":.c:a", ONE, id=7, version=3), delete(":.c:a", 3)),
        imported=True,
    ),
    "versions brought against the drop of their context": Pair(
        bring(":.c:x", Had(1, 1, ONE)), drop_context(".c"), GONE, imported=True
    ),
    "a context listed against its drop": Pair(listed(".c"), drop_context(".c"), GONE),
    "an inherited level against a registration": Pair(
        register("orders", ONE.replace('"int"', '"string"')), config("", level="NONE"), HISTORY[:1]
    ),
    "an inherited mode against a registration": Pair(register("orders", TWO), mode("", "READONLY"), HISTORY[:1]),
    "an alias against a registration through it": Pair(
        register("alias", TWO), config("alias", alias="orders"), HISTORY[:1]
    ),
    "a level against a registration": Pair(
        register("orders", ONE.replace('"int"', '"string"')), config("orders", level="NONE"), HISTORY[:1]
    ),
}


@dataclass
class Intruder:
    """Runs a verb to its end on its own connection to the same stores."""

    world: World
    verb: Verb
    answer: Any = None

    def __call__(self, _: Call, carry_out: Callable[[], Any]) -> Any:
        self.answer = outcome(self.world, self.verb)
        return carry_out()


def in_order(pair: Pair, first: Verb, second: Verb) -> tuple[Any, Any, Any]:
    """What `pair.one` and `pair.other` answer, and what is left, if nothing is at the same time."""
    with World(*pair.before) as world:
        answers = {id(verb): without_ids(outcome(world, verb)) for verb in (first, second)}
        return answers[id(pair.one)], answers[id(pair.other)], world.picture()


def without_ids(answer: Any) -> Any:
    """The place of an id depends on what comes later; which content has one id is the picture's to tell."""
    if isinstance(answer, tuple) and len(answer) == 5:
        return (*answer[:3], answer[4])
    return answer


def allowed(pair: Pair) -> list[Any]:
    found = [in_order(pair, pair.one, pair.other), in_order(pair, pair.other, pair.one)]
    if pair.also is not None:
        with World(*pair.before) as world:
            pair.also(world.registry)
            alone = [in_alone(pair, verb) for verb in (pair.one, pair.other)]
            found.append((*alone, world.picture()))
    return found


def in_alone(pair: Pair, verb: Verb) -> Any:
    with World(*pair.before) as world:
        return without_ids(outcome(world, verb))


Happened = tuple[Any, Any, Any]
"""What `pair.one` and `pair.other` answered, and what can be read afterwards."""

Points = Callable[[list[str]], Iterable[int]]
"""Before which of these calls the other comes."""


def every_point(calls: list[str]) -> Iterable[int]:
    """But before the first: who comes there is first."""
    return range(1, len(calls))


def meetings(pair: Pair, fresh: Fresh = Embedded, points: Points = every_point) -> list[tuple[str, Happened]]:
    """Every way in which one verb can run inside the other, with its outcome."""
    found = []
    for outer, inner, flipped in ((pair.one, pair.other, False), (pair.other, pair.one, True)):
        recorder = Recorder()
        with World(*pair.before, store=fresh()) as world:
            outcome(world, outer, world.registry_with(recorder))
        for number in points(recorder.names):
            with World(*pair.before, store=fresh()) as world:
                meanings = world.meanings()
                at = At(number, intruder := Intruder(world, inner))
                answers = without_ids(outcome(world, outer, world.registry_with(at))), without_ids(intruder.answer)
                if not at.acted:
                    continue  # a busy engine had to be asked again where the calls were counted: here it has fewer
                world.check_sound(imported=pair.imported)
                world.store.check()
                assert meanings.items() <= world.meanings().items()
                where = f"{'one' if flipped else 'other'} before call {number} of {recorder.names}"
                found.append((where, (*(answers[::-1] if flipped else answers), world.picture())))
    return found


def meet(name: str, fresh: Fresh = Embedded, points: Points = every_point) -> None:
    """Raises AssertionError where a meeting ends as no order explains."""
    pair = PAIRS[name]
    explained = allowed(pair)
    for where, happened in meetings(pair, fresh, points):
        assert happened in explained, f"{name}: {where}"


@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_at_once_end_as_if_one_had_been_first(name: str) -> None:
    """Whoever comes between any two calls of the other; no lost race is shown to a client."""
    meet(name)


def test_a_referenced_schema_replaced_meanwhile_is_not_confused_with_its_successor() -> None:
    """Its number is given to other content between ask and commit: the new id refers to the new one."""
    other = BASE.replace('"int"', '"long"')

    def replace_base(registry: Registry) -> None:
        for verb in (delete("base"), purge("base"), register("base", other)):
            verb(registry)

    with World(*BASED) as world:
        recorder = Recorder()
        register("using", USING, "base")(world.registry_with(recorder))
    for number in range(len(recorder.calls)):
        with World(*BASED) as world:
            answer = outcome(
                world, register("using", USING, "base"), world.registry_with(At(number, Intruder(world, replace_base)))
            )
            world.check_sound()
            using = world.registry.version(Subject(".", "using"), LATEST, form="resolved")
            assert '"type":"long"' in using.schema.text, (recorder.names[number], answer)


@pytest.mark.parametrize("verb", [register("orders", ONE), on(Registry.lookup, "orders", Draft(ONE))])
def test_a_number_given_anew_meanwhile_is_not_taken_for_the_version_that_was_known(verb: Verb) -> None:
    """Whoever is answered with an id is answered with what it means."""

    def replace_all(registry: Registry) -> None:
        for each in (delete("orders"), purge("orders"), register("orders", THREE)):
            each(registry)

    recorder = Recorder()
    with World(*HISTORY) as world:
        outcome(world, verb, world.registry_with(recorder))
    for number in range(len(recorder.calls)):
        with World(*HISTORY) as world:
            try:
                answer = verb(world.registry_with(At(number, Intruder(world, replace_all))))
            except Refusal:
                continue
            meaning = world.store.bodies.get(BodyKey(".", answer.id)).schema
            assert meaning == answer.schema, recorder.names[number]


def test_who_loses_every_race_gives_up_at_the_deadline() -> None:
    """Waiting for ever would not be an answer: 50002, nothing half done, and not a real second is slept."""

    class Rival:
        """Registers something new before each commit."""

        def __init__(self, world: World) -> None:
            self.world = world
            self.wins = 0

        def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
            if call.is_commit:
                self.wins += 1
                register("orders", ONE.replace('"a"', f'"a{self.wins}"'), force=True)(self.world.registry)
            return carry_out()

    with World(*HISTORY) as world:
        rival = Rival(world)
        with pytest.raises(TimedOut) as refused:
            register("orders", THREE, force=True)(world.registry_with(rival))
        assert (refused.value.code, refused.value.message) == (50002, "Register operation timed out")
        assert rival.wins > 20
        assert world.clock.time - NOW >= 1000 * Options().retrying_seconds
        assert all(pause <= 1 for pause in world.clock.slept)
        assert len(world.rows()) == 2 + rival.wins
        world.check_sound()


def test_a_lost_race_wastes_no_id() -> None:
    """The id and the body drawn for an attempt are used by the next one."""
    with World(*HISTORY) as world:
        intruder = Intruder(world, delete("orders", 1))
        recorder = Recorder()
        with World(*HISTORY) as other:
            register("orders", THREE)(other.registry_with(recorder))
        commit_at = recorder.names.index("catalog.commit")
        found = register("orders", THREE)(world.registry_with(At(commit_at, intruder)))
        assert found.id == 3
        assert world.store.catalog.max_id(".") == 3
