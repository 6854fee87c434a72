"""ApiVersions of kbroker as an older release is, byte by byte, that of a fresh broker of it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from kbroker.protocol.generated.api_versions_response import ApiVersionsResponse
from tests.wrong_requests.brokers import fresh_broker
from tests.wrong_requests.table import tables

_DATA = Path(__file__).resolve().parents[1] / "data" / "releases"
_SOFTWARE_SINCE = 3


def asked(address, version):
    body = b"" if version < _SOFTWARE_SINCE else b"\0\x02a\x021\0"
    head = b"\0\x12" + version.to_bytes(2, "big") + b"\0\0\0\x07\0\x01x"
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), 30) as client, client.makefile("rb") as answers:
        client.sendall(len(head + body).to_bytes(4, "big") + head + body)
        return answers.read(int.from_bytes(answers.read(4), "big"))


def without_epoch(answer, version):
    """Features are of an epoch that is an offset of the cluster's log."""
    found = ApiVersionsResponse.decode(answer[4:], version)
    if found.finalized_features_epoch > 0:
        found.finalized_features_epoch = 1
    return found.encode(version)


@pytest.mark.parametrize("release", ["2.8", "3.9"])
def test_api_versions_are_those_of_the_release(release):
    recorded = json.loads((_DATA / f"{release}.jsonl").read_text(encoding="utf-8").splitlines()[0])
    with fresh_broker(tables()[0], release) as node:
        for text, expected in recorded["api_versions"].items():
            version, answer = int(text), asked(node.broker, int(text))
            if version < _SOFTWARE_SINCE:
                assert answer.hex() == expected
            assert without_epoch(answer, version) == without_epoch(bytes.fromhex(expected), version)
