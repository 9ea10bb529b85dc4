"""How a command ends, as a number."""

from typing import Final

NOT_DONE: Final = 1
"""It was asked for properly and cannot be done: a store is silent, or a source has changed."""
MISUSED: Final = 2
"""The caller has to change something."""
INTERRUPTED: Final = 130
"""As a shell has it for a command that Ctrl-C ended: 128 and the signal."""
UNHEARD: Final = 141
"""The same for a command whose reader has gone away."""
