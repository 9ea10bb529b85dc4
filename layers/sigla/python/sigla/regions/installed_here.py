"""What this server, or this stack, runs, as another region compares it."""

from typing import Final

from sigla.regions.installed import Installed
from sigla.settings import PREFIX, Settings

ANSWERING: Final = (
    "default_level",
    "mode_mutability",
    "strict_reference_versions",
    "schema_bytes",
    "request_bytes",
    "quota_requests_per_second",
    "quota_versions",
    "quota_bytes",
)
"""Settings by which a registry answers otherwise."""


def installed_here(release: str, settings: Settings, auth: str, peer: str = "") -> Installed:
    """auth: who may ask, as it is in force. peer: the URL of the other region's stores, as the settings name them."""
    said = {name: getattr(settings, name) for name in ANSWERING} | {"auth": auth}
    return Installed(release, {f"{PREFIX}{name.upper()}": f"{value}".lower() for name, value in said.items()}, peer)
