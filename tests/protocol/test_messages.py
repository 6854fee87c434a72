"""The classes that callers use: defaults, equality, lazy loading, values that a version cannot carry."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import ApiKey, message_class, request_class, response_class
from kbroker.protocol.generated.fetch_request import FetchRequest, ReplicaState
from kbroker.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.json_converter import from_json, to_json


def test_classes_by_key_and_name():
    assert request_class(ApiKey.METADATA) is MetadataRequest
    assert response_class(3).NAME == "MetadataResponse"
    assert message_class("KRaftVersionRecord").API_KEY is None
    for name in ("Nothing", "os.path", "../x", "", "MetadataRequestTopic"):
        with pytest.raises(KeyError):
            message_class(name)


def test_api_keys_load_no_codec():
    script = (
        "import sys, kbroker.protocol.api_keys;"
        "print(sorted(m for m in sys.modules if '.generated.' in m or '.schemas' in m))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['kbroker.protocol.generated.api_table']"


def test_defaults_are_kafkas_and_not_shared():
    one, two = FetchRequest(), FetchRequest()
    assert (one.replica_id, one.max_bytes, one.session_epoch, one.cluster_id) == (-1, 2147483647, -1, None)
    assert one.replica_state == ReplicaState(replica_id=-1, replica_epoch=-1)
    assert one == two
    one.topics.append(None)
    assert two.topics == []
    assert one != two
    assert one != "FetchRequest"
    assert MetadataRequest(topics=None).topics is None


def test_text():
    topic = MetadataRequestTopic(name="t")
    zeros = bytes(16)
    assert repr(topic) == f"MetadataRequestTopic(topic_id={zeros!r}, name='t')"


def test_records_are_a_slice_of_the_frame():
    data = PartitionProduceData(index=0, records=b"batch")
    request = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[data])])
    for buffer in (request.encode(9), bytearray(request.encode(9))):
        found = ProduceRequest.decode(buffer, 9).topic_data[0].partition_data[0].records
        assert isinstance(found, memoryview)
        assert found.obj is buffer
        assert found == b"batch"


def test_values_that_the_version_cannot_carry():
    request = FetchRequest(replica_id=3, rack_id="r", max_bytes=5)
    assert FetchRequest.decode(request.encode(0), 0).rack_id == ""
    with pytest.raises(ValueError, match="cannot write FetchRequest v15: replicaId has a value"):
        request.encode(15)
    with pytest.raises(ValueError, match="topics cannot be None"):
        MetadataRequest(topics=None).encode(0)
    with pytest.raises(ValueError, match="cannot write FetchRequest v4"):
        FetchRequest(max_wait_ms=2**31).encode(4)
    with pytest.raises(ValueError, match="too long"):
        FetchRequest(rack_id="x" * 32768).encode(12)


def test_versions_that_do_not_exist():
    with pytest.raises(ProtocolError, match="has no version 14"):
        MetadataRequest.decode(b"\x00" * 8, 14)
    with pytest.raises(ValueError, match="has no version -1"):
        MetadataRequest().encode(-1)
    with pytest.raises(ValueError, match="has no version 99"):
        to_json(MetadataRequest(), 99)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"topics": []}, "allowAutoTopicCreation is missing"),
        ({"topics": {}, "allowAutoTopicCreation": True}, r"topics: expected an array, found {}"),
        ({"topics": [5], "allowAutoTopicCreation": True}, r"topics\[0\]: expected an object"),
        ({"topics": [{"name": None}], "allowAutoTopicCreation": True}, r"topics\[0\].name cannot be null"),
        ({"topics": [{"name": 1}], "allowAutoTopicCreation": True}, "name: expected a string"),
        ({"topics": [], "allowAutoTopicCreation": 1}, "expected a bool, found 1"),
        ({"topics": [], "allowAutoTopicCreation": True, "more": 1}, "has no field 'more'"),
    ],
)
def test_wrong_json_is_named_by_its_path(value, error):
    with pytest.raises(ValueError, match=error):
        from_json("MetadataRequest", value, 4)


def test_numbers_in_json_keep_their_range():
    value = to_json(MetadataRequest(topics=None), 12)
    with pytest.raises(ValueError, match="maxWaitMs: expected an int32"):
        from_json("FetchRequest", to_json(FetchRequest(), 4) | {"maxWaitMs": 2**31}, 4)
    assert from_json("MetadataRequest", value, 12) == MetadataRequest(topics=None)
