"""What exporters have still to write to other registries: its clock wakes it, and the journal's function."""

from sigla import wiring

handler = wiring.exporters_handler()
