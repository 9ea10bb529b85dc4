"""The directory of zones: where each one's endpoint is, and whether it is well."""

from dataclasses import replace
from datetime import UTC, datetime

from sigla.ports.zones import Zone
from sigla.registry.resources import Resources

LATE_MS = 180_000
"""Three heartbeats: one may get lost, two may be chance."""
GONE_MS = 3_600_000
"""Who was not heard of for so long is not there any more."""


def zones(resources: Resources) -> tuple[Zone, ...]:
    """Those heard of within the last hour, by id. After three minutes of silence a zone is not healthy."""
    if resources.directory is None:
        return ()
    now = resources.clock.now()
    return tuple(_as_of(now, zone) for zone in resources.directory.list() if now - zone.checked < GONE_MS)


def _as_of(now: int, zone: Zone) -> Zone:
    if now - zone.checked < LATE_MS:
        return zone
    since = datetime.fromtimestamp(zone.checked / 1000, UTC)
    return replace(zone, healthy=False, reason=f"not heard of since {since:%Y-%m-%d %H:%M:%S} UTC")
