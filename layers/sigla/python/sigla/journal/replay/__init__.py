"""What a dump of Confluent's `_schemas` topic comes to: records → events → the state that its registry was in.

Every function but `replayed` looks at one record, one version, one id or one subject, so that a cluster may share the
work among its machines; `replayed` is all of them in one process.
"""

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
    Nothing,
    Purged,
    Put,
    Skipped,
)
from sigla.journal.replay.lines import FORM, WITH_KEYS, Line, NoKey, NotARecord, Place, read_line
from sigla.journal.replay.records import ASK_HIGHEST, FOREIGN, TopicRecord, from_answer, highest_of, read
from sigla.journal.replay.states import (
    Claim,
    State,
    claims,
    key_of,
    last_words,
    lived,
    rejected,
    replayed,
    state_of,
    surviving,
)

__all__ = [
    "ASK_HIGHEST",
    "FOREIGN",
    "FORM",
    "WITH_KEYS",
    "Associated",
    "Claim",
    "Cleared",
    "ConfigSet",
    "ContextSet",
    "Continued",
    "DekSet",
    "Event",
    "Hidden",
    "KekSet",
    "Line",
    "ModeSet",
    "NoKey",
    "NotARecord",
    "Nothing",
    "Place",
    "Purged",
    "Put",
    "Skipped",
    "State",
    "TopicRecord",
    "claims",
    "from_answer",
    "highest_of",
    "key_of",
    "last_words",
    "lived",
    "read",
    "read_line",
    "rejected",
    "replayed",
    "state_of",
    "surviving",
]
