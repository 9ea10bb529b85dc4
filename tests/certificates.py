"""Certificates for tests: an authority of their own, and what it signs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sigla.web.local.pair import Files

DAY = timedelta(days=1)
SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH
SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def elliptic_key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def rsa_key() -> Key:
    """The same one each time: making one takes a while."""
    return rsa.generate_private_key(65537, 2048)


@dataclass(frozen=True, slots=True)
class Authority:
    """file: what clients trust."""

    file: Path
    certificate: x509.Certificate
    key: Key

    @classmethod
    def made(cls, folder: Path) -> "Authority":
        key, name, now = elliptic_key(), _name("Authority of the tests"), datetime.now(UTC)
        built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - DAY, now + DAY)
        certificate = (
            built.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(SIGNS, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        file = folder / "authority.pem"
        file.write_bytes(certificate.public_bytes(Encoding.PEM))
        return cls(file, certificate, key)

    def pair(
        self,
        folder: Path,
        *,
        key: Key | None = None,
        starts: timedelta = -DAY,
        ends: timedelta = DAY,
        purpose: x509.ObjectIdentifier = SERVER,
        passphrase: str = "",
    ) -> Files:
        """Writes a certificate for localhost and its key. starts, ends: from now on."""
        key, now = key or elliptic_key(), datetime.now(UTC)
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))])
        certificate = (
            x509.CertificateBuilder(
                self.certificate.subject,
                _name("localhost"),
                key.public_key(),
                x509.random_serial_number(),
                now + starts,
                now + ends,
            )
            .add_extension(names, critical=False)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(signer, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        locked: KeySerializationEncryption = (
            BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
        )
        files = Files(folder / "server.pem", folder / "server.key")
        files.cert.write_bytes(certificate.public_bytes(Encoding.PEM))
        files.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
        return files


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
