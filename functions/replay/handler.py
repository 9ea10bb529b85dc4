"""What a registry does for its other region: its clock wakes it, the table's stream, and the other region's news."""

from sigla import wiring

handler = wiring.replay_handler()
