"""What becomes of TLS handshakes: threads that compute them, figures for `/metrics`, lines that say why one failed."""

import ssl
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from os import cpu_count

from sigla.observe import Facts, Teller
from sigla.ports.clock import Clock
from sigla.web.local.heartbeat import heartbeat
from sigla.web.local.metrics import metric_lines
from sigla.web.local.pair import Files, Pair, Renewed

TOLD_AGAIN_MS = 60_000
"""How long the log tells nothing more of clients that fail for a reason that it has told."""

AT_ONCE = min(4, max(1, (cpu_count() or 1) - 1))
"""Threads: one core less than there are, so that a crowd that connects anew takes no time from those who are here."""

PLAIN, LATE = "plain HTTP", "late"

WHY = {
    PLAIN: "It spoke HTTP without TLS: its URL must begin with https://.",
    LATE: "It did not finish in time.",
    "TLSV1_ALERT_UNKNOWN_CA": "It does not know the authority that signed the certificate: name it to the client.",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "It does not trust the certificate: see whom it is for, and who signed it.",
    "SSLV3_ALERT_BAD_CERTIFICATE": "It does not trust the certificate: see whom it is for, and who signed it.",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "It says that the certificate has expired: compare the clocks.",
    "UNSUPPORTED_PROTOCOL": "It speaks no TLS from version 1.2 on.",
    "NO_SHARED_CIPHER": "It speaks no cipher that this registry does.",
}
"""What an operator can do about it, by the reason of ours or of OpenSSL's."""


class Handshakes:
    """Those of one server. renewed: has the pair that new connections get.

    done, failed: how many since the start; those that failed by their reason.
    """

    def __init__(self, renewed: Renewed, tell: Teller, clock: Clock) -> None:
        self.renewed = renewed
        self.done = 0
        self.failed: Counter[str] = Counter()
        self._tell = tell
        self._clock = clock
        self._told: dict[str, tuple[int, int]] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "sigla-handshake")

    @property
    def pair(self) -> Pair:
        return self.renewed.pair

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def begin(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO) -> ssl.SSLObject:
        return self.pair.context.wrap_bio(incoming, outgoing, server_side=True)

    def step(self, secured: ssl.SSLObject) -> "Future[None]":
        """Computes as much as has arrived, in a thread: a signature by RSA takes milliseconds."""
        return self._threads.submit(secured.do_handshake)

    def fails(self, reason: str, client: str) -> None:
        """Counts it, and tells of it unless the same was told a moment ago."""
        self.failed[reason] += 1
        now = self._clock.now()
        at, count = self._told.get(reason, (now - TOLD_AGAIN_MS, 0))
        if now - at < TOLD_AGAIN_MS:
            return
        self._told[reason] = now, self.failed[reason]
        self._tell(_line(reason, client, self.failed[reason] - count))

    def lines(self) -> Iterator[str]:
        """The lines for `/metrics`."""
        ends = [("", self.pair.ends)]
        yield from metric_lines(
            "sigla_tls_certificate_end_seconds", "gauge", "When the certificate ends, since 1970.", ends
        )
        failed = sum(self.failed.values())
        outcomes = [('{outcome="done"}', self.done), ('{outcome="failed"}', failed)]
        yield from metric_lines("sigla_tls_handshakes_total", "counter", "TLS handshakes since the start.", outcomes)


@contextmanager
def securing(files: Files, tell: Teller, clock: Clock) -> Iterator[Handshakes]:
    """Handshakes with the pair in these files, which are looked at until the block ends. Raises InvalidPair."""
    renewed = Renewed(files, tell)
    with heartbeat(renewed.look), closing(Handshakes(renewed, tell, clock)) as handshakes:
        yield handshakes


def _line(reason: str, client: str, times: int) -> Facts:
    why = WHY.get(reason, f"OpenSSL says {reason.replace('_', ' ').lower()}.")
    return {
        "event": "tls-failed",
        "reason": reason,
        "client": client,
        "times": times,
        "message": f"A client at {client} got no TLS connection. {why}",
    }
