"""Writes what clients push to a file, one line of JSON for each push."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from kbroker.broker.client_metrics import ClientMetrics
from kbroker.broker.client_metrics_store import Push
from kbroker.errors import ConfigError
from kbroker.handlers.command_client_metrics import plain_value
from kbroker.types import uuid_to_string

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig

#: The file is begun anew from this size on; the one before stays as `.1`.
FILE_BYTES_MAX = 64 * 1024 * 1024

_log = logging.getLogger(__name__)


class ClientMetricsFile:
    """`write` is called in one thread at a time; it never raises, a disk that fails is told of once.

    Raises:
        ConfigError: the file cannot be written.
    """

    def __init__(self, path: str, bytes_max: int = FILE_BYTES_MAX) -> None:
        self._path = path
        self._bytes_max = bytes_max
        self._has_failed = False
        try:
            self._file = open(path, "ab")  # noqa: SIM115 - it stays open
        except OSError as error:
            raise ConfigError(f"kbroker.client.metrics.file: cannot write {path}: {error.strerror}") from None

    def write(self, push: Push) -> None:
        """Append a line."""
        line = json.dumps(_describe(push), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        try:
            if self._file.tell() >= self._bytes_max:
                self._begin_anew()
            self._file.write(line.encode("utf-8", "backslashreplace") + b"\n")
            self._file.flush()
        except (OSError, ValueError) as error:
            if not self._has_failed:
                _log.error("metrics of clients are not written to %s any more: %s", self._path, error)
            self._has_failed = True
        else:
            self._has_failed = False

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _begin_anew(self) -> None:
        self._file.close()
        os.replace(self._path, f"{self._path}.1")
        self._file = open(self._path, "ab")  # noqa: SIM115 - it stays open


def _describe(push: Push) -> dict[str, object]:
    return {
        "time_ms": push.time_ms,
        "instance_id": uuid_to_string(push.instance_id),
        "client_id": push.client_id,
        "software": push.software,
        "software_version": push.software_version,
        "address": push.address,
        "is_last": push.is_terminating,
        "resource": dict(push.resource),
        "metrics": [
            {
                "name": point.name,
                "kind": point.kind,
                "unit": point.unit,
                "attributes": dict(point.attributes),
                "is_delta": point.is_delta,
                "value": plain_value(point.value),
                "time_ms": point.time_ms,
            }
            for point in push.points
        ],
    }


def open_metrics_file(path: str | None, *, keeps: bool) -> ClientMetricsFile | None:
    """The file of `kbroker.client.metrics.file`.

    Raises:
        ConfigError: it cannot be written, or would stay empty.
    """
    if path is None:
        return None
    if not keeps:
        raise ConfigError("kbroker.client.metrics.file stays empty without kbroker.client.metrics=true")
    return ClientMetricsFile(path)


def open_client_metrics(
    config: BrokerConfig, undo: list[Callable[[], Awaitable[None] | None]]
) -> ClientMetrics:
    """What clients push is kept and written as the settings say; `undo` gets what closes the file.

    Raises:
        ConfigError: see `open_metrics_file`.
    """
    keeps = config.get_bool("kbroker.client.metrics")
    client_metrics = ClientMetrics(config.get_int("telemetry.max.bytes"), keeps=keeps)
    file = open_metrics_file(config.get_str("kbroker.client.metrics.file") or None, keeps=keeps)
    if file is not None:
        client_metrics.export = file.write
        undo.append(file.close)
    return client_metrics


def follow_clients(services: Services, client_metrics: ClientMetrics) -> None:
    """Let it hear of subscriptions and of clients that go."""
    services.client_metrics = client_metrics
    services.metadata.subscribe(client_metrics.on_metadata)
    services.clients.on_closed(client_metrics.on_closed)
