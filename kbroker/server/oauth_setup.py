"""From the settings of a listener to the check of its OAUTHBEARER tokens."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kbroker.errors import ConfigError
from kbroker.security.jaas import OAUTHBEARER, parse_jaas
from kbroker.security.oauth import Validate, unsecured_rules, validate_unsecured
from kbroker.security.token_endpoint import provider_tls

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.config.security import ListenerSettings

_log = logging.getLogger(__name__)
_PACKAGE = "org.apache.kafka.common.security.oauthbearer."
#: Kafka's own classes, of which both mean what is done here; nothing of them is loaded.
_VALIDATORS = ("", "DefaultJwtValidator", "BrokerJwtValidator")


def token_validator(config: BrokerConfig, settings: ListenerSettings, listener: str) -> Validate:
    """Signed tokens where sasl.oauthbearer.jwks.endpoint.url is set, else, as in Kafka, unsigned ones.

    Raises:
        ConfigError: the settings do not do.
    """

    def text(name: str) -> str:
        return settings.text(f"sasl.oauthbearer.{name}", OAUTHBEARER)

    checks = text("jwt.validator.class")
    if checks.removeprefix(_PACKAGE) not in _VALIDATORS:
        raise ConfigError(
            f"{listener}: sasl.oauthbearer.jwt.validator.class: {checks} is none of Kafka's own, and no Java "
            "is loaded"
        )
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
        retry_ms=int(text("jwks.endpoint.retry.backoff.ms")),
        retry_max_ms=int(text("jwks.endpoint.retry.backoff.max.ms")),
        name_claim=text("sub.claim.name"),
        scope_claim=text("scope.claim.name"),
        skew_ms=int(text("clock.skew.seconds")) * 1000,
        audiences=audiences,
        issuer=text("expected.issuer"),
    )
    tls = None
    if rules.url.startswith("https:"):
        tls = provider_tls(_options(settings), f"{listener}: sasl.oauthbearer.jwks.endpoint.url")
    return JwksValidator(rules, config.get_list("kbroker.oauthbearer.allowed.urls"), tls).validate


def _options(settings: ListenerSettings) -> Mapping[str, str]:
    jaas = settings.text("sasl.jaas.config", OAUTHBEARER)
    return parse_jaas(jaas, settings.name_of("sasl.jaas.config", OAUTHBEARER)).options if jaas else {}


def _unsecured(settings: ListenerSettings, listener: str) -> Validate:
    rules = unsecured_rules(_options(settings))
    _log.warning(
        "%s takes tokens without a signature, with which everybody can be anybody: only for tests; "
        "sasl.oauthbearer.jwks.endpoint.url asks for signed ones",
        listener,
    )
    return lambda token: validate_unsecured(token, rules, time.time_ns() // 1_000_000)
