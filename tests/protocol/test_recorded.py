"""What a Confluent registry answered, conversation by conversation: ours answers the same.

Every difference there is stands here with its reason; one more, or one less, fails.
"""

import asyncio

import pytest

from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.app import build
from tests.build import tiers_before
from tests.protocol.conversations import replay, sessions

ANY_HOLDER = "an id with several subjects is answered for by any of them; ours is the smallest active one"
ACTIVE = (
    "an answer by GUID names any holder of the content; ours an active one where there is one, in whichever context"
)
FORGOTTEN = "every version of the content was deleted for good; the reference's index goes on naming the id"
REMEMBERED = (
    "the reference remembers texts that it has parsed, with what their references were: a reference to a version that "
    "was deleted since is still accepted; ours refuses it, as the reference itself does after a restart"
)
RETAGGED = (
    "a version derived from a Protobuf schema without a package (tags, rules, metadata) is refused by the reference, "
    "which takes no package and an empty one for two; ours accepts it, and what follows differs"
)
RESOLVED = "in the serialized form ours names all types in full, with their kind; the reference leaves them as written"
DISPLACED = (
    "an import has written over the last version of an id: the reference answers with the text that took its place, "
    "ours with the id's own"
)

EXPLAINED = {
    "transcripts.jsonl.gz": {
        ANY_HOLDER: {
            (100026, 36),
            (100066, 17),
            (100073, 17),
            (100073, 18),
            (100073, 20),
            (100158, 28),
            (100161, 4),
        },
        ACTIVE: {(100193, 32)},
        FORGOTTEN: {(100018, 39)},
        REMEMBERED: {(100172, 32)},
        RETAGGED: {(100284, 17), (100295, 25), (100305, 30), (100305, 37), (100327, 8), (100327, 34)},
        RESOLVED: {(100104, 20), (100126, 23), (100140, 35)},
    },
    "imports.jsonl.gz": {
        DISPLACED: {
            (700007, 35),
            (700015, 14),
            (700015, 26),
            (700015, 32),
            (700020, 18),
            (700020, 24),
            (700022, 36),
            (700031, 31),
            (700031, 34),
            (700031, 40),
            (700046, 35),
            (700046, 37),
            (700054, 30),
            (700058, 30),
        },
    },
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_recorded_conversations_are_answered_as_the_reference_answered_them(name: str) -> None:
    """Statuses, error codes, bodies and the contract's sentences; 17,335 steps in all."""
    recorded = sessions(name)
    with EmbeddedStore() as store:
        bodies = tiers_before(store.bodies, unsettled=store.bodies.unsettled)
        app = build(Registry(store.catalog, bodies, SystemClock()))
        found = asyncio.run(replay(app, recorded))
    explained = set().union(*EXPLAINED[name].values())
    unexplained = {step: text for step, text in found.items() if step not in explained}
    assert unexplained == {}
    assert set(found) == explained
