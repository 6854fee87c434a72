"""Share groups at their coordinator: what has to happen at two places.

A group's partitions are read only once the share coordinator keeps state of them. So who subscribes to a new
topic first gets nothing; the share coordinator is asked to begin, the group notes that it did, and the next
heartbeat gives the partitions out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed, gather
from kbroker.broker.shares import shares
from kbroker.coordinator.group.share_draft import ShareGroupSettings
from kbroker.coordinator.group.share_part import Beaten, ShareBeating, check_form
from kbroker.coordinator.group.share_records import StateTopics
from kbroker.coordinator.share.state_shard import ShareKey
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_GROUP

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.coordinator.group.share_group import ShareGroup
    from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest
    from kbroker.protocol.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse
    from kbroker.types import Uuid

_log = logging.getLogger(__name__)

_NAME = "share groups"


class ShareGroups:
    """All that handlers ask about share groups; methods raise, or fail with, ApiError."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._parts = shares(services)
        self.settings = self._parts.settings

    def heartbeat(
        self, request: ShareGroupHeartbeatRequest, client_id: str, client_host: str
    ) -> Deferred[ShareGroupHeartbeatResponse]:
        """ShareGroupHeartbeat."""
        self.settings.check()
        groups = self._services.groups
        driver = groups.shard_for_member(request.group_id, lambda: check_form(request))
        beating = ShareBeating(request, client_id, client_host, self._group_settings(request.group_id))
        now = groups.now_ms()

        def beaten(done: Beaten) -> ShareGroupHeartbeatResponse:
            if done.to_initialize:
                self._initialize(request.group_id, done)
            return done.response

        return driver.submit(lambda ticket: driver.shard.share.heartbeat(ticket, beating, now)).map(beaten)

    def find(self, group_id: str) -> ShareGroup:
        """A group; GROUP_ID_NOT_FOUND."""
        return self._services.groups.shard_of(group_id).shard.share.group(group_id)

    def _group_settings(self, group_id: str) -> ShareGroupSettings:
        config = self._services.config
        own = self._services.metadata.image.config(CONFIG_GROUP, group_id)

        def value(name: str) -> int:
            text = own.get(f"share.{name}")
            if text is None:
                return config.get_int(f"group.share.{name}")
            low, high = config.get_int(f"group.share.min.{name}"), config.get_int(f"group.share.max.{name}")
            return min(max(int(text), low), high)

        return ShareGroupSettings(
            value("session.timeout.ms"),
            value("heartbeat.interval.ms"),
            value("assignment.interval.ms"),
            config.get_int("group.share.max.size"),
            config.get_int("group.share.initialize.retry.interval.ms"),
        )

    # -- state at the share coordinator ----------------------------------------------------------------------

    def _initialize(self, group_id: str, beaten: Beaten) -> None:
        """Ask for state of new partitions; what failed is asked for again by a later heartbeat."""
        wanted = [
            (topic_id, each) for topic_id, found in beaten.to_initialize.items() for each in sorted(found)
        ]
        asked = [
            self._parts.persister.initialize(ShareKey(group_id, *place), beaten.epoch, -1) for place in wanted
        ]

        def begun(done: Deferred[list[ApiError | None]]) -> None:
            made: dict[Uuid, set[int]] = {}
            for (topic_id, partition), value in zip(wanted, done.result()):
                if isinstance(value, ApiError):
                    _log.warning("no state for %s in partition %d yet: %s", group_id, partition, value)
                else:
                    made.setdefault(topic_id, set()).add(partition)
            if made:
                self.change_state(group_id, lambda group: begun_state(group, made, self._name)).then(_ignore)

        gather(asked).then(begun)

    def _name(self, topic_id: Uuid) -> str:
        return self._services.topic_name_of(topic_id) or ""

    def change_state(
        self, group_id: str, change: Callable[[ShareGroup], StateTopics], *, is_wanted: bool = False
    ) -> Deferred[None]:
        """Note for which partitions there is state; see `SharePart.change_state`."""
        try:
            driver = self._services.groups.shard_of(group_id)
        except ApiError as error:
            return failed(error.with_traceback(None))
        return driver.submit(
            lambda ticket: driver.shard.share.change_state(ticket, group_id, change, is_wanted=is_wanted)
        ).map(_raised)

    def delete_state(
        self, group_id: str, topics: Mapping[Uuid, frozenset[int]]
    ) -> Deferred[list[ApiError | None]]:
        """Let the share coordinator forget the group in these partitions, topic by topic in order."""
        return gather(
            [
                self._parts.persister.delete(ShareKey(group_id, topic_id, each))
                for topic_id, partitions in topics.items()
                for each in sorted(partitions)
            ]
        )

    def delete_group(self, group_id: str) -> Deferred[ErrorCode]:
        """DeleteGroups: what the share coordinator keeps goes first."""
        group = self.find(group_id)
        if group.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)
        known: dict[Uuid, frozenset[int]] = {}
        for part in (group.state.initialized, group.state.initializing):
            for topic_id, (_, partitions) in part.items():
                if self._services.topic_name_of(topic_id) is not None:
                    known[topic_id] = known.get(topic_id, frozenset()) | partitions
        answer: Deferred[ErrorCode] = Deferred()

        def pass_on(done: Deferred[ErrorCode]) -> None:
            try:
                answer.resolve(done.result())
            except ApiError as error:
                answer.resolve(error.code)

        def gone(done: Deferred[list[ApiError | None]]) -> None:
            errors = [each for each in done.result() if isinstance(each, ApiError)]
            if errors:
                answer.resolve(errors[0].code)
                return
            try:
                self._services.groups.delete_group(group_id).then(pass_on)
            except ApiError as error:
                answer.resolve(error.code)

        self.delete_state(group_id, known).then(gone)
        return answer


def begun_state(group: ShareGroup, made: Mapping[Uuid, set[int]], name: Callable[[Uuid], str]) -> StateTopics:
    """Partitions have state now."""
    initializing, initialized = dict(group.state.initializing), dict(group.state.initialized)
    for topic_id, partitions in made.items():
        topic, left = initializing.pop(topic_id, (name(topic_id), frozenset()))
        if left - partitions:
            initializing[topic_id] = topic, left - partitions
        known = initialized.get(topic_id, (topic, frozenset()))[1]
        initialized[topic_id] = topic, known | partitions
    deleting = {each: text for each, text in group.state.deleting.items() if each not in made}
    return StateTopics(initializing, initialized, deleting)


def _raised(value: ApiError | None) -> None:
    if isinstance(value, ApiError):
        raise value


def _ignore(done: Deferred[None]) -> None:
    """A later heartbeat asks again."""


def share_groups(services: Services) -> ShareGroups:
    """Those of this broker."""
    found = services.extras.get(_NAME)
    if found is None:
        found = services.extras[_NAME] = ShareGroups(services)
    assert isinstance(found, ShareGroups)
    return found
