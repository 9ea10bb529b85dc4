"""What a Confluent registry answered, conversation by conversation: ours answers the same.

Every difference there is stands here with its reason; one more, or one less, fails.
"""

import asyncio
from collections.abc import Mapping, Sequence

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

NAMED = (
    "an id belongs to one topic, whose name never changes; the reference does not compare names, and goes on from there"
)
TAKEN_OVER = (
    "a topic of the same name with another id takes a weak association over in the reference; ours refuses it, "
    "and what follows differs"
)
TRUE_CODES = (
    "within batches the reference answers 500 for what a client sent, 42212 for an invalid schema, and 500 where a "
    "wildcard finds something; ours answers with the code of the same refusal elsewhere, or with what was found"
)
ALIASED = "an alias leads to another context, whose ids the recording counts in the default one"


def _steps(by_session: Mapping[int, Sequence[int]]) -> set[tuple[int, int]]:
    return {(session, step) for session, steps in by_session.items() for step in steps}


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
    "associations.jsonl.gz": {
        NAMED: _steps(
            {
                7200003: [17, 19, 35, 37],
                7200032: [37],
                7200049: [11, 33],
                7200163: [20, 25, 29, 32, 36, 39, 40, 42, 45],
                7200165: [16],
                7200214: [28],
                7200346: [35],
                7200373: [18, 46],
                7200376: [44],
                7200388: [7, 27],
                7200434: [23, 25, 26, 31, 33, 36, 40],
            }
        ),
        TAKEN_OVER: _steps({7200086: [10, 12, 16, 18, 22, 24, 27, 32, 34, 35], 7200163: [31]}),
        TRUE_CODES: _steps(
            {
                7200026: [7, 9],
                7200032: [13],
                7200033: [5, 21],
                7200041: [31],
                7200049: [10, 13, 17, 19],
                7200052: [10],
                7200053: [5, 20, 36],
                7200062: [19],
                7200068: [7],
                7200080: [46],
                7200086: [21],
                7200090: [43],
                7200099: [4],
                7200126: [8],
                7200142: [27],
                7200145: [6],
                7200146: [15, 29, 33],
                7200164: [51],
                7200165: [18, 40],
                7200167: [28],
                7200169: [16, 45],
                7200183: [41],
                7200193: [5],
                7200199: [7, 12, 34, 43],
                7200214: [8, 10, 17, 32, 35, 40],
                7200235: [9],
                7200246: [2],
                7200260: [13],
                7200265: [13],
                7200266: [36, 39, 44],
                7200275: [39, 41],
                7200276: [17],
                7200277: [18],
                7200288: [5, 18],
                7200294: [40],
                7200297: [15, 38],
                7200303: [36],
                7200305: [42],
                7200310: [46],
                7200340: [41],
                7200342: [46],
                7200344: [46],
                7200355: [27],
                7200361: [6],
                7200373: [7, 14, 17, 19, 29],
                7200379: [7, 8, 9, 21, 22, 28, 38],
                7200388: [6],
                7200391: [31],
                7200401: [7],
                7200409: [5, 10, 24, 40, 42],
                7200411: [13],
                7200412: [36, 46],
                7200428: [4, 43],
                7200434: [28, 35],
                7200441: [22, 39],
            }
        ),
        ALIASED: _steps({7200361: [37], 7200401: [19]}),
    },
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_recorded_conversations_are_answered_as_the_reference_answered_them(name: str) -> None:
    """Statuses, error codes, bodies and the contract's sentences; 22,717 steps in all."""
    recorded = sessions(name)
    with EmbeddedStore() as store:
        bodies = tiers_before(store.bodies, unsettled=store.bodies.unsettled)
        app = build(Registry(store.catalog, bodies, SystemClock()))
        found = asyncio.run(replay(app, recorded))
    explained = set().union(*EXPLAINED[name].values())
    unexplained = {step: text for step, text in found.items() if step not in explained}
    assert unexplained == {}
    assert set(found) == explained
