from __future__ import annotations

import asyncio

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers import delete_groups, describe_producers, list_offsets
from kbroker.protocol.generated.delete_groups_response import DeleteGroupsResponse
from kbroker.protocol.generated.describe_producers_response import DescribeProducersResponse
from kbroker.protocol.generated.describe_user_scram_credentials_request import UserName
from kbroker.protocol.generated.list_offsets_response import ListOffsetsResponse
from tests.handlers.node import Node


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path / "data")


def answer_with(monkeypatch, result, module=describe_producers):
    monkeypatch.setattr(
        module, "handle", lambda services, context, request: result() if callable(result) else result
    )


def test_a_deferred_answer_parks_the_connection_until_it_comes(node, monkeypatch):
    later = Deferred()
    answer_with(monkeypatch, later)
    client = node.connect()
    client.send(client.frame("DescribeProducers", 0), client.frame("ApiVersions", 0))
    assert client.answers() == []
    later.resolve(DescribeProducersResponse(throttle_time_ms=7))
    assert [type(answer).__name__ for answer in client.answers()] == [
        "DescribeProducersResponse",
        "ApiVersionsResponse",
    ]


def test_a_coroutine_answers_when_it_returns(node, monkeypatch):
    async def handle(services, context, request):
        await asyncio.sleep(0)
        return DescribeProducersResponse(throttle_time_ms=9)

    monkeypatch.setattr(describe_producers, "handle", handle)

    async def ask():
        client = node.connect()
        client.send(client.frame("DescribeProducers", 0))
        while not (answers := client.answers()):
            await asyncio.sleep(0)
        return answers[0]

    assert asyncio.run(ask()).throttle_time_ms == 9


def fail(error):
    def handle():
        raise error

    return handle


def test_an_error_that_escapes_takes_the_shape_the_handler_gives_it(node, monkeypatch):
    monkeypatch.setattr(
        list_offsets,
        "error_response",
        lambda request, version, code, message: ListOffsetsResponse(throttle_time_ms=int(code)),
        raising=False,
    )
    answer_with(monkeypatch, fail(ApiError(ErrorCode.INVALID_REQUEST)), list_offsets)
    assert node.connect().ask("ListOffsets", 5).throttle_time_ms == 42


def test_without_a_shape_the_error_code_field_is_used(node, monkeypatch):
    from kbroker.handlers import describe_log_dirs

    answer_with(monkeypatch, fail(ApiError(ErrorCode.NOT_CONTROLLER)), describe_log_dirs)
    assert node.connect().ask("DescribeLogDirs", 4).error_code == ErrorCode.NOT_CONTROLLER


def test_a_bug_is_logged_and_answered_or_closes_only_its_connection(node, monkeypatch, caplog):
    answer_with(monkeypatch, fail(ZeroDivisionError("our bug")))
    client, other = node.connect(), node.connect()
    client.send(client.frame("DescribeProducers", 0))
    assert "DescribeProducersRequest v0 failed" in client.closed
    assert "our bug" in caplog.text
    assert other.ask("ApiVersions", 0).api_keys


def test_a_response_that_cannot_be_written_closes_its_connection(node, monkeypatch, caplog):
    answer_with(monkeypatch, DescribeProducersResponse(throttle_time_ms="no number"))
    client = node.connect()
    client.send(client.frame("DescribeProducers", 0))
    assert "failed here" in client.closed
    assert "cannot write" in caplog.text


def test_a_late_failure_is_answered_as_well(node, monkeypatch):
    from kbroker.handlers import describe_log_dirs

    later = Deferred()
    answer_with(monkeypatch, later, describe_log_dirs)
    client = node.connect()
    client.send(client.frame("DescribeLogDirs", 4))
    later.fail(ApiError(ErrorCode.REQUEST_TIMED_OUT))
    (answer,) = client.answers()
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT


def test_none_sends_nothing(node, monkeypatch):
    answer_with(monkeypatch, None)
    client = node.connect()
    client.send(client.frame("DescribeProducers", 0))
    assert client.answers() == []
    assert client.closed is None


@pytest.mark.parametrize("spare", [0, 1])
def test_an_api_may_allow_fewer_elements(node, monkeypatch, spare):
    answer_with(monkeypatch, DeleteGroupsResponse(throttle_time_ms=7), delete_groups)
    names = [f"group{i}" for i in range(delete_groups.ELEMENTS_MAX + spare)]
    client = node.connect()
    client.send(client.frame("DeleteGroups", 2, groups_names=names))
    if spare:
        assert "more than 30000 elements in one request" in client.core.close_reason
    else:
        assert client.answers()[0].throttle_time_ms == 7


def test_a_message_that_quotes_a_name_is_cut_where_it_does_not_fit_into_a_string(node):
    client = node.connect()
    users = [UserName(name="ü" * 16_000), UserName(name="x" * 32_767)]
    client.send(client.frame("DescribeUserScramCredentials", 0, users=users))
    (answer,) = client.answers()
    texts = [result.error_message for result in answer.results]
    assert [len(text.encode()) for text in texts] == [32_059, 32_767]
    assert [text[-1] for text in texts] == ["ü", "…"]
