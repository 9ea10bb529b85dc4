"""A registry that is kept as another one is, until clients are moved over.

An import brings what is missing here and overwrites nothing. A mirror does the rest as well: what has changed there
changes here, and what is gone there goes here. So it needs a registry that no client writes to, which mode IMPORT of
the whole registry says (`beginning`); modes of the source are held back until then (`cut_over`).

A turn makes everything equal to one state of the source, in an order in which nothing is needed before it is there:

    associations that are gone   before their subjects go
    versions that are new        by `importing`, with their bodies and all else that is new
    versions that changed        deleted or active again, another time, or written over
    versions that are gone       and those of which another one has taken the number, which comes then
    settings, contexts, keys     as they are there

It may be cut off anywhere: the next one looks at what stands. The first turn compares all, each later one what differs
from the state before.
"""

from sigla.upkeep.mirroring.beginning import NotAMirror, begin, is_mirror
from sigla.upkeep.mirroring.cut_over import cut_over, read_only, scopes_to_freeze, writable
from sigla.upkeep.mirroring.mirror import Mirror
from sigla.upkeep.mirroring.tally import Tally, TooMuchGone

__all__ = [
    "Mirror",
    "NotAMirror",
    "Tally",
    "TooMuchGone",
    "begin",
    "cut_over",
    "is_mirror",
    "read_only",
    "scopes_to_freeze",
    "writable",
]
