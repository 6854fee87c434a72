from __future__ import annotations

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.errors import ErrorCode
from kbroker.handlers.api_table import served_apis
from kbroker.handlers.manners.manner import Manner, Rule, manner_of
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kbroker.protocol.generated.heartbeat_response import HeartbeatResponse
from kbroker.protocol.releases import releases


class Context:
    version = 3


def refused(code, text):
    return CreateTopicsResponse(topics=[CreatableTopicResult(name="t", error_code=code, error_message=text)])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule(37, "old (.*) text", 38, "{1} of {of.name}"), (38, "words of t")),
        (Rule(37, "old .*"), (37, "old words text")),
        (Rule(37, "old .*", text=None), (37, None)),
        (Rule(37, "old .*", text=lambda match, item: match[0].upper()), (37, "OLD WORDS TEXT")),
        (Rule(37, "old", 1), (37, "old words text")),
        (Rule(38, ".*", 1), (37, "old words text")),
        (Rule(37, ".*", 1, since=4), (37, "old words text")),
    ],
)
def test_a_rule_turns_an_error_into_that_of_then(rule, expected):
    answer = Manner((rule,)).retell(refused(37, "old words text"), Context.version)
    (topic,) = answer.topics
    assert (topic.error_code, topic.error_message) == expected


def test_the_first_rule_that_fits_counts_and_success_is_left_alone():
    manner = Manner((Rule(37, ".*", 38), Rule(38, ".*", 39), Rule(0, ".*", 1)))
    assert manner.retell(refused(37, None), 3).topics[0].error_code == 38
    assert manner.retell(refused(0, None), 3).topics[0].error_code == 0


@pytest.mark.parametrize("late", [False, True])
def test_an_answer_is_retold_when_it_is_there(late):
    answer = Deferred()

    def handle(services, context, request):
        return answer if late else HeartbeatResponse(error_code=25)

    found = Manner((Rule(25, "", 16),)).wrap(handle)(None, Context, None)
    if late:
        answer.resolve(HeartbeatResponse(error_code=25))
        found = found.result()
    assert found.error_code == ErrorCode.NOT_COORDINATOR


def test_a_coroutine_is_retold_when_it_is_there():
    async def handle(services, context, request):
        return HeartbeatResponse(error_code=25)

    found = Manner((Rule(25, "", 16),)).wrap(handle)(None, Context, None)
    with pytest.raises(StopIteration) as done:
        found.send(None)
    assert done.value.value.error_code == 16


@pytest.mark.parametrize("name", ["all", *releases()])
def test_only_releases_before_4_have_manners_and_only_of_what_they_serve(name):
    served = {key for key in ApiKey if served_apis(name).versions(key) != (0, -1)}
    mannered = {key for key in ApiKey if manner_of(name, key) is not None}
    is_older = name != "all" and releases()[name].number < (4, 0)
    assert bool(mannered) == is_older
    if name in ("2.8", "3.9"):
        assert mannered <= served
