"""What the environment says to a command that only reads: `wiring`, which opens servers, takes their time."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigla.settings import Settings


def of_another_registry(variable: str) -> str:
    """What the environment says of a registry that is asked: its URL, or with which credentials."""
    return os.environ.get(variable, "")


def settings() -> "Settings":
    """Those of a server that would be started here. Raises InvalidSetting."""
    from sigla.settings import Settings

    return Settings.read(os.environ)
