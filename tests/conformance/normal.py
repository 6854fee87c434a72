"""Answers without what differs from run to run: addresses, ids, the present time, places on the disk."""

from __future__ import annotations

import re
import time
from typing import Any

from kbroker.protocol.schemas.parser import Field, Struct, load_message
from kbroker.types import uuid_from_string
from tests.conformance.variables import Variables, is_number

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HOUR_MS = 3_600_000
#: In texts also the limits of the time that records may have: an hour from now.
_TIME = re.compile(r"-922337\d{13}\b|\b\d{13}\b")
_LONG_MAX = 2**63 - 1
_TEXT_SPAN_MS = 2 * _HOUR_MS + 60_000
_CHANGING = frozenset(("brokerEpoch", "finalizedFeaturesEpoch", "totalBytes", "usableBytes"))
_PLACES = frozenset(
    (
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
        "listeners",
        "advertised.listeners",
        "controller.listener.names",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
    )
)
#: Kafka keeps the first hundred uuids for itself: they are constants.
_RESERVED_UUIDS = 100


class Normaliser:
    """`cluster` is the id of the broker's cluster; None if it is too short to be told from other text."""

    def __init__(self, variables: Variables, cluster: str | None) -> None:
        self._variables = variables
        self._cluster = cluster

    def answer(self, api: str, value: Any) -> Any:
        """A whole answer, or the word that says how there was none."""
        if not isinstance(value, dict) or ("unreadable" in value and "hex" in value):
            return value
        return self._object(value, load_message(f"{api}Response").root)

    def _object(self, value: dict[str, Any], struct: Struct | None) -> dict[str, Any]:
        fields = {field.name: field for field in struct.fields} if struct is not None else {}
        place = "value" in value and value.get("name") in _PLACES
        result: dict[str, Any] = {}
        for name, item in value.items():
            field = fields.get(name)
            if name == "throttleTimeMs" and struct is not None:
                continue
            if place and name == "value" and isinstance(item, str) and item:
                result[name] = "$env"
            elif name == "host" and "port" in value and field is not None and item:
                result[name] = "$host"
            else:
                result[name] = self._value(item, field, name)
        return result

    def _value(self, value: Any, field: Field | None, leaf: str) -> Any:
        if isinstance(value, dict):
            return self._object(value, field.struct if field is not None else None)
        if isinstance(value, list):
            return [self._value(element, field, leaf) for element in value]
        if isinstance(value, str):
            return self._text(value, field, leaf)
        return self._number(value, field, leaf) if is_number(value) else value

    def _text(self, text: str, field: Field | None, leaf: str) -> str:
        if not text or self._variables.owns(text):
            return text
        if field is not None:
            if field.type == "uuid":
                reserved = int.from_bytes(uuid_from_string(text), "big") < _RESERVED_UUIDS
                return text if reserved else "$uuid"
            if leaf == "clusterId":
                return "$cluster"
            if leaf == "clientHost":
                return "/$host" if text.startswith("/") else "$host"
            if leaf == "logDir":
                return "$dir"
        if self._cluster is not None and self._cluster in text:
            if text == self._cluster:
                return "$cluster"
            text = text.replace(self._cluster, "${cluster}")
        return self._outside(text)

    def _outside(self, text: str) -> str:
        """Ids in what is no bound value."""
        split = self._variables.split(text)
        if split is None:
            return _TIME.sub(_now, _UUID.sub("$uuid", text))
        before, bound, after = split
        return self._outside(before) + bound + self._outside(after)

    def _number(self, value: int, field: Field | None, leaf: str) -> Any:
        if field is not None:
            if leaf == "port" and value > 0:
                return "$port"
            if leaf in _CHANGING and value >= 0:
                return "$num"
        if abs(value - time.time() * 1000) < _HOUR_MS:
            return "$now"
        return value


def _now(match: re.Match[str]) -> str:
    value = int(match[0])
    now = time.time() * 1000
    if abs(value - now) < _TEXT_SPAN_MS:
        return "$now"
    return "$past" if abs(value + _LONG_MAX - now) < _TEXT_SPAN_MS else match[0]
