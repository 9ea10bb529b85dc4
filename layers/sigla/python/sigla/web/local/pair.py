"""A certificate and its key, for TLS: read, tried, and read again when their files change.

A pair is tried before a client meets it, by a handshake within this process whose client trusts this certificate alone.
So a key of another certificate, an end in the past, a certificate of another purpose and a file that is half written
are found here, and while a server runs the pair before stays in use.
"""

import re
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sigla.observe import Teller
from sigla.settings import PREFIX, InvalidSetting, Settings

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")

FOREIGN_KEY = {"KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED"}
"""What OpenSSL says of a key that belongs to another certificate, of its own kind and of another one."""

NOT_WHOLE = {None, "PEM_LIB"}
"""What it says of a file that breaks off, by the release of Python."""

NOT_YET, EXPIRED, OTHER_PURPOSE = 9, 10, 26
"""Codes of OpenSSL's verification (X509_V_ERR_…)."""

UNUSABLE = {
    NOT_YET: "The certificate {cert} is not valid yet: look at the clock of this machine, or wait.",
    EXPIRED: "The certificate {cert} has expired: renew it.",
    OTHER_PURPOSE: "The certificate {cert} is not one of a server: its extended key usage lacks serverAuth.",
}


class InvalidPair(InvalidSetting):
    """One sentence: which file, what is wrong with it, what would be right."""


class Files(NamedTuple):
    """Both in PEM; cert may have the certificates of authorities behind its own. One file may be both."""

    cert: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Pair:
    """One that can be used. names: whom the certificate is for. ends: after that clients refuse it, in seconds.

    signs_itself: whether no authority signed it, so that clients have to be told of the certificate itself.
    """

    context: ssl.SSLContext
    names: Sequence[str]
    ends: int
    signs_itself: bool = False

    def host(self, address: str) -> str:
        """By what a client on this machine can ask for an address of ours, so that the certificate is for it."""
        named = [name for name in self.names if "*" not in name]
        return address if address in self.names or not named else named[0]

    @property
    def day(self) -> str:
        """The last one, in UTC."""
        return datetime.fromtimestamp(self.ends, UTC).date().isoformat()


def read(files: Files) -> Pair:
    """The pair as it is on the disk now. Raises InvalidPair."""
    own = _CERTIFICATE.search(_text(files.cert, "certificate"))
    if own is None:
        raise InvalidPair(f"The certificate {files.cert} is not one in PEM: it has no whole block BEGIN CERTIFICATE.")
    if _KEY.search(_text(files.key, "key")) is None:
        raise InvalidPair(f"The key {files.key} is not one in PEM: it has no block BEGIN PRIVATE KEY.")
    context = _context()
    try:
        context.load_cert_chain(files.cert, files.key, password=_passphrase)
        peer = _tried(context, own[0])
    except _Encrypted:
        raise InvalidPair(
            f"The key {files.key} is encrypted: give it without a passphrase, readable by this user alone."
        ) from None
    except ssl.SSLCertVerificationError as refused:
        unusable = UNUSABLE.get(refused.verify_code, "The certificate {cert} is refused ({why}): renew it.")
        raise InvalidPair(unusable.format(cert=files.cert, why=refused.verify_message)) from None
    except ssl.SSLError as refused:
        if refused.reason in FOREIGN_KEY:
            raise InvalidPair(f"The key {files.key} is not that of the certificate {files.cert}.") from None
        why = "not whole" if refused.reason in NOT_WHOLE else refused.reason.replace("_", " ").lower()
        raise InvalidPair(f"{files.cert} and {files.key} are not a certificate and its key ({why}).") from None
    except OSError as problem:  # it went between one look and the next
        raise InvalidPair(f"{files.cert} and {files.key} cannot be read ({problem.strerror}).") from None
    names = [value for _, value in peer.get("subjectAltName", ())]
    ends = int(ssl.cert_time_to_seconds(peer["notAfter"]))
    return Pair(context, names, ends, peer.get("issuer") == peer.get("subject"))


class Renewed:
    """The pair that new connections get, as its files have it.

    `look` is called by one thread, again and again. Files are read when they have changed and have stayed as they are
    from one look to the next, so that a certificate is not read before its key is written.
    """

    def __init__(self, files: Files, tell: Teller) -> None:
        """Raises InvalidPair."""
        self._files = files
        self._tell = tell
        self._seen = self._tried = _stamps(files)
        self._asked = False
        self.pair = read(files)

    def ask(self) -> None:
        """The next look reads the files, whether they seem to have changed or not."""
        self._asked = True

    def look(self) -> None:
        stamps, before = _stamps(self._files), self._seen
        self._seen = stamps
        if self._asked or stamps == before != self._tried:
            self._asked, self._tried = False, stamps
            self._read()

    def _read(self) -> None:
        try:
            self.pair = read(self._files)
        except InvalidPair as problem:
            goes_on = f"The pair before stays in use; its certificate is valid until {self.pair.day}."
            self._tell({"event": "tls-refused", "message": f"{problem} {goes_on}"})
        else:
            said = f"New connections get the certificate {self._files.cert}, which is valid until {self.pair.day}."
            self._tell({"event": "tls-renewed", "message": said, "ends": self.pair.ends})


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION  # a client could ask for one handshake after the other
    context.set_alpn_protocols(["http/1.1"])
    return context


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text("latin-1")
    except OSError as problem:
        raise InvalidPair(f"The {what} {path} cannot be read ({problem.strerror}).") from None


class _Encrypted(Exception):
    """OpenSSL asked for a passphrase."""


def _passphrase() -> str:
    raise _Encrypted


def _tried(context: ssl.SSLContext, own: str) -> dict[str, Any]:
    """What a client sees of the certificate. Raises SSLError, where a client would refuse it as well."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trusting.load_verify_locations(cadata=own)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(to_server, to_client, server_side=True)
    client = trusting.wrap_bio(to_client, to_server)
    for side in (client, server, client):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    return client.getpeercert() or {}


def _stamps(files: Files) -> tuple[object, ...]:
    """What changes when a file is written, or another one takes its place; of a missing one nothing."""
    return tuple(_stamp(path) for path in files)


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def tls_files(given: tuple[Path | None, Path | None], settings: Settings) -> tuple[Path, Path] | None:
    """The certificate and its key; None without TLS. Raises InvalidSetting."""
    cert, key = (
        str(option or setting) for option, setting in zip(given, (settings.tls_cert, settings.tls_key), strict=True)
    )
    if bool(cert) != bool(key):
        raise InvalidSetting(
            f"TLS needs a certificate and its key: give both --tls-cert and --tls-key, or both {PREFIX}TLS_CERT and "
            f"{PREFIX}TLS_KEY."
        )
    return (Path(cert), Path(key)) if cert else None
