"""What each verb asks of AWS, as the function is wired: its calls, round by round, and the units of DynamoDB they take.

The calls of a round are under way at the same time, so rounds are what a client waits for. Schemas of some hundred
bytes. `tests/unit/aws/test_trips.py` holds the registry to this table, and costs are computed from it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

Rounds = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Trips:
    """read, write: request units of DynamoDB; a read that need not see the last write takes half of one."""

    rounds: Rounds = ()
    read: float = 0
    write: int = 0

    @property
    def serial(self) -> int:
        """Round trips that wait for each other."""
        return len(self.rounds)

    @property
    def calls(self) -> Mapping[str, int]:
        """How many of each operation: {"GetObject": 1, …}."""
        return Counter(operation for each in self.rounds for operation in each)


BATCH, QUERY, DRAW, COMMIT = "BatchGetItem", "Query", "UpdateItem", "TransactWriteItems"
GET, PUT, LIST = "GetObject", "PutObject", "ListObjectsV2"
KEEP, FETCH, FORGET = "PutParameter", "GetParameter", "DeleteParameter"

ASK: Rounds = ((BATCH,),)
"""Heads, settings, versions, the id of a content: whatever is wanted by its key."""
BODY: Rounds = ((GET,),)
HOLDERS: Rounds = ((QUERY,), (BATCH,))
"""The rows of an id, then the heads of their subjects."""
COLD: Rounds = ((GET, QUERY), (BATCH,))
"""A body, and who holds its id beside it."""
HISTORY: Rounds = ((QUERY,),)
NEW: Rounds = ((DRAW,), (PUT, PUT), (COMMIT,))
"""A number, the body with its pointer, the commit."""
LOOK = (BATCH, GET)
"""Whose table and bucket are: beside the first round of an environment, where the deployment has an identity."""
SHARDS: Rounds = ((QUERY,) * 16,)
BURY: Rounds = ((GET,), (PUT,), (QUERY,))
"""A tombstone in the place of a body, and whether the id is still without a holder."""

CHANGE: Rounds = (*ASK, *ASK, (COMMIT,))
"""An exporter, what it does, and the commit."""

TRIPS: Mapping[str, Trips] = {
    # By id; "again" within a minute, by the same instance.
    "read by id": Trips(COLD, read=2),
    "read by id, and whose it is": Trips(((*COLD[0], *LOOK), *COLD[1:]), read=3),
    "read by id again": Trips(),
    "read by id after a minute": Trips(HOLDERS, read=2),
    "read by id in a warm zone": Trips(HOLDERS, read=2),
    "read an unknown id": Trips(((GET, QUERY),), read=1),
    "read by id for a subject": Trips(COLD, read=3),
    "read by id for a subject again": Trips(),
    "read by id for a subject that has not got it": Trips(((GET, QUERY), *ASK, (QUERY,), (QUERY,), *HOLDERS), read=9),
    "read by guid": Trips((*ASK, *COLD), read=3),
    "read by guid again": Trips(ASK, read=1),
    "read by guid what only a named context has": Trips((*ASK, (LIST,), (GET,), *COLD), read=3),
    # Beside reads by id: who made them.
    "note a read that is noted today": Trips(ASK, read=0.5),
    "note the first read of a day": Trips((*ASK, (DRAW,)), read=0.5, write=1),
    "note the first read of a key": Trips((*ASK, (DRAW,), *ASK, (DRAW,)), read=1.5, write=2),
    "read the usage of a subject": Trips((*ASK, *HISTORY, *HISTORY, *ASK), read=6.5),
    # By subject and version.
    "read the latest version": Trips((*ASK, *BODY), read=4),
    "read the latest version again": Trips(ASK, read=4),
    "read a version": Trips((*ASK, *BODY), read=5),
    "look a schema up": Trips((*ASK, *ASK), read=5),
    "list the versions of a subject": Trips((*ASK, *HISTORY), read=5),
    "read the history of a subject": Trips((*ASK, *HISTORY), read=5),
    "read the history of a subject, with names": Trips((*ASK, *HISTORY, *HISTORY), read=6),
    "read a config": Trips(ASK, read=4),
    "read a config, and whose it is": Trips(((BATCH, *LOOK),), read=5),
    # Registering; bodies of older versions and of references are read once by each instance.
    "register a known schema": Trips((*ASK, *BODY), read=5),
    "register a known schema again": Trips(ASK, read=5),
    "register a known schema, spelled otherwise": Trips((*ASK, *ASK, *BODY), read=6),
    "register a known schema, spelled otherwise, again": Trips((*ASK, *ASK), read=6),
    "register a known schema by an alias": Trips((*ASK, *ASK, *BODY), read=10),
    "register a first version": Trips((*ASK, *NEW), read=5, write=17),
    "register a first version, and whose it is": Trips(((BATCH, *LOOK), *NEW), read=6, write=17),
    "register a first version in a named context": Trips((*ASK, *NEW[:2], *ASK, (COMMIT,)), read=7, write=21),
    "register a next version": Trips((*ASK, *HISTORY, *NEW), read=6, write=15),
    "register a next version, cold": Trips((*ASK, *HISTORY, *BODY, *NEW), read=6, write=15),
    "register a first version, by a new key": Trips((*ASK, *NEW[:2], *ASK, (DRAW,), (COMMIT,)), read=6, write=18),
    "register a next version, by a key": Trips((*ASK, *HISTORY, *NEW[:2], *ASK, (COMMIT,)), read=7, write=15),
    "register a next version, by a key again": Trips((*ASK, *HISTORY, *NEW), read=6, write=15),
    "register a schema with a reference": Trips((*ASK, *ASK, *NEW), read=7, write=21),
    "register a schema with a reference, cold": Trips((*ASK, *BODY, *ASK, *NEW), read=7, write=21),
    "register a schema that another subject has": Trips((*ASK, *BODY, *HISTORY, (COMMIT,)), read=6, write=16),
    "check a schema against the latest version": Trips((*ASK, *BODY), read=4),
    # Lists.
    "list subjects": Trips((*SHARDS, *SHARDS), read=32),
    "list subjects, and whose it is": Trips(((*SHARDS[0], *LOOK), *SHARDS), read=33),
    "list subjects by a prefix": Trips(SHARDS, read=16),
    "list schemas by a prefix": Trips((*SHARDS, *HISTORY, *BODY), read=17),
    "list who uses an id": Trips((*COLD, (LIST,), (GET,), *HOLDERS), read=4),
    # Topics: what serializers ask before the first message of each.
    "find the subject of a topic": Trips(((QUERY,),), read=1),
    "associate a topic": Trips((*ASK, (QUERY,), *ASK, (COMMIT,)), read=9, write=16),
    "associate a topic with a subject that others use": Trips(
        (*ASK, (QUERY,), *ASK, (QUERY,), (COMMIT,)), read=10, write=16
    ),
    # Exporters, and their credentials in the parameter store.
    "list exporters": Trips(((QUERY,),), read=1),
    "read an exporter": Trips(ASK, read=1),
    "read the status of an exporter": Trips(ASK, read=1),
    # Two units are a look at the region's role, in an instance that has asked about no subject for a minute.
    "create an exporter": Trips(((QUERY,), (COMMIT,)), read=1, write=6),
    "create an exporter with credentials": Trips(((QUERY,), (KEEP,), (COMMIT,)), read=1, write=6),
    "change an exporter": Trips(CHANGE, read=2, write=6),
    "change the credentials of an exporter": Trips((*ASK, *ASK, (KEEP,), (COMMIT,), (FORGET,)), read=2, write=6),
    "change the config of an exporter, not its credentials": Trips(
        (*ASK, *ASK, (FETCH,), (KEEP,), (COMMIT,), (FORGET,)), read=2, write=6
    ),
    "pause an exporter": Trips(CHANGE, read=2, write=6),
    "pause an exporter that is paused": Trips((*ASK, *ASK), read=2),
    "resume an exporter": Trips(CHANGE, read=2, write=6),
    "reset an exporter": Trips(CHANGE, read=2, write=6),
    "delete an exporter": Trips((*CHANGE, (FORGET,)), read=2, write=6),
    # Settings and deletes.
    "change a config": Trips((*ASK, (COMMIT,)), read=4, write=8),
    "delete a version": Trips((*ASK, *HISTORY, *HISTORY, (COMMIT,)), read=7, write=12),
    "delete a version for good": Trips((*ASK, *HISTORY, *HISTORY, *ASK, (COMMIT,), *BURY), read=10, write=16),
    "delete a subject": Trips((*ASK, *HISTORY, *HISTORY, (COMMIT,)), read=6, write=8),
    "delete a subject for good": Trips(
        (*ASK, *HISTORY, *HISTORY, *HISTORY, (COMMIT,), *HISTORY, *ASK, (COMMIT,), *HISTORY, *BURY), read=12, write=18
    ),
}
"""Each by an instance that has just begun, unless it says otherwise; without a ring, but for warm zones."""
