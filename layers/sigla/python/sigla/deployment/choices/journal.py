"""The settings `journal.…`."""

from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together


@dataclass(frozen=True, slots=True)
class JournalChoices:
    """The function that writes the journal to the bucket.

    stream: follow the table's stream; else it looks at the table's rows every quarter of an hour, and only then. A
        stream has two readers: of stacks that share a table, two may follow it.
    """

    stream: bool = True


RULES: Rules = {}

TOGETHER: Together = ()
