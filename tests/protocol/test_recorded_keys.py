"""What a Confluent key registry answered, conversation by conversation: ours answers the same.

Every difference there is stands here with its reason; one more, or one less, fails.
"""

import asyncio
from typing import Any

from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.app import build
from tests.protocol.conversations import replay, sessions

LATEST = (
    "to delete or undelete `versions/latest` is answered 204 by the reference, and nothing happens; ours means the "
    "latest version, and what follows differs"
)
UNLISTED = (
    "the reference stores versions below 1 and 2147483647, which it cannot list, or not even delete; ours refuses them "
    "with 42202, and what follows differs"
)

EXPLAINED = {
    LATEST: {
        (7100005, 50),
        (7100063, 26),
        (7100063, 40),
        (7100063, 50),
        (7100063, 51),
        (7100080, 44),
        (7100126, 44),
        (7100151, 27),
        (7100346, 6),
        (7100361, 16),
    },
    UNLISTED: {
        (7100011, 32),
        (7100011, 38),
        (7100011, 42),
        (7100011, 51),
        (7100039, 48),
        (7100123, 17),
        (7100151, 28),
        (7100151, 47),
        (7100305, 11),
        (7100305, 13),
        (7100305, 24),
        (7100305, 26),
        (7100305, 32),
        (7100305, 42),
        (7100305, 46),
        (7100347, 22),
        (7100347, 24),
        (7100347, 30),
        (7100347, 32),
        (7100347, 40),
        (7100347, 44),
        (7100347, 52),
        (7100361, 8),
        (7100361, 12),
        (7100361, 15),
        (7100361, 29),
    },
}


def asks_a_key_service(session: Any) -> bool:
    """Under a shared KEK the registry itself wraps and unwraps."""
    return any('"shared": true' in step.get("content", "") for step in session["steps"])


def test_recorded_conversations_about_keys_are_answered_as_the_reference_answered_them() -> None:
    """Statuses, error codes, bodies and sentences: 3,374 steps about keys that clients wrap themselves."""
    recorded = [session for session in sessions("dek.jsonl.gz") if not asks_a_key_service(session)]
    with EmbeddedStore() as store:
        found = asyncio.run(replay(build(Registry(store.catalog, store.bodies, SystemClock())), recorded))
    explained = set().union(*EXPLAINED.values())
    unexplained = {step: text for step, text in found.items() if step not in explained}
    assert unexplained == {}
    assert set(found) == explained
