"""The directory of zones of one process, which is told of their heartbeats and forgets them when it ends."""

import threading

from sigla.ports.zones import Zone


class EmbeddedZones:
    """A `ports.Zones`. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: dict[str, Zone] = {}

    def beat(self, zone: Zone) -> None:
        with self._lock:
            if zone.checked >= self._heard.get(zone.id, zone).checked:
                self._heard[zone.id] = zone

    def list(self) -> tuple[Zone, ...]:
        with self._lock:
            return tuple(self._heard[id] for id in sorted(self._heard))
