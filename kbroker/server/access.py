"""Puts the authorizers of this node together, as its settings say."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kbroker.broker.access import Access
from kbroker.errors import ConfigError
from kbroker.security.audit import Audit, parse_operations
from kbroker.security.authorizer import AclAuthorizer, Authorizer, Chain, parse_super_users

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.security.authorizer_http import HttpAuthorizer

_log = logging.getLogger(__name__)

#: What `authorizer.class.name` may be: all mean Kafka's ACLs, kept in the cluster's metadata.
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_OLDER = frozenset({"kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer"})
_ACLS, _ADDRESSES, _HTTP = "acls", "addresses", "http"


def open_access(services: Services, config: BrokerConfig) -> Callable[[], None]:
    """Set `services.authorizer`, unless everybody may do everything; gives what to call at the end.

    Raises:
        ConfigError: the settings contradict each other.
    """
    order = _order(config)
    undo: list[Callable[[], None]] = []
    audit = _audit(services, config, undo)
    if not order:
        if config.static.get("super.users") or config.static.get("allow.everyone.if.no.acl.found"):
            _log.warning("super.users and ACLs are without effect: authorizer.class.name is not set")
        return partial(_close, undo)
    acls: AclAuthorizer | None = None
    http: HttpAuthorizer | None = None
    authorizers: list[Authorizer] = []
    for name in order:
        if name == _ACLS:
            acls = AclAuthorizer(allow_without_acl=_flag(config, "allow.everyone.if.no.acl.found"))
            authorizers.append(acls)
        elif name == _ADDRESSES:
            from kbroker.security.authorizer_addresses import AddressAuthorizer

            authorizers.append(AddressAuthorizer(config.get_list("kbroker.authorizer.addresses")))
        else:
            http = _http(config, services)
            authorizers.append(http)
    super_users = parse_super_users(config.static.get("super.users", ""))
    if not super_users:
        _log.warning(
            "super.users is not set: nodes of a cluster refuse each other, unless ACLs allow their principals"
        )
    chain = Chain(authorizers, super_users)
    access = services.authorizer = Access(chain, acls, audit)
    services.metadata.subscribe(access.on_metadata)
    services.clients.on_closed(access.on_closed)
    if http is not None:
        from kbroker.server.http_authorizer import HttpAsker

        asker = HttpAsker(
            http,
            config.get_str("kbroker.authorizer.http.url"),
            timeout_ms=config.get_int("kbroker.authorizer.http.timeout.ms"),
            on_old=access.forget,
            cache_ms=config.get_int("kbroker.authorizer.http.cache.ms"),
            timer=services.timer,
        )
        access.ask = asker.ask
        undo.append(asker.close)
    return partial(_close, undo)


def _close(undo: list[Callable[[], None]]) -> None:
    while undo:
        undo.pop()()


def _order(config: BrokerConfig) -> list[str]:
    """Who decides, the first one first."""
    name = config.get_str("authorizer.class.name")
    order = list(config.get_list("kbroker.authorizers"))
    if name and name != STANDARD:
        if name not in _OLDER:
            raise ConfigError(
                f"authorizer.class.name: kbroker loads no Java class {name}; use {STANDARD} for Kafka's "
                "ACLs, or kbroker.authorizers"
            )
        _log.warning("authorizer.class.name=%s is taken for %s: ACLs are in the metadata", name, STANDARD)
    if name and not order:
        return [_ACLS]
    if name and _ACLS not in order:
        raise ConfigError("authorizer.class.name asks for ACLs, but kbroker.authorizers does not name acls")
    if order and _HTTP in order and not config.get_str("kbroker.authorizer.http.url"):
        raise ConfigError("kbroker.authorizers names http, but kbroker.authorizer.http.url is not set")
    if _ADDRESSES in order and not config.get_list("kbroker.authorizer.addresses"):
        raise ConfigError("kbroker.authorizers names addresses, but kbroker.authorizer.addresses is empty")
    return list(dict.fromkeys(order))


def _flag(config: BrokerConfig, name: str) -> bool:
    text = config.static.get(name, "false").strip().lower()
    if text not in ("true", "false"):
        raise ConfigError(f"{name}: {text!r} is neither true nor false")
    return text == "true"


def _http(config: BrokerConfig, services: Services) -> HttpAuthorizer:
    from kbroker.security.authorizer_http import HttpAuthorizer

    return HttpAuthorizer(
        services.clock.monotonic_ms,
        config.get_int("kbroker.authorizer.http.cache.ms"),
        on_failure=config.get_str("kbroker.authorizer.http.on.failure"),
    )


def _audit(services: Services, config: BrokerConfig, undo: list[Callable[[], None]]) -> Audit | None:
    path = config.get_str("kbroker.audit.log")
    if not path:
        return None
    from kbroker.server.audit_file import AuditFile

    try:
        operations = parse_operations(config.get_list("kbroker.audit.log.allowed"))
    except ValueError as error:
        raise ConfigError(f"kbroker.audit.log.allowed: {error}") from None
    file = AuditFile(
        path,
        bytes_max=config.get_int("kbroker.audit.log.max.bytes"),
        files_max=config.get_int("kbroker.audit.log.max.files"),
    )
    undo.append(file.close)
    services.extras["audit_file"] = file
    audit = services.extras["audit"] = Audit(file.write, services.clock.now_ms, operations)
    return audit
