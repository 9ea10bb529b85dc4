"""Two versions of a subject: can each be read as the other? Judged by the registry's own checker, and by no other.

Subjects are cut into blocks of BLOCK versions, so that one with 5,000 is the work of 55 tasks and not of one; what
several subjects have in common is compared once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, Final

import pyarrow as pa

from sigla import opening
from sigla.contract import STRICT
from sigla.languages import LANGUAGES
from sigla.model import BodyKey, Parsed, SchemaId, Version
from sigla.rules import compatibility
from sigla.rules.compatibility import LEVELS, Against, Direction, Earlier
from sigla.settings import Address
from sigla_pipelines.audit.facts import Understanding

BLOCK: Final = 500

FAILURES: Final = pa.schema(
    [
        pa.field("context", pa.string()),
        pa.field("policy", pa.string()),
        pa.field("newer", pa.int64()),
        pa.field("older", pa.int64()),
        pa.field("direction", pa.string()),
        pa.field("messages", pa.list_(pa.string())),
    ]
)
"""A pair of ids of which one cannot be read as the other. direction: BACKWARD, the newer cannot read the older's data;
FORWARD, the older not the newer's."""

DIRECTIONS: Final = {"BACKWARD": Direction.NEW_READS_OLD, "FORWARD": Direction.OLD_READS_NEW}
"""By the level that asks for this direction alone."""

_MOST_MESSAGES: Final = 20
"""How many findings of one pair are kept; the first ones say what is wrong."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which comparisons a question needs. neighbours: only those of a version with the one before it.

    block: how many versions of a subject are compared at once with as many others.
    """

    directions: tuple[str, ...] = tuple(DIRECTIONS)
    neighbours: bool = False
    block: int = BLOCK


def scope_of(level: str | None, block: int = BLOCK) -> Scope:
    """What one level needs; None: all of them."""
    if level is None:
        return Scope(block=block)
    wanted = LEVELS[level]
    names = tuple(name for name, direction in DIRECTIONS.items() if direction in wanted.directions)
    return Scope(names, neighbours=wanted.against is Against.LATEST, block=block)


def failures_of_blocks(batches: Iterable[pa.RecordBatch], address: Address, scope: Scope) -> Iterator[pa.RecordBatch]:
    """batches: blocks, with `context`, `policy`, `newer` and `older`, which are ids in the order of their versions.

    An empty `older`: the block is compared with itself.
    """
    with opening.bodies(address) as bodies:
        understanding = Understanding(bodies)
        for batch in batches:
            for block in batch.to_pylist():
                rows = list(_failures(block, understanding, scope))
                yield pa.RecordBatch.from_pylist(rows, FAILURES)


def _failures(block: dict[str, Any], understanding: Understanding, scope: Scope) -> Iterator[dict[str, Any]]:
    context, policy = block["context"], block["policy"]
    pairs = dict.fromkeys(pairs_of(block["newer"], block["older"], neighbours=scope.neighbours))
    parsed: dict[int, Parsed] = {}
    for newer, older in pairs:
        for id in (newer, older):
            if id not in parsed:
                parsed[id] = understanding.parsed(BodyKey(context, SchemaId(id)))
        for direction in scope.directions:
            messages = messages_of_pair(parsed[newer], parsed[older], direction, policy or STRICT)
            if messages:
                found = {"newer": newer, "older": older, "direction": direction, "messages": messages}
                yield {"context": context, "policy": policy, **found}


def pairs_of(newer: list[int], older: list[int], *, neighbours: bool) -> Iterator[tuple[int, int]]:
    """(newer, older), of ids in the order of their versions. older: the block before; empty: pairs within `newer`."""
    if neighbours:
        found: Iterable[tuple[int, int]] = ((b, a) for a, b in pairwise([*older[-1:], *newer][: 2 if older else None]))
    elif older:
        found = product(newer, older)
    else:
        found = ((new, old) for at, new in enumerate(newer) for old in newer[:at])
    return ((new, old) for new, old in found if new != old)


def messages_of_pair(newer: Parsed, older: Parsed, direction: str, policy: str) -> list[str]:
    """The checker's messages about the schemas; what it adds to quote them is left out."""
    earlier = (Earlier(Version(0), older, None),)
    language = LANGUAGES[newer.language]
    messages = compatibility.check(newer, None, earlier, language=language, level=direction, policy=policy)
    return [message for message in messages if not message.startswith(_QUOTES)][:_MOST_MESSAGES]


_QUOTES: Final = ("{oldSchemaVersion:", "{oldSchema:", "{validateFields:")
