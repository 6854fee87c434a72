"""Any sequence of requests, time and write errors keeps what a group promises (also: `World.check`)."""

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kbroker.coordinator.group.limits import GroupLimits
from kbroker.errors import ErrorCode as E
from tests.coordinator.group_world import PARKED, World

PROTOCOLS = [
    [("range", b"1")],
    [("range", b"2")],
    [("range", b"1"), ("sticky", b"1")],
    [("sticky", b"3"), ("range", b"3")],
]
MINUTES_30 = 1_800_000


class Groups(RuleBasedStateMachine):
    """Clients that join, sync, leave, die, come back and commit, in one group."""

    @initialize(delay=st.sampled_from([0, 3_000]), size=st.sampled_from([3, 100]))
    def start(self, delay, size):
        self.w = World(GroupLimits(initial_rebalance_delay_ms=delay, max_size=size))
        self.generation = 0
        self.ids = []
        self.tickets = []

    def member(self, index):
        return self.ids[index % len(self.ids)] if self.ids else "nobody"

    @rule(
        version=st.sampled_from([3, 6, 9]),
        protocols=st.sampled_from(PROTOCOLS),
        instance=st.sampled_from([None, None, "i", "j"]),
        session=st.sampled_from([6_000, 30_000]),
        rebalance=st.sampled_from([0, 5_000, 60_000]),
    )
    def join_new(self, version, protocols, instance, session, rebalance):
        kwargs = {"protocols": protocols, "session": session, "rebalance": rebalance}
        ticket = self.w.join(version=version, instance=instance, **kwargs)
        answer = self.w.answer(ticket)
        if answer is not PARKED and answer.error_code == E.MEMBER_ID_REQUIRED:
            self.ids.append(answer.member_id)
        else:
            self.tickets.append(ticket)

    @rule(index=st.integers(0, 9), protocols=st.sampled_from(PROTOCOLS), known=st.booleans())
    def join_again(self, index, protocols, known):
        member_id = self.member(index)
        group = self.w.shard.groups.get("g")
        member = group.members.get(member_id) if group else None
        instance = member.instance_id if member and known else None
        self.tickets.append(self.w.join(member=member_id, protocols=protocols, instance=instance))

    @precondition(lambda self: "g" in self.w.shard.groups)
    @rule(index=st.integers(0, 9), stale=st.booleans())
    def sync(self, index, stale):
        group = self.w.group()
        member_id = self.member(index)
        given = [(each, each.encode()) for each in group.members]
        self.tickets.append(self.w.sync(member_id, group.generation - stale, given))

    @rule(index=st.integers(0, 9))
    def heartbeat(self, index):
        group = self.w.shard.groups.get("g")
        code = self.w.heartbeat(self.member(index), group.generation if group else 0)
        assert code in (E.NONE, E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS)

    @rule(index=st.integers(0, 9))
    def leave(self, index):
        self.w.leave(self.member(index))

    @rule(instance=st.sampled_from(["i", "j"]))
    def remove_by_instance(self, instance):
        self.w.leave(("", instance))

    @rule(
        index=st.integers(0, 9), partition=st.integers(0, 2), offset=st.integers(0, 99), member=st.booleans()
    )
    def commit(self, index, partition, offset, member):
        group = self.w.shard.groups.get("g")
        who = {"member": self.member(index), "generation": group.generation} if member and group else {}
        self.w.commit(("t", partition, offset), **who)

    @rule(ms=st.sampled_from([0, 1, 1_000, 5_000, 30_000]))
    def wait(self, ms):
        self.w.pass_ms(ms)

    @rule(code=st.sampled_from([E.KAFKA_STORAGE_ERROR, E.NOT_ENOUGH_REPLICAS]))
    def refuse_next_write(self, code):
        self.w.refuse = code

    @precondition(lambda self: "g" in self.w.shard.groups)
    @rule(everybody=st.booleans())
    def settle(self, everybody):
        """Members join again as clients do when a heartbeat tells them to, and bring or fetch assignments."""
        group = self.w.group()
        for member in list(group.members.values()):
            if member.join_ticket is None and group.members.get(member.member_id) is member:
                ticket = self.w.join(
                    member=member.member_id,
                    instance=member.instance_id,
                    protocols=list(member.protocols.items()),
                    session=member.session_timeout_ms,
                    rebalance=60_000,
                )
                self.tickets.append(ticket)
        self.w.pass_ms(3_000)
        for member_id in list(group.members)[: None if everybody else 1]:
            given = [(each, each.encode()) for each in group.members]
            self.tickets.append(self.w.sync(member_id, group.generation, given))

    @rule(really=st.sampled_from([False, False, False, True]))
    def expire_or_delete(self, really):
        self.w.expire()
        if really:
            self.w.perform(self.w.shard.delete_group(self.w.ticket(), "g"))

    # -- what must hold ----------------------------------------------------------------------------------

    @invariant()
    def learn_ids(self):
        for ticket in self.tickets:
            member_id = getattr(self.w.answer(ticket), "member_id", "")
            if member_id and member_id not in self.ids:
                self.ids.append(member_id)

    @invariant()
    def generations_only_rise(self):
        group = self.w.shard.groups.get("g")
        self.generation = 0 if group is None else self._risen(group.generation)

    def _risen(self, generation):
        assert generation >= self.generation
        return generation

    @invariant()
    def a_generation_has_one_leader(self):
        if "g" not in self.w.shard.groups:
            self.tickets = [t for t in self.tickets if self.w.answer(t) is PARKED]
        leaders = {}
        for ticket in self.tickets:
            answer = self.w.answer(ticket)
            leader = getattr(answer, "leader", "")
            if leader:
                # A static member that came back is the same leader under another id.
                who = leader if leader.startswith("app-") else leader.partition("-")[0]
                leaders.setdefault(answer.generation_id, set()).add(who)
        assert all(len(each) == 1 for each in leaders.values()), leaders

    @invariant()
    def who_waits_is_a_member(self):
        waiting = {t for t in self.tickets if self.w.answer(t) is PARKED}
        group = self.w.shard.groups.get("g")
        held = set()
        if group is not None:
            for member in group.members.values():
                held |= {member.join_ticket, member.sync_ticket} - {None}
        assert waiting == held

    @invariant()
    def the_log_tells_the_same(self):
        if self.w.refuse is not None or not hasattr(self, "w"):
            return
        replayed = self.w.replayed()
        assert {g: t for g in replayed.groups if (t := replayed.offsets.topics(g))} == {
            g: t for g in self.w.shard.groups if (t := self.w.shard.offsets.topics(g))
        }
        assert set(replayed.groups) == set(self.w.shard.groups)
        live = self.w.shard.groups.get("g")
        if live is None or live.state_name != "Stable":
            return
        again = replayed.groups["g"]
        assert again.record() == live.record(), (again.record(), live.record())
        assert again.state_name == "Stable"

    def teardown(self):
        """Everybody is answered in the end, and without heartbeats everybody is gone."""
        if not hasattr(self, "w"):
            return
        self.w.refuse = None
        self.w.pass_ms(MINUTES_30)
        assert all(self.w.answer(t) is not PARKED for t in self.tickets)
        group = self.w.shard.groups.get("g")
        assert group is None or (group.state_name == "Empty" and group.removable)
        assert self.w.shard.deadline() is None or self.w.shard.deadline() > self.w.now - MINUTES_30


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)
