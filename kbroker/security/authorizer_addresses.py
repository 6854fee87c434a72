"""An allow-list of addresses: who comes from one of them may do everything, of others it has no opinion."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from kbroker.errors import ConfigError
from kbroker.security.authorizer import Question

#: Addresses remembered.
_KNOWN_MAX = 4096


class AddressAuthorizer:
    """Allows by address, whoever it is.

    Args:
        networks: addresses (`10.1.2.3`) and networks (`10.0.0.0/8`, `fd00::/8`).

    Raises:
        ConfigError: one is neither.
    """

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = [_network(text) for text in networks]
        self._is_listed = lru_cache(maxsize=_KNOWN_MAX)(self._look)

    def decide(self, question: Question) -> bool | None:
        """Allowed, or no opinion."""
        return True if self._is_listed(question.host) else None

    def _look(self, host: str) -> bool:
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise ConfigError(f"kbroker.authorizer.addresses: {error}") from None
