"""All parts of share groups on one broker (KIP-932), made when somebody first asks for them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kbroker.broker.dead_letters import DeadLetterQueue
from kbroker.broker.share_partitions import SharePartitions
from kbroker.broker.share_persister import SharePersister
from kbroker.broker.share_sessions import ShareSession, ShareSessions
from kbroker.broker.share_settings import ShareSettings
from kbroker.broker.share_state import ShareStateDriver

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_NAME = "shares"


class Shares:
    """The parts that handlers ask."""

    def __init__(self, services: Services) -> None:
        self.settings = ShareSettings(services)
        self.state = ShareStateDriver(services)
        self.persister = SharePersister(services, self.state)
        self.dead_letters = DeadLetterQueue(services, self.settings)
        self.partitions = SharePartitions(services, self.persister, self.settings, self.dead_letters)
        most = services.config.get_int("group.share.max.share.sessions")
        self.sessions = ShareSessions(most, self._session_ended)
        #: Records that were acknowledged, by Kafka's number of the kind.
        self.acked: Counter[int] = Counter()
        services.clients.on_closed(self.sessions.disconnected)
        services.at_stop.append(self.close)

    def _session_ended(self, session: ShareSession, last: bool) -> None:
        for topic_id, index in session.partitions:
            live = self.partitions.here(session.group_id, topic_id, index)
            if live is not None:
                live.release(session.member_id)
        if last:
            self.partitions.forget_group(session.group_id)

    def close(self) -> None:
        """The broker stops."""
        self.dead_letters.close()
        self.partitions.close()
        self.state.close()


def shares(services: Services) -> Shares:
    """Those of this broker."""
    found = services.extras.get(_NAME)
    if found is None:
        found = services.extras[_NAME] = Shares(services)
    assert isinstance(found, Shares)
    return found
