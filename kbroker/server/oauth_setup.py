"""From the settings of a listener to the check of its OAUTHBEARER tokens."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from kbroker.errors import ConfigError
from kbroker.security.jaas import OAUTHBEARER, parse_jaas
from kbroker.security.oauth import Validate, unsecured_rules, validate_unsecured

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.config.security import ListenerSettings

_log = logging.getLogger(__name__)


def token_validator(config: BrokerConfig, settings: ListenerSettings, listener: str) -> Validate:
    """Signed tokens where sasl.oauthbearer.jwks.endpoint.url is set, else, as in Kafka, unsigned ones.

    Raises:
        ConfigError: the settings do not do.
    """

    def text(name: str) -> str:
        return settings.text(f"sasl.oauthbearer.{name}", OAUTHBEARER)

    if not text("jwks.endpoint.url"):
        return _unsecured(settings, listener)
    from kbroker.server.jwks import JwksValidator, JwtRules

    audiences = tuple(filter(None, text("expected.audience").split(",")))
    for what, given in (("audience", audiences), ("issuer", text("expected.issuer"))):
        if not given and text(f"allow.unverified.{what}") != "true":
            raise ConfigError(
                f"{listener}: set sasl.oauthbearer.expected.{what}, or "
                f"sasl.oauthbearer.allow.unverified.{what} to do without"
            )
    rules = JwtRules(
        url=text("jwks.endpoint.url"),
        refresh_ms=int(text("jwks.endpoint.refresh.ms")),
        name_claim=text("sub.claim.name"),
        skew_ms=int(text("clock.skew.seconds")) * 1000,
        audiences=audiences,
        issuer=text("expected.issuer"),
    )
    return JwksValidator(rules, config.get_list("kbroker.oauthbearer.allowed.urls")).validate


def _unsecured(settings: ListenerSettings, listener: str) -> Validate:
    jaas = settings.text("sasl.jaas.config", OAUTHBEARER)
    name = settings.name_of("sasl.jaas.config", OAUTHBEARER)
    rules = unsecured_rules(parse_jaas(jaas, name).options if jaas else {})
    _log.warning(
        "%s takes tokens without a signature, with which everybody can be anybody: only for tests; "
        "sasl.oauthbearer.jwks.endpoint.url asks for signed ones",
        listener,
    )
    return lambda token: validate_unsecured(token, rules, time.time_ns() // 1_000_000)
