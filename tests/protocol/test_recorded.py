"""What a Confluent registry answered, conversation by conversation: ours answers the same.

Every difference there is stands here with its reason; one more, or one less, fails.
"""

import asyncio

import pytest

from sigla.cache.memory import Memory
from sigla.cache.tiers import Tiers
from sigla.embedded.clock import SystemClock
from sigla.embedded.store import EmbeddedStore
from sigla.registry import Registry
from sigla.web.app import build
from tests.protocol.conversations import replay, sessions

ANY_HOLDER = "an id with several subjects is answered for by any of them; ours is the smallest active one"
OTHER_LANGUAGES = "the list also names subjects of conversations in other schema languages, which are not replayed"
DISPLACED = (
    "an import displaced the last version of an id or a content: the reference's index goes on pointing at the "
    "version, which means something else by now; ours says that nobody holds it"
)

EXPLAINED = {
    "transcripts_avro.jsonl.gz": {
        ANY_HOLDER: {(100026, 36), (100062, 32), (100066, 17), (100158, 28)},
        OTHER_LANGUAGES: {(100087, 27), (100142, 13), (100252, 24), (100252, 25), (100304, 6), (100304, 20)},
    },
    "imports_avro.jsonl.gz": {
        DISPLACED: {
            (700013, 8),
            (700013, 33),
            (700020, 18),
            (700020, 24),
            (700054, 30),
            (700054, 39),
            (700056, 33),
            (700056, 34),
            (700056, 40),
            (700057, 17),
            (700057, 18),
            (700058, 30),
        },
    },
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_recorded_conversations_are_answered_as_the_reference_answered_them(name: str) -> None:
    """Statuses, error codes, bodies and the contract's sentences; 6,742 steps in all."""
    recorded = sessions(name)
    with EmbeddedStore() as store:
        bodies = Tiers(Memory(2**24), store.bodies, unsettled=store.bodies.unsettled)
        app = build(Registry(store.catalog, bodies, SystemClock()))
        found = asyncio.run(replay(app, recorded))
    explained = set().union(*EXPLAINED[name].values())
    unexplained = {step: text for step, text in found.items() if step not in explained}
    assert unexplained == {}
    assert set(found) == explained
