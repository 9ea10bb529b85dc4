"""What asks each zone how it is, once a minute: one invocation for each."""

from sigla import wiring

handler = wiring.heartbeat_handler()
