"""What `sigla mirror` tells of what is still to be done."""

from sigla.cli.mirror_told import freeze
from sigla.journal.replay import State
from sigla.model import GLOBAL, Settings, Subject
from sigla.upkeep.mirroring import scopes_to_freeze, writable


def test_each_mode_that_hinders_the_end_has_its_command() -> None:
    """What inherits has none: of a context with a mode of its own only that one counts."""
    eu, us, odd = Subject(".eu", ""), Subject(".us", ""), Subject(".", "a b/c")
    open_one = Settings(mode="READWRITE")
    frozen_one = Settings(mode="READONLY")
    there = State(
        contexts=(".eu", ".us"),
        settings={eu: open_one, odd: open_one, GLOBAL: frozen_one, us: frozen_one},
        subjects={odd: (), Subject(".eu", "orders"): (), Subject(".us", "orders"): ()},
    )
    left = writable(there)
    commands = freeze("http://old:8081/", left, [*scopes_to_freeze(there, left)]).splitlines()[1:]
    assert [line.rpartition(" ")[2] for line in commands] == [
        "http://old:8081/mode/:.eu:",
        "http://old:8081/mode/a%20b%2Fc",
    ]
