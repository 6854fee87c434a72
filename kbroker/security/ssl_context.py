"""TLS contexts out of settings, renewed when settings or files change."""

from __future__ import annotations

import logging
import os
import ssl
import tempfile
from collections.abc import Callable
from typing import TypeAlias

from kbroker.errors import ConfigError
from kbroker.security.ssl_stores import StoreContent, read_store, split_pem

_log = logging.getLogger(__name__)
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
#: How often the files of the stores are looked at, in seconds, while connections come.
_LOOK_S = 1.0
#: A setting's text by its name (ssl.…); empty where it is not set.
Settings: TypeAlias = Callable[[str], str]


def server_context(setting: Settings, where: str, *, asks_clients: bool) -> ssl.SSLContext:
    """For a listener.

    Args:
        where: its name, for errors.
        asks_clients: whether ssl.client.auth counts.

    Raises:
        ConfigError: a store cannot be read, or does not hold what is needed.
    """
    context = _context(ssl.PROTOCOL_TLS_SERVER, setting, where)
    if not load_own(context, setting, where):
        raise ConfigError(f"listener {where} needs a certificate: ssl.keystore.location or ssl.keystore.key")
    context.verify_mode = (
        _CLIENT_AUTH[setting("ssl.client.auth") or "none"] if asks_clients else ssl.CERT_NONE
    )
    trusted = _trusted(setting, where)
    if trusted:
        _trust(context, trusted, where)
    elif context.verify_mode is not ssl.CERT_NONE:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
    # Sessions are of no use to clients that keep their connections, and each costs memory.
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    return context


def client_context(setting: Settings, where: str) -> ssl.SSLContext:
    """For connections to brokers.

    Raises:
        ConfigError: as `server_context`.
    """
    context = _context(ssl.PROTOCOL_TLS_CLIENT, setting, where)
    context.check_hostname = bool(setting("ssl.endpoint.identification.algorithm"))
    context.verify_mode = ssl.CERT_REQUIRED
    load_own(context, setting, where)
    trusted = _trusted(setting, where)
    if trusted:
        _trust(context, trusted, where)
    else:
        context.load_default_certs()
    return context


class TlsSource:
    """A context that is made anew when something changed.

    Args:
        make: the context of the settings in force.
        paths: the files that they name.
        now_s: a clock.
    """

    def __init__(
        self, make: Callable[[], ssl.SSLContext], paths: Callable[[], list[str]], now_s: Callable[[], float]
    ) -> None:
        self._make = make
        self._paths = paths
        self._now_s = now_s
        self._context = make()
        self._stamp = self._look()
        self._looked_s = now_s()
        self._changed = False

    def renew(self) -> None:
        """The settings changed."""
        self._changed = True

    def context(self) -> ssl.SSLContext:
        """The one for the next connection; the old one stays where the new settings do not work."""
        now = self._now_s()
        if self._changed or now - self._looked_s >= _LOOK_S:
            self._looked_s = now
            stamp = self._look()
            if self._changed or stamp != self._stamp:
                self._changed, self._stamp = False, stamp
                try:
                    self._context = self._make()
                    _log.info("TLS certificates were read anew")
                except ConfigError as error:
                    _log.error("the certificates before stay in use: %s", error)
        return self._context

    def _look(self) -> list[tuple[int, int, int]]:
        found = []
        for path in self._paths():
            try:
                status = os.stat(path)
                found.append((status.st_mtime_ns, status.st_size, status.st_ino))
            except OSError:
                found.append((0, 0, 0))
        return found


def store_paths(setting: Settings) -> list[str]:
    """The files that the settings name."""
    names = ("ssl.keystore.location", "ssl.truststore.location")
    return [path for name in names if (path := setting(name))]


def _context(protocol: ssl._SSLMethod, setting: Settings, where: str) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    names = [name.strip() for name in setting("ssl.enabled.protocols").split(",") if name.strip()]
    unknown = [name for name in names if name not in _VERSIONS]
    if unknown:
        raise ConfigError(f"{where}: ssl.enabled.protocols may name TLSv1.2 and TLSv1.3, not {unknown[0]}")
    versions = sorted(_VERSIONS[name] for name in names) or [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]
    context.minimum_version, context.maximum_version = versions[0], versions[-1]
    suites = [name.strip() for name in setting("ssl.cipher.suites").split(",") if name.strip()]
    older = [_openssl_name(name) for name in suites if not name.startswith(("TLS_AES_", "TLS_CHACHA20_"))]
    if older:
        try:
            context.set_ciphers(":".join(older))
        except ssl.SSLError:
            raise ConfigError(f"{where}: ssl.cipher.suites has none that is known here") from None
    return context


def _openssl_name(suite: str) -> str:
    """TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, as Java writes it, is ECDHE-RSA-AES128-GCM-SHA256 here."""
    name = suite.removeprefix("TLS_").replace("_WITH_", "_")
    return name.replace("AES_128", "AES128").replace("AES_256", "AES256").replace("_", "-")


def load_own(context: ssl.SSLContext, setting: Settings, where: str) -> str:
    """The node's key and certificates into the context; the latter, empty if there are none.

    Raises:
        ConfigError: the store cannot be read, or does not hold both.
    """
    content = _own(setting)
    if not content.key and not content.chain:
        return ""
    if not content.key or not content.chain:
        raise ConfigError(f"{where}: the key store must hold a private key and its certificate")
    password = setting("ssl.key.password") or setting("ssl.keystore.password")
    with _PemFile(content.key + "\n" + content.chain) as path:
        try:
            context.load_cert_chain(path, password=lambda: password.encode())
        except (ssl.SSLError, ValueError, OSError):
            raise ConfigError(
                f"{where}: key and certificate do not fit together, or the key's password is wrong"
            ) from None
    return content.chain


def _own(setting: Settings) -> StoreContent:
    key, chain = setting("ssl.keystore.key"), setting("ssl.keystore.certificate.chain")
    if key or chain:
        return split_pem(f"{key}\n{chain}", "ssl.keystore.key")
    path = setting("ssl.keystore.location")
    if not path:
        return StoreContent()
    password, key_password = setting("ssl.keystore.password"), setting("ssl.key.password")
    kind = setting("ssl.keystore.type") or "JKS"
    return read_store(
        _read_file(path), kind, password or None, key_password or None, f"ssl.keystore.location {path}"
    )


def _trusted(setting: Settings, where: str) -> str:
    inline = setting("ssl.truststore.certificates")
    if inline:
        return split_pem(inline, "ssl.truststore.certificates").trusted
    path = setting("ssl.truststore.location")
    if not path:
        return ""
    kind, password = setting("ssl.truststore.type") or "JKS", setting("ssl.truststore.password")
    what = f"ssl.truststore.location {path}"
    content = read_store(_read_file(path), kind, password or None, None, what, wants_key=False)
    if not content.trusted:
        raise ConfigError(f"{where}: {path} holds no trusted certificate")
    return content.trusted


def _trust(context: ssl.SSLContext, pem: str, where: str) -> None:
    # A certificate that is trusted itself need not come from an authority that is known.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    try:
        context.load_verify_locations(cadata=pem)
    except (ssl.SSLError, ValueError):
        raise ConfigError(f"{where}: a trusted certificate cannot be read") from None


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None


class _PemFile:
    """A file for a library that reads keys from files only: in memory where the system can."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._fd = -1
        self._path = ""

    def __enter__(self) -> str:
        if hasattr(os, "memfd_create"):
            self._fd = os.memfd_create("kbroker-key", os.MFD_CLOEXEC)
            os.write(self._fd, self._text.encode())
            return f"/proc/self/fd/{self._fd}"
        self._fd, self._path = tempfile.mkstemp(prefix="kbroker-")
        os.write(self._fd, self._text.encode())
        return self._path

    def __exit__(self, *exc: object) -> None:
        os.close(self._fd)
        if self._path:
            os.unlink(self._path)
