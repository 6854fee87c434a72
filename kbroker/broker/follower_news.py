"""Fetch sessions of followers that wait to hear of a partition: a quiet one costs its leader nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.fetch_session import FetchedPartition
    from kbroker.replication.leader import LeaderState


class Watchers(dict[int, "FetchedPartition"]):
    """What followers' fetch sessions have of one partition, by follower."""

    __slots__ = ()

    def watch(self, replica_id: int, wanted: FetchedPartition) -> None:
        """Tell that follower's session of news; only the newest one that asks.

        The one before has to look by itself, and comes here again when it does.
        """
        before = self.get(replica_id)
        if before is wanted:
            return
        self[replica_id] = wanted
        if before is not None and before.session is not None and before.session.news is not None:
            before.session.news[before] = None

    def tell(self, state: LeaderState | None, *, wake: bool = True) -> None:
        """There is news; `wake`: also for requests that wait."""
        for replica, wanted in tuple(self.items()):
            session = wanted.session
            if session is None or session.news is None:
                del self[replica]
                continue
            if wanted not in session.news:
                session.news[wanted] = None
                progress = state.followers.get(replica) if state is not None else None
                if progress is not None:
                    # Until its last request the follower had all: nothing was noted for it.
                    progress.was_there(session.last_used_ms)
            if wake and session.on_news is not None:
                session.on_news(wanted)
