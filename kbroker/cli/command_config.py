"""The file of `--command-config`: Kafka's settings of a client, as for Kafka's own tools."""

from __future__ import annotations

from difflib import get_close_matches

import click

from kbroker.config.definitions import broker_definition
from kbroker.config.sources import parse_properties

#: Settings of Kafka's admin client that brokers do not have, too. Those about neither TLS nor logins are
#: passed over without a word, as they are no mistake.
_CLIENT_ONLY = frozenset(
    (
        "bootstrap.controllers",
        "bootstrap.resolve.timeout.ms",
        "bootstrap.servers",
        "client.dns.lookup",
        "client.id",
        "config.providers",
        "connections.max.idle.ms",
        "default.api.timeout.ms",
        "enable.metrics.push",
        "metadata.cluster.check.enable",
        "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retries",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "sasl.mechanism",
        "sasl.oauthbearer.header.urlencode",
        "security.protocol",
        "security.providers",
        "send.buffer.bytes",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
    )
)


def read_command_config(path: str) -> dict[str, str]:
    """What is set in a file.

    Raises:
        click.UsageError: the file cannot be read.
        ConfigError: it is no properties file.
    """
    try:
        with open(path, encoding="utf-8") as file:
            return parse_properties(file.read(), path)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise click.UsageError(f"cannot read {path}: {why}") from None


def unknown_names(settings: dict[str, str]) -> list[str]:
    """Names that no client of Kafka has, each with one that may have been meant."""
    found = []
    for name in settings:
        if name in _CLIENT_ONLY or (name.startswith(("sasl.", "ssl.")) and broker_definition(name)):
            continue
        near = get_close_matches(name, _of_logins(), 1, 0.8)
        found.append(f"{name} ({near[0]}?)" if near else name)
    return found


def _of_logins() -> list[str]:
    from kbroker.config.definitions import broker_definitions

    return [*_CLIENT_ONLY, *(name for name in broker_definitions() if name.startswith(("sasl.", "ssl.")))]
