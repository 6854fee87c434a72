"""An LDAP server that knows the passwords of SASL PLAIN: whoever can bind with his name and password."""

from __future__ import annotations

import logging
import ssl
from functools import partial
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from kbroker.errors import ConfigError
from kbroker.security.plain_chain import BackEndFailed, Verdict
from kbroker.server.outward_tls import trusting
from kbroker.server.plain_backends import Remote, needed
from kbroker.server.quiet_log import QuietLog

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig

_log = QuietLog(logging.getLogger(__name__), monotonic)
_SUCCESS, _NO_SUCH_OBJECT, _INVALID_CREDENTIALS = 0, 32, 49


class Search(NamedTuple):
    """How a user's entry is found.

    Attributes:
        base: below which entry.
        filter: with `{user}` in it.
        name, password: of who searches; "" both: nobody in particular.
    """

    base: str
    filter: str
    name: str = ""
    password: str = ""


class LdapUsers(Remote):
    """See above. A user's entry is known by its name, or looked for.

    Args:
        url: `ldaps://host:port`, or `ldap://`.
        name_of: the distinguished name, with `{user}` in it; "" with `search`.
        ca: file of the authorities that TLS trusts; empty: those of the system.
        search: how to find the entry.
        start_tls: go over to TLS on `ldap://` before anything is said; who cannot gets no password.

    Raises:
        ConfigError: these do not go together, or ldap3 is not installed.
    """

    name = "ldap"

    def __init__(
        self,
        url: str,
        name_of: str,
        ca: str,
        timeout_s: float,
        search: Search | None = None,
        start_tls: bool = False,
    ) -> None:
        super().__init__()
        parts = urlsplit(url)
        if parts.scheme not in ("ldap", "ldaps") or not parts.hostname or not _has_port(parts):
            raise ConfigError("kbroker.plain.ldap.url is no ldap:// or ldaps:// address")
        if start_tls and parts.scheme == "ldaps":
            raise ConfigError(
                "kbroker.plain.ldap.start.tls goes with ldap://; ldaps:// is TLS from the start"
            )
        if search is None and "{user}" not in name_of:
            raise ConfigError(
                "kbroker.plain.ldap.dn must have {user} in it, as uid={user},ou=people,dc=example"
            )
        if search is not None and "{user}" not in search.filter:
            raise ConfigError("kbroker.plain.ldap.search.filter must have {user} in it, as (uid={user})")
        try:
            self._ldap3: Any = import_module("ldap3")
        except ImportError:
            raise ConfigError("LDAP needs ldap3: pip install 'kbroker[ldap]'") from None
        self._check_notation(name_of, search)
        self._escape_name: Any = import_module("ldap3.utils.dn").escape_rdn
        self._escape_filter: Any = import_module("ldap3.utils.conv").escape_filter_chars
        self._name_of, self._search, self._timeout_s = name_of, search, timeout_s
        self._start_tls = start_tls
        tls = self._ldap3.Tls(validate=ssl.CERT_REQUIRED)
        # Its own way takes Python's stricter context, and from 3.12 on knows no IP address in a certificate.
        tls.wrap_socket = partial(_wrap, _checked_authorities(ca))
        self._server = self._ldap3.Server(
            url,
            tls=tls if start_tls or parts.scheme == "ldaps" else None,
            connect_timeout=timeout_s,
            get_info=None,
        )
        if parts.scheme == "ldap" and not start_tls:
            _log.info("passwords go to %s as they are; ldaps:// would hide them", parts.hostname)

    @staticmethod
    def _check_notation(name_of: str, search: Search | None) -> None:
        """Names and filters that make no sense to any server, before the first login fails by them."""
        names: Any = import_module("ldap3.utils.dn")
        errors: Any = import_module("ldap3.core.exceptions")
        if search is None:
            given = {"dn": name_of}
        else:
            given = {"search.base": search.base, "search.user": search.name}
        for setting, name in given.items():
            try:
                names.parse_dn(name.replace("{user}", "x") or "dc=x")
            except errors.LDAPInvalidDnError as error:
                raise ConfigError(f"kbroker.plain.ldap.{setting} is no name of an entry: {error}") from None
        if search is not None:
            parse: Any = import_module("ldap3.operation.search").parse_filter
            try:
                parse(search.filter.replace("{user}", "x"), None, True, False, None, False)
            except errors.LDAPInvalidFilterError as error:
                raise ConfigError(f"kbroker.plain.ldap.search.filter: {error}") from None

    def _ask(self, user: str, password: str) -> Verdict:
        if self._search is None:
            name = self._name_of.replace("{user}", self._escape_name(user))
        else:
            found = self._find(self._search, user)
            if found is None:
                return Verdict.UNKNOWN
            name = found
        code = self._try(name, password)
        if code == _SUCCESS:
            return Verdict.RIGHT
        if code == _INVALID_CREDENTIALS:
            return Verdict.WRONG
        if code == _NO_SUCH_OBJECT:
            return Verdict.UNKNOWN
        raise BackEndFailed(f"result {code}")

    def _try(self, name: str, password: str) -> int:
        """The result of binding with that name."""
        connection = self._connection(name, password)
        try:
            self._open(connection)
            connection.bind()
            return int(connection.result.get("result", -1))
        except Exception as error:
            raise BackEndFailed(type(error).__name__) from None
        finally:
            self._end(connection)

    def _find(self, search: Search, user: str) -> str | None:
        """The name of the user's entry. Two of them are nobody's: something is wrong there."""
        connection = self._connection(search.name, search.password)
        try:
            self._open(connection)
            if not connection.bind():
                raise BackEndFailed(f"it refuses who searches: result {connection.result.get('result')}")
            connection.search(
                search.base,
                search.filter.replace("{user}", self._escape_filter(user)),
                attributes=["1.1"],
                size_limit=2,
            )
            code = connection.result.get("result")
            names = [each["dn"] for each in connection.response or () if each.get("type") == "searchResEntry"]
        except BackEndFailed:
            raise
        except Exception as error:
            raise BackEndFailed(type(error).__name__) from None
        finally:
            self._end(connection)
        if len(names) > 1:
            raise BackEndFailed("more than one entry is called so")
        if code not in (_SUCCESS, _NO_SUCH_OBJECT):
            raise BackEndFailed(f"the search has result {code}")
        return names[0] if names else None

    def _connection(self, name: str, password: str) -> Any:
        return self._ldap3.Connection(
            self._server,
            name or None,
            password or None,
            receive_timeout=self._timeout_s,
            raise_exceptions=False,
            auto_referrals=False,
        )

    def _open(self, connection: Any) -> None:
        if self._start_tls:
            connection.open()
            if not connection.start_tls():
                raise BackEndFailed("it does not go over to TLS")

    @staticmethod
    def _end(connection: Any) -> None:
        try:
            connection.unbind()
        except Exception as error:
            _log.info("LDAP: %s", type(error).__name__)


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def _wrap(ca: str | None, connection: Any, do_handshake: bool = False) -> None:
    """Go over to TLS, with whom the address names."""
    connection.socket = trusting(ca).wrap_socket(
        connection.socket, server_hostname=connection.server.host, do_handshake_on_connect=do_handshake
    )


def _checked_authorities(path: str) -> str | None:
    """That file, if there is one and it holds certificates."""
    if not path:
        return None
    try:
        ssl.create_default_context(cafile=path)
    except ssl.SSLError:
        raise ConfigError(f"kbroker.plain.ldap.ca: {path} holds no certificate in PEM") from None
    except OSError as error:
        raise ConfigError(f"kbroker.plain.ldap.ca: cannot read {path}: {error.strerror}") from None
    return path


def ldap_users(config: BrokerConfig, timeout_s: float) -> LdapUsers:
    """As `kbroker.plain.ldap.*` want it.

    Raises:
        ConfigError: something is missing, or makes no sense.
    """
    base = config.get_str("kbroker.plain.ldap.search.base")
    search = None
    if base:
        search = Search(
            base,
            config.get_str("kbroker.plain.ldap.search.filter"),
            config.get_str("kbroker.plain.ldap.search.user"),
            config.get_str("kbroker.plain.ldap.search.password"),
        )
        if bool(search.name) != bool(search.password):
            raise ConfigError(
                "kbroker.plain.ldap.search.user and kbroker.plain.ldap.search.password go together"
            )
    return LdapUsers(
        needed(config, "kbroker.plain.ldap.url"),
        "" if search else needed(config, "kbroker.plain.ldap.dn"),
        config.get_str("kbroker.plain.ldap.ca"),
        timeout_s,
        search,
        config.get_bool("kbroker.plain.ldap.start.tls"),
    )
