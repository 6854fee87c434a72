"""Subscriptions by pattern (KIP-848): which topics a pattern stands for, and when that is looked at again.

Patterns are RE2's: none takes more than linear time. They are matched beside the request, as in Kafka: the
heartbeat that brings a new pattern is answered first, its topics come with a later one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from kbroker.coordinator.group import consumer_records as write
from kbroker.coordinator.group.consumer_draft import ConsumerLimits, Draft
from kbroker.coordinator.group.consumer_group import ConsumerGroup
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord, Outcome
from kbroker.errors import ApiError, ErrorCode

#: Of topics that a pattern finds, those that a member may see.
Visible: TypeAlias = Callable[[Collection[str]], Collection[str]]

#: Patterns are matched again for new topics at most this often.
_AGAIN_MS = 10_000
_PATTERN_BYTES_MAX = 1 << 20

#: What RE2 finds wrong with a pattern, and how Kafka (RE2/J) says it; the longest beginning counts.
_REASONS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "unexpected )": "regexp/syntax: internal error",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid escape sequence": "invalid escape sequence",
    "invalid character class range": "invalid character class range",
    "invalid character class": "invalid character class",
    "invalid named capture group": "invalid named capture",
    "pattern too large": "expression too large",
}


def matcher(pattern: str) -> Callable[[str], bool]:
    """A test whether a whole text matches.

    Raises:
        ApiError: INVALID_REGULAR_EXPRESSION.
    """
    # Imported late: few groups subscribe by pattern.
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES_MAX
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        text = error.args[0] if error.args else ""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        raise ApiError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {_reason(text)}.",
        ) from None
    return lambda text: compiled.fullmatch(text) is not None


def _reason(text: str) -> str:
    for beginning in sorted(_REASONS, key=len, reverse=True):
        if text.startswith(beginning):
            return _REASONS[beginning]
    return text


class RegexResolver:
    """Keeps the patterns of groups resolved.

    Args:
        groups: of the shard, to read.
    """

    def __init__(self, groups: Mapping[str, Any], topics: TopicView, limits: ConsumerLimits) -> None:
        self._groups = groups
        self._topics = topics
        self._limits = limits
        #: Since which version of the metadata there are topics that patterns have not seen.
        self.newest_topics = 0

    def changed(self, draft: Draft) -> bool:
        """The member's pattern may be another one; whether it must be resolved first.

        Raises:
            ApiError: INVALID_REGULAR_EXPRESSION.
        """
        before, member, group = draft.before, draft.member, draft.group
        assert before is not None
        assert member is not None
        if before.regex == member.regex:
            return False
        if group.patterns.get(before.regex) == 1 and before.regex in group.regexes:
            draft.records.append(write.regex_tombstone(group.group_id, before.regex))
        if not member.regex:
            draft.bumped = True
            return False
        if member.regex in group.patterns:
            draft.bumped = draft.bumped or member.regex in group.regexes
            return False
        matcher(member.regex)
        return True

    def due(self, draft: Draft, required: bool, now_ms: int) -> bool:
        """Whether the group's patterns are to be matched after this request."""
        group = draft.group
        if required:
            return True
        if not group.patterns or now_ms <= group.regex_refresh_ms + _AGAIN_MS:
            return False
        known = min((regex.version for regex in group.regexes.values()), default=0)
        return (
            known < self.newest_topics
            or group.regex_refresh_ms + self._limits.regex_refresh_ms < now_ms
            or any(each not in group.regexes for each in group.patterns)
        )

    def resolve(self, group_id: str, now_ms: int, visible: Visible | None = None) -> Outcome:
        """Match all patterns of a group; what is new goes into the log, with a new epoch if it matters.

        Args:
            visible: picks the topics that the member may see whose request this came with, as in Kafka.
        """
        group = self._groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            return Outcome()
        names = self._topics.names()
        version = self._topics.version
        records: list[CoordinatorRecord] = []
        differs = False
        group.regex_refresh_ms = now_ms
        resolved = dict(group.regexes)
        for pattern in group.patterns:
            old = group.regexes.get(pattern)
            try:
                matches = matcher(pattern)
            except ApiError:
                continue
            found = sorted(filter(matches, names))
            if visible is not None:
                seen = visible(found)
                found = [name for name in found if name in seen]
            if old is not None and old.topics == frozenset(found) and old.version >= version:
                continue
            if (old.topics if old is not None else frozenset()) != frozenset(found):
                differs = True
            record = write.regex_record(group_id, pattern, found, version, now_ms)
            records.append(record)
            resolved[pattern] = write.resolved_regex(record.value)
        if not records:
            return Outcome()
        if differs:
            subscribed = set(group.names)
            for pattern in group.patterns:
                if pattern in resolved:
                    subscribed |= resolved[pattern].topics
            metadata_hash = self._topics.group_hash(subscribed)
            records.append(write.epoch_record(group_id, group.epoch + 1, metadata_hash))
        return Outcome(records)
