"""Who was heard of, and how far they have read the metadata: what the active controller keeps in memory only.

A controller that takes over knows nothing of the heartbeats before, only that the one before it was silent
for a while, and heard nobody: every live broker gets the rest of a session.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from kbroker.metadata.image import ClusterImage
from kbroker.plain import plain


@plain()
class _Session:
    broker_epoch: int
    heard_ms: float
    #: The last metadata offset that the broker has applied.
    metadata_offset: int = -1
    #: Where its registration lies, or what took leaderships from it unasked: it serves from there on.
    needed_offset: int = -1
    #: Where the last change of its controlled shutdown lies.
    shutdown_offset: int = -1
    #: This controller has not heard of it: the session is only what a live broker is given at a takeover.
    assumed: bool = False


class Liveness:
    """The sessions of all brokers. Times are monotonic milliseconds.

    Args:
        session_timeout_ms: `broker.session.timeout.ms`, asked anew each time.
        own_id: the broker in this process, whose session does not end: it lives as long as this controller;
            -1: there is none.
    """

    def __init__(self, session_timeout_ms: Callable[[], int], own_id: int = -1) -> None:
        self._timeout_ms = session_timeout_ms
        self._own_id = own_id
        self._sessions: dict[int, _Session] = {}

    def start(self, image: ClusterImage, now_ms: float, silence_ms: float = 0.0) -> None:
        """This controller becomes active, after nobody was for about `silence_ms`.

        That is what sessions are shorter by, half of one at most: brokers find the new controller and send a
        heartbeat at once; the one that was cut off with the old controller is missed that much sooner.

        A fenced broker has no session: nobody knows whether it runs; nor has that of this process, which
        registers anew. They count as caught up when they have read all that is committed now, their
        registration included.
        """
        heard_ms = now_ms - min(silence_ms, self._timeout_ms() / 2)
        self._sessions = {
            broker.id: _Session(
                broker.epoch,
                -inf if broker.fenced or broker.id == self._own_id else heard_ms,
                needed_offset=image.offset,
                assumed=True,
            )
            for broker in image.brokers.values()
        }

    def stop(self) -> None:
        """This controller is not active any more."""
        self._sessions.clear()

    def registered(self, broker_id: int, broker_epoch: int, offset: int) -> None:
        """A broker registered, its record lies at `offset`. Its session begins with the first heartbeat.

        As long as it has not sent one, another one of that id may come instead, as with Kafka: a process
        that died while it started does not keep its successor waiting.
        """
        old = self._sessions.get(broker_id)
        session = self._sessions[broker_id] = _Session(broker_epoch, -inf, needed_offset=offset)
        if old is not None and old.broker_epoch == broker_epoch:
            session.heard_ms, session.metadata_offset = old.heard_ms, old.metadata_offset

    def heard(self, broker_id: int, broker_epoch: int, metadata_offset: int, now_ms: float) -> None:
        """A heartbeat came from the registered incarnation."""
        session = self._sessions.get(broker_id)
        if session is None or session.broker_epoch != broker_epoch:
            session = self._sessions[broker_id] = _Session(broker_epoch, now_ms)
        session.heard_ms = now_ms
        session.metadata_offset = metadata_offset
        session.assumed = False

    def leaving(self, broker_id: int, offset: int) -> None:
        """The broker's controlled shutdown changed something up to `offset`."""
        session = self._sessions.get(broker_id)
        if session is not None:
            session.shutdown_offset = offset

    def taken_from(self, image: ClusterImage, broker_id: int, offset: int) -> None:
        """Leaderships went to others, unasked, by records up to `offset`: before the broker has read them it
        does not know what it may say, however alive it is.
        """
        session, broker = self._sessions.get(broker_id), image.brokers.get(broker_id)
        # Brokers in ZooKeeper's mode are told, and Kafka's say that they have read less than they have.
        if session is not None and broker is not None and not broker.is_migrating_zk_broker:
            session.needed_offset = max(session.needed_offset, offset)

    def end(self, broker_id: int) -> None:
        """The broker has stopped, or is known to be dead: another incarnation may come at once."""
        session = self._sessions.get(broker_id)
        if session is not None:
            session.heard_ms = -inf

    def forget(self, broker_id: int) -> None:
        """The broker is not registered any more."""
        self._sessions.pop(broker_id, None)

    def alive(self, broker_id: int, now_ms: float) -> bool:
        """Whether the registered incarnation was heard of within its session."""
        session = self._sessions.get(broker_id)
        return session is not None and now_ms - session.heard_ms < self._timeout_ms()

    def only_assumed(self, broker_id: int) -> bool:
        """Whether this controller has not heard of the registered incarnation since it took over."""
        session = self._sessions.get(broker_id)
        return session is not None and session.assumed

    def caught_up(self, broker_id: int, metadata_offset: int) -> bool:
        """Whether a broker that has applied so much has seen its registration, and all that was taken from
        it.
        """
        session = self._sessions.get(broker_id)
        return session is not None and metadata_offset >= session.needed_offset

    def others_know(self, image: ClusterImage, broker_id: int) -> bool:
        """Whether all active brokers have read that `broker_id` gave up what it led."""
        session = self._sessions.get(broker_id)
        return session is not None and session.shutdown_offset <= self._lowest_active_offset(image)

    def _lowest_active_offset(self, image: ClusterImage) -> float:
        lowest = inf
        for broker_id, session in self._sessions.items():
            broker = image.brokers.get(broker_id)
            # What is decided in this process is known in it. Brokers in ZooKeeper's mode are told, and do not
            # go by what they have read; Kafka's say less than that (they count batches for records).
            if (
                broker is not None
                and broker.active
                and broker_id != self._own_id
                and not broker.is_migrating_zk_broker
            ):
                lowest = min(lowest, session.metadata_offset)
        return lowest

    def expire(self, now_ms: float) -> list[tuple[int, int]]:
        """End the sessions that are over: (broker id, broker epoch) of each."""
        limit = now_ms - self._timeout_ms()
        ended = [
            (broker_id, session.broker_epoch)
            for broker_id, session in self._sessions.items()
            if session.heard_ms <= limit and broker_id != self._own_id and session.heard_ms != -inf
        ]
        for broker_id, _ in ended:
            self._sessions[broker_id].heard_ms = -inf
        return ended

    def silences_ms(self, now_ms: float) -> dict[int, int]:
        """How long ago each broker was heard of; without those that were not."""
        return {
            broker_id: round(now_ms - session.heard_ms)
            for broker_id, session in self._sessions.items()
            if session.heard_ms != -inf
        }

    def deadline(self) -> float | None:
        """When the next session is over, if its broker stays silent."""
        heard = [
            session.heard_ms
            for broker_id, session in self._sessions.items()
            if broker_id != self._own_id and session.heard_ms != -inf
        ]
        return min(heard) + self._timeout_ms() if heard else None
