"""What Kafka 2.8.2 with ZooKeeper says otherwise than 4.4 does."""

from __future__ import annotations

from collections.abc import Mapping

from kbroker.errors import ErrorCode
from kbroker.handlers.manners import accounts_2_8, settings_2_8, topics_2_8
from kbroker.handlers.manners.groups import (
    commits_of_any_strangers,
    offsets_apart,
    unknown_instances,
    without_offsets_apart,
)
from kbroker.handlers.manners.manner import Around, Rule
from kbroker.protocol.api_keys import ApiKey

_NAME = ErrorCode.INVALID_TOPIC_EXCEPTION
_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

#: Of every API whose texts name topics.
_NAMES = (
    Rule(
        _NAME,
        "Topic name is invalid: the empty string is not allowed",
        text="Topic name is illegal, it can't be empty",
    ),
    Rule(_NAME, r"Topic name is invalid: '\.\.?' is not allowed", text='Topic name cannot be "." or ".."'),
    Rule(
        _NAME,
        r"Topic name is invalid: the length of '(.*)' is longer than .*",
        text="Topic name is illegal, it can't be longer than 249 characters, topic name: {1}",
    ),
    Rule(
        _NAME,
        "Topic name is invalid: '(.*)' contains one or more characters other than .*",
        text='Topic name "{1}" is illegal, it contains a character other than ASCII alphanumerics, '
        "'.', '_' and '-'",
    ),
    Rule(_NAME, "(Topic '.*' collides with existing topic)(: .*)", text="{1}s{2}", api=ApiKey.CREATE_TOPICS),
)

GENERAL_APIS = frozenset({ApiKey.CREATE_TOPICS, ApiKey.DESCRIBE_CONFIGS})

RULES = (
    Rule(_UNKNOWN, text=None, api=ApiKey.DESCRIBE_PRODUCERS),
    Rule(_NAME, to=_UNKNOWN, text=None, api=ApiKey.DESCRIBE_PRODUCERS),
    *topics_2_8.RULES,
    *settings_2_8.RULES,
    *accounts_2_8.RULES,
    *_NAMES,
)

AROUND: Mapping[int, Around] = {
    ApiKey.SYNC_GROUP: unknown_instances,
    ApiKey.HEARTBEAT: unknown_instances,
    ApiKey.OFFSET_COMMIT: offsets_apart,
    ApiKey.OFFSET_FETCH: offsets_apart,
    ApiKey.LIST_GROUPS: without_offsets_apart,
    ApiKey.TXN_OFFSET_COMMIT: commits_of_any_strangers,
    ApiKey.LIST_OFFSETS: topics_2_8.any_time,
    **topics_2_8.AROUND,
    **settings_2_8.AROUND,
    **accounts_2_8.AROUND,
}
