"""Certificates for tests: an authority and what it signs, in the forms that stores have."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

PASSWORD = "store-secret"
_DAY = datetime.timedelta(days=1)


def _name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "DE"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Tests, Inc."),
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "brokers"),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


class Certificate:
    """A certificate with its key."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self.certificate = certificate
        self.key = key

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def key_pem(self, password: str | None = None) -> str:
        how = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()

    def pkcs12(self, *others: x509.Certificate) -> bytes:
        how = BestAvailableEncryption(PASSWORD.encode())
        return pkcs12.serialize_key_and_certificates(b"own", self.key, self.certificate, list(others), how)


class Authority(Certificate):
    """Signs others."""

    def __init__(self, name: str = "authority") -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        super().__init__(
            _sign(_name(name), _name(name), key, key, authority=True, sans=[], expired=False), key
        )

    def sign(self, common_name: str, sans: list[str] | None = None, *, expired: bool = False) -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        names = ["localhost", "127.0.0.1"] if sans is None else sans
        return Certificate(
            _sign(_name(common_name), self.certificate.subject, key, self.key, False, names, expired), key
        )


def _sign(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    authority: bool,
    sans: list[str],
    expired: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 3 * _DAY)
        .not_valid_after(now - _DAY if expired else now + 30 * _DAY)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if sans:
        names = [_san(name) for name in sans]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(signer, hashes.SHA256())


def trusting(pem: str) -> ssl.SSLContext:
    """A client's: Python 3.13 and later would miss in ours what many old authorities leave out, too."""
    context = ssl.create_default_context(cadata=pem)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _san(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def write(folder: Path, name: str, content: str | bytes) -> str:
    """A file's path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def pem_settings(authority: Certificate, own: Certificate | None, prefix: str = "") -> dict[str, str]:
    """Settings with everything inline."""
    found = {
        f"{prefix}ssl.truststore.type": "PEM",
        f"{prefix}ssl.truststore.certificates": authority.pem,
    }
    if own is not None:
        found[f"{prefix}ssl.keystore.type"] = "PEM"
        found[f"{prefix}ssl.keystore.key"] = own.key_pem()
        found[f"{prefix}ssl.keystore.certificate.chain"] = own.pem
    return found
