"""Znodes of brokers and of the controller: registrations, /controller, the cluster's id, log-dir events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.values import Fields, ZnodeError, to_json
from kbroker.metadata.image import Endpoint, FeatureRange

#: Number and name of each security protocol.
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
NEWEST_BROKER = 5
_ENDPOINT = re.compile(r"([^:/]*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,6})\Z")


class BrokerZnode(NamedTuple):
    """/brokers/ids/<id>. `timestamp` is when it registered, in ms."""

    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    timestamp: int = 0
    jmx_port: int = -1
    features: Mapping[str, FeatureRange] = {}

    def encode(self, version: int = NEWEST_BROKER) -> bytes:
        """As brokers write it: 1 (0.8), 2 with endpoints, 3 rack, 4 protocols by listener, 5 features (2.7).

        The fields `host` and `port` are those of the first PLAINTEXT listener, for clients before 0.9.
        """
        plain = next((e for e in self.endpoints if e.security_protocol == 0), None)
        value: dict[str, Any] = {}
        if version >= 5:
            value["features"] = {
                name: {"min_version": low, "max_version": high} for name, (low, high) in self.features.items()
            }
        if version >= 4:
            value["listener_security_protocol_map"] = {
                e.name: PROTOCOLS[e.security_protocol] for e in self.endpoints
            }
        if version >= 2:
            value["endpoints"] = [_endpoint_text(e) for e in self.endpoints]
        if version >= 3 and self.rack is not None:
            value["rack"] = self.rack
        value["jmx_port"] = self.jmx_port
        value["port"] = -1 if plain is None else plain.port
        value["host"] = None if plain is None else plain.host
        value["version"] = version
        value["timestamp"] = str(self.timestamp)
        return to_json(value)

    @classmethod
    def decode(cls, path: str, data: bytes | None) -> BrokerZnode:
        """Raises ZnodeError."""
        fields, version = Fields.parse(path, data, NEWEST_BROKER)
        if version == 1:
            port = fields.integer("port")
            endpoints = [Endpoint("PLAINTEXT", fields.text("host"), port, 0)]
        else:
            by_name = fields.mapping("listener_security_protocol_map", {}) if version >= 4 else {}
            endpoints = [_endpoint(path, text, by_name) for text in fields.texts("endpoints")]
        features = {}
        if version >= 5 and fields.has("features"):
            for name, levels in fields.mapping("features").items():
                level = Fields(path, levels, f"feature {name!r} has no levels")
                features[name] = FeatureRange(level.integer("min_version"), level.integer("max_version"))
        return cls(
            tuple(endpoints),
            fields.text("rack") if version >= 3 and fields.has("rack") else None,
            fields.digits("timestamp") if fields.has("timestamp") else 0,
            fields.integer("jmx_port", -1),
            features,
        )


def _endpoint_text(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.name}://{host}:{endpoint.port}"


def _endpoint(path: str, text: str, protocols: Mapping[str, Any]) -> Endpoint:
    match = _ENDPOINT.match(text)
    if match is None or int(match[3]) > 65535:
        raise ZnodeError(path, f"{text!r} is no endpoint")
    name = match[1]
    protocol = protocols.get(name, name)
    if protocol not in PROTOCOLS:
        raise ZnodeError(path, f"listener {name!r} has no known security protocol")
    return Endpoint(name, match[2], int(match[3]), PROTOCOLS.index(protocol))


class ControllerZnode(NamedTuple):
    """/controller. `kraft_epoch` is that of a KRaft controller that took over (KIP-866), else -1."""

    broker_id: int
    timestamp: int
    kraft_epoch: int = -1

    def encode(self, version: int = 2) -> bytes:
        """Version 2 since 3.4."""
        value: dict[str, Any] = {"version": version, "brokerid": self.broker_id}
        value["timestamp"] = str(self.timestamp)
        if version >= 2:
            value["kraftControllerEpoch"] = self.kraft_epoch
        return to_json(value)

    @classmethod
    def decode(cls, data: bytes | None) -> ControllerZnode:
        """Raises ZnodeError."""
        fields, _ = Fields.parse(paths.CONTROLLER, data, 2)
        timestamp = fields.digits("timestamp") if fields.has("timestamp") else 0
        return cls(fields.integer("brokerid"), timestamp, fields.integer("kraftControllerEpoch", -1))


def encode_cluster_id(cluster_id: str) -> bytes:
    """/cluster/id; its version is a text."""
    return to_json({"version": "1", "id": cluster_id})


def decode_cluster_id(data: bytes | None) -> str:
    """Raises ZnodeError."""
    return Fields.parse(paths.CLUSTER_ID, data, 1)[0].text("id")


def encode_log_dir_event(broker_id: int) -> bytes:
    """In /log_dir_event_notification: a log directory of that broker failed (event 1)."""
    return to_json({"version": 1, "broker": broker_id, "event": 1})


def decode_log_dir_event(path: str, data: bytes | None) -> int:
    """The broker whose log directory failed. Raises ZnodeError."""
    return Fields.parse(path, data, 1)[0].integer("broker")
