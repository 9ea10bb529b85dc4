"""What follows the registry's table: its stream, and every quarter of an hour what the stream has not brought."""

from sigla import wiring

handler = wiring.journal_handler()
