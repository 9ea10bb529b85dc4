"""What an exporter does: it follows the journal and makes the destination equal to the source.

A row of the journal says which subject changed, which settings, which key: a *matter*. What it says of the change
itself is not used. A turn reads how the matter stands at the source now, looks how it stands at the destination, and
writes the difference. So every step may be repeated and may be cut off anywhere, rows may come twice and in any order,
and a first walk through everything is the same as following a journal.

    turns       one turn: the walk, or the rows since the last one; what waits; how far it has come
    matters     which matters there are: in a row of the journal, and in the whole source
    course      what subjects and keys are called at the destination, and how references to them are written there
    gate        whether a context of the destination may be written to: it is in IMPORT
    subjects    the versions of a subject, what they reference first; its settings
    keys        KEKs and DEKs
"""

from sigla.exporters.running.turns import Turn, turn

__all__ = ["Turn", "turn"]
