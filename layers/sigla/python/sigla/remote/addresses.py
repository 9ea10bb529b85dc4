"""Where another region of the registry is served, and how it is asked there."""

from base64 import b64encode
from urllib.parse import urlsplit

from sigla.ports.clock import Clock
from sigla.remote.client import trusting
from sigla.remote.connections import RemoteConnection, RemoteLimits
from sigla.remote.failures import RemoteMisused
from sigla.remote.urls import is_url, shown_url


class RegionAddress:
    """shown: the URL, for people. path: before that of each request. Raises RemoteMisused for a URL of another form."""

    def __init__(self, url: str, clock: Clock) -> None:
        self.shown = shown_url(url)
        if not is_url(url):
            raise RemoteMisused(f"Invalid URL of a registry {self.shown}: such a URL is http://HOST:PORT.")
        parts = urlsplit(url)
        self.path = parts.path.rstrip("/")
        self._tls = trusting() if parts.scheme == "https" else None
        self._host, self._port = parts.hostname or "", parts.port
        self._clock = clock

    def connection(self, limits: RemoteLimits) -> RemoteConnection:
        return RemoteConnection(self._host, self._port, limits, self._clock, self._tls)


def basic_authorization(credentials: str) -> str:
    """Gives the value of a header. credentials: NAME:SECRET."""
    return f"Basic {b64encode(credentials.encode()).decode()}"
