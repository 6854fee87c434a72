"""Networks as hosts of ACLs: `10.0.0.0/8`, `fd00::/8`. All other hosts are compared as text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

#: What every network has, and no address.
SLASH = "/"
_IPV4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})/(\d{1,2})", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_BYTE_MAX, _IPV4_BITS, _IPV6_BITS = 255, 32, 128


class NoNetwork(Exception):
    """The text is none; the message has Kafka's words."""


def check_network(text: str) -> None:
    """Whether a host with a slash is a network.

    Raises:
        NoNetwork: it is none.
    """
    if ":" in text:
        _parse_ipv6(text)
    else:
        _parse_ipv4(text)


@lru_cache(maxsize=4096)
def network_of(text: str) -> IPv4Network | IPv6Network | None:
    """The network; None: it is none, as in metadata written by older releases, and fits nobody."""
    try:
        return _parse_ipv6(text) if ":" in text else _parse_ipv4(text)
    except NoNetwork:
        return None


@lru_cache(maxsize=4096)
def address_of(host: str) -> IPv4Address | IPv6Address | None:
    """A client's address; None: it is none."""
    from ipaddress import ip_address

    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _parse_ipv4(text: str) -> IPv4Network:
    from ipaddress import IPv4Network

    match = _IPV4.fullmatch(text)
    if match is None:
        raise NoNetwork(f"Could not parse [{text}]")
    *parts, bits = map(int, match.groups())
    for value, most in (*((part, _BYTE_MAX) for part in parts), (bits, _IPV4_BITS)):
        if value > most:
            raise NoNetwork(f"Value [{value}] not in range [0,{most}]")
    number = int.from_bytes(bytes(parts))
    return IPv4Network((number, bits), strict=False)


def _parse_ipv6(text: str) -> IPv6Network:
    from ipaddress import IPv6Address, IPv6Network

    address, _, length = text.partition(SLASH)
    if not _NUMBER.fullmatch(length):
        raise NoNetwork(f"Could not parse [{text}] - invalid prefix length")
    if not 0 <= int(length) <= _IPV6_BITS:
        raise NoNetwork(f"Could not parse [{text}] - prefix length must be between 0 and {_IPV6_BITS}")
    try:
        parsed = IPv6Address(address.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise NoNetwork(f"Could not parse [{address}]") from None
    if parsed.ipv4_mapped is not None:
        raise NoNetwork(f"Could not parse [{address}] - not an IPv6 address")
    return IPv6Network((int(parsed), int(length)), strict=False)
