"""A group shard with a driver made of lists: a virtual clock, a log in memory, and who was answered what."""

from __future__ import annotations

from itertools import count

from kbroker.coordinator.group.classic import ClassicGroup
from kbroker.coordinator.group.classic_requests import Joining
from kbroker.coordinator.group.group_shard import GroupShard
from kbroker.coordinator.group.limits import GroupLimits
from kbroker.coordinator.group.offset_requests import Commit, Committing
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kbroker.protocol.generated.leave_group_request import MemberIdentity
from kbroker.protocol.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kbroker.types import ZERO_UUID

NO_DELAY = GroupLimits(initial_rebalance_delay_ms=0, min_session_timeout_ms=100)
PARKED = object()


class World:
    """Performs outcomes as coordinator/shard.py says; `answers` keeps what each ticket was answered."""

    #: How the n-th new member's unique part looks.
    UNIQUE = "uuid{}"

    def __init__(self, limits: GroupLimits = NO_DELAY) -> None:
        self.limits = limits
        self.now = 1_000_000
        self.shard = self.new_shard()
        self.log: list[tuple[bytes, bytes | None]] = []
        self.answers: dict[object, object] = {}
        self.refuse: ErrorCode | None = None
        self._unique = count(1)
        self._tickets = count(1)

    def new_shard(self) -> GroupShard:
        return GroupShard(self.limits)

    # -- the driver's part -------------------------------------------------------------------------------

    def perform(self, outcome) -> None:
        while outcome is not None:
            if outcome.records:
                if self.refuse is not None:
                    code, self.refuse = self.refuse, None
                    outcome = outcome.refused(code) if outcome.refused else None
                    continue
                for record in outcome.records:
                    self.log.append(record.encoded())
                    self.shard.apply(record, len(self.log) - 1)
            for ticket, response in outcome.replies:
                assert ticket not in self.answers, "answered twice"
                self.answers[ticket] = response
            outcome = outcome.then() if outcome.then else None
        self.check()

    def pass_ms(self, ms: int) -> None:
        """Let time pass, deadline by deadline."""
        end = self.now + ms
        while (deadline := self.shard.deadline()) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            while (outcome := self.shard.tick(self.now)) is not None:
                self.perform(outcome)
        self.now = end

    def replayed(self) -> GroupShard:
        """Another shard that reads the same log."""
        shard = self.new_shard()
        for offset, (key, value) in enumerate(self.log):
            record = shard.decode(key, value)
            assert record is not None
            shard.apply(record, offset)
        return shard

    def check(self) -> None:
        """What always holds of every group."""
        for group in self.shard.groups.values():
            if not isinstance(group, ClassicGroup):
                continue
            members = group.members
            assert group.leader is None or group.leader in members
            assert (group.leader is None) == (not members)
            assert group.awaiting_join == sum(m.join_ticket is not None for m in members.values())
            assert group.static_members == {
                m.instance_id: i for i, m in members.items() if m.instance_id is not None
            }
            assert all(member.member_id == member_id for member_id, member in members.items())
            counted: dict[str, int] = {}
            for member in members.values():
                for name in member.protocols:
                    counted[name] = counted.get(name, 0) + 1
            assert group.supported == counted
            assert set(group.pending_sync) <= set(members) or group.state_name == "PreparingRebalance"

    # -- requests ----------------------------------------------------------------------------------------

    def ticket(self) -> str:
        return f"t{next(self._tickets)}"

    def join(
        self,
        group="g",
        member="",
        version=9,
        protocols=(("range", b"r"),),
        instance=None,
        session=30_000,
        rebalance=20_000,
        client="app",
        protocol_type="consumer",
    ):
        """Returns the ticket; see `answers`."""
        request = JoinGroupRequest(
            group_id=group,
            member_id=member,
            session_timeout_ms=session,
            rebalance_timeout_ms=rebalance,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name=n, metadata=m) for n, m in protocols],
        )
        ticket = self.ticket()
        joining = Joining(request, version, client, "/127.0.0.1", self.UNIQUE.format(next(self._unique)))
        self.perform(self.shard.join(ticket, joining, self.now))
        return ticket

    def joined(self, **kwargs):
        """Join to the end: with an id first if needed, and any delay waited for. Returns the response."""
        ticket = self.join(**kwargs)
        answer = self.answer(ticket)
        if answer is not PARKED and answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            ticket = self.join(**{**kwargs, "member": answer.member_id})
        self.pass_ms(0)
        return self.answer(ticket)

    def sync(self, member, generation, assignments=(), group="g", instance=None, **kwargs):
        request = SyncGroupRequest(
            group_id=group,
            member_id=member,
            generation_id=generation,
            group_instance_id=instance,
            assignments=[SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in assignments],
            **kwargs,
        )
        ticket = self.ticket()
        self.perform(self.shard.sync(ticket, request, self.now))
        return ticket

    def heartbeat(self, member, generation, group="g", instance=None) -> ErrorCode:
        return self.shard.heartbeat(group, member, instance, generation, self.now)

    def leave(self, *members, group="g"):
        """Members are ids, or (id, instance) pairs. Returns the codes."""
        identities = [
            MemberIdentity(member_id=m)
            if isinstance(m, str)
            else MemberIdentity(member_id=m[0], group_instance_id=m[1])
            for m in members
        ]
        ticket = self.ticket()
        self.perform(self.shard.leave(ticket, group, identities, self.now))
        return [each.error_code for each in self.answers[ticket].members]

    def commit(self, *commits, group="g", member="", generation=-1, instance=None, version=8, retention=-1):
        """Commits are (topic, partition, offset) triples or more of `Commit`. Returns the codes."""
        made = [Commit(c[0], ZERO_UUID, c[1], c[2], -1, *(c[3:] or ("",))) for c in commits]
        request = Committing(group, member, instance, generation, version, made, retention)
        ticket = self.ticket()
        self.perform(self.shard.commit(ticket, request, self.now))
        return self.answers[ticket]

    def offset(self, topic, partition, group="g"):
        committed = self.shard.offsets.get(group, topic, partition)
        return None if committed is None else committed.offset

    def expire(self) -> None:
        for outcome in self.shard.expire_offsets(self.now):
            self.perform(outcome)

    # -- looking -----------------------------------------------------------------------------------------

    def answer(self, ticket):
        return self.answers.get(ticket, PARKED)

    def group(self, group="g") -> ClassicGroup:
        return self.shard.groups[group]

    def state(self, group="g") -> str:
        return self.group(group).state_name

    def stable_pair(self):
        """A stable group of a leader and a follower: their ids."""
        a = self.joined(client="a").member_id
        self.sync(a, 1, [(a, b"all")])
        b_id = self.answer(self.join(client="b")).member_id
        waiting = self.join(client="b", member=b_id)
        self.joined(client="a", member=a)
        assert self.answer(waiting).generation_id == 2
        tb = self.sync(b_id, 2)
        ta = self.sync(a, 2, [(a, b"A"), (b_id, b"B")])
        assert self.answer(ta).assignment == b"A"
        assert self.answer(tb).assignment == b"B"
        return a, b_id
