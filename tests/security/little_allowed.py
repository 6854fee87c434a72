"""What a broker answers to a user who may little: of all that he may touch, may not, or does not exist.

Bob has everything on topic `yes`, group `g-yes` and transactional id `t-yes`, DESCRIBE on `desc`, `g-desc`
and `t-desc`, and CREATE on topics that begin with `make-`. Topic `no` exists, `gone` does not.

The requests, and what Apache Kafka 4.4 answers, are lines of JSON in FILE below. To have them answered
by another broker: `python -m tests.security.little_allowed HOST:PORT HOST:SASL_PORT > NEW_FILE`.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import time
from pathlib import Path

from kbroker.protocol.api_keys import FACTS, response_class, response_header_version
from kbroker.protocol.json_converter import from_json
from kbroker.types import uuid_to_string
from tools.frame_headers import request_header_bytes

FILE = Path(__file__).parents[1] / "data/authorization/kafka-4.4.jsonl"
KEY = {facts.name: key for key, facts in FACTS.items()}
TOPIC, GROUP, TRANSACTIONAL_ID = 2, 3, 5
LITERAL, PREFIXED = 3, 4
ALL, CREATE, DESCRIBE = 2, 5, 8
ALLOW = 3
TIMEOUT_S = 60
#: Differs from one broker to the next.
LEFT_OUT = ("unknown_tags", "throttle_time_ms", "port", "cluster_id", "host", "node_id")


class Asker:
    """A connection, with a login by SASL PLAIN if a user is given; his password is USER-secret."""

    def __init__(self, address, user=None):
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_S)
        self._correlation = 0
        if user is not None:
            self.ask("SaslHandshake", 1, {"mechanism": "PLAIN"})
            request = request_of("SaslAuthenticate", {}, 2)
            request.auth_bytes = f"\0{user}\0{user}-secret".encode()
            answer = self.send("SaslAuthenticate", 2, request)
            assert not answer.error_code, answer

    def ask(self, name, version, fields):
        """The decoded answer to a request in JSON."""
        return self.send(name, version, request_of(name, fields, version))

    def send(self, name, version, request):
        """The decoded answer."""
        key = KEY[name]
        self._correlation += 1
        frame = request_header_bytes(key, version, self._correlation, "t") + request.encode(version)
        self._socket.sendall(struct.pack(">i", len(frame)) + frame)
        (size,) = struct.unpack(">i", self._read(4))
        position = 5 if response_header_version(key, version) >= 1 else 4
        return response_class(key).decode(self._read(size), version, position)

    def close(self):
        self._socket.close()

    def _read(self, size):
        found = b""
        while len(found) < size:
            more = self._socket.recv(size - len(found))
            assert more, "closed"
            found += more
        return found


def request_of(name, fields, version):
    """A request from its JSON."""
    return from_json(f"{name}Request", fields, version, fill_defaults=True)


def acl(kind, name, pattern, user, operation, permission=ALLOW):
    """An entry of CreateAcls."""
    return {
        "resourceType": kind,
        "resourceName": name,
        "resourcePatternType": pattern,
        "principal": f"User:{user}",
        "host": "*",
        "operation": operation,
        "permissionType": permission,
    }


def prepare(admin):
    """Topics, coordinators and bob's ACLs; the ids of the topics."""
    topics = [{"name": name, "numPartitions": 1, "replicationFactor": 1} for name in ("yes", "no", "desc")]
    created = admin.ask("CreateTopics", 7, {"topics": topics, "timeoutMs": 30_000})
    acls = [acl(TOPIC, "make-", PREFIXED, "bob", CREATE)]
    for kind, prefix in ((TOPIC, ""), (GROUP, "g-"), (TRANSACTIONAL_ID, "t-")):
        acls.append(acl(kind, f"{prefix}yes", LITERAL, "bob", ALL))
        acls.append(acl(kind, f"{prefix}desc", LITERAL, "bob", DESCRIBE))
    results = admin.ask("CreateAcls", 3, {"creations": acls}).results
    assert not any(each.error_code for each in results), results
    for kind, key in ((0, "g-yes"), (1, "t-yes")):
        asked = {"keyType": kind, "coordinatorKeys": [key]}
        until = time.monotonic() + TIMEOUT_S
        while admin.ask("FindCoordinator", 4, asked).coordinators[0].error_code:
            assert time.monotonic() < until, f"no coordinator of {key}"
    return {topic.name: topic.topic_id for topic in created.topics}


def plain(value, names):
    """What an answer says, in the terms of JSON, without what differs from one broker to the next."""
    if isinstance(value, bytes | memoryview):
        data = bytes(value)
        if len(data) == 16 and len(set(data)) > 1:
            return f"<{names.get(data, 'uuid')}>"
        return data.hex()
    if isinstance(value, list):
        # Kafka's order is that of its hash tables.
        return sorted((plain(each, names) for each in value), key=json.dumps)
    if isinstance(value, str):
        # Kafka prints its own objects there.
        return "Cluster authorization failed." if value.startswith("Request Request(") else value
    if value is None or isinstance(value, bool | int | float):
        return value
    return {name: plain(getattr(value, name), names) for name in value.__slots__ if name not in LEFT_OUT}


def recorded():
    """(API, version, request, Kafka's answer) of each line."""
    for line in FILE.read_text().splitlines():
        row = json.loads(line)
        yield row["send"], row["v"], row["req"], row["ans"]


def answers(address, sasl_address):
    """What a broker answers to bob: (API, version, request, answer) of each request in turn."""
    admin = Asker(address)
    ids = prepare(admin)
    names = {topic_id: name for name, topic_id in ids.items()}
    bob = Asker(sasl_address, "bob")
    for name, version, request, _ in recorded():
        text = json.dumps(request)
        for topic, topic_id in ids.items():
            text = text.replace(f"${topic}$", uuid_to_string(topic_id))
        yield name, version, request, plain(bob.ask(name, version, json.loads(text)), names)
    bob.close()
    admin.close()


if __name__ == "__main__":
    for row in answers(*sys.argv[1:]):
        print(json.dumps(dict(zip(("send", "v", "req", "ans"), row))))
