"""What OffsetFetch is told is what the committed part of the log says, whatever lies behind it."""

from hypothesis import example, given, settings, strategies as st

from kbroker.coordinator.group.offsets import CommittedOffset, OffsetStore

TOPIC = "t"
GROUPS, PARTITIONS, PRODUCERS = ("g", "h"), (0, 1), (7, 8)

places = st.tuples(st.sampled_from(GROUPS), st.sampled_from(PARTITIONS))
steps = st.one_of(
    st.tuples(st.just("put"), places, st.just(-1)),
    st.tuples(st.just("put"), places, st.sampled_from(PRODUCERS)),
    st.tuples(st.just("remove"), places, st.just(-1)),
    st.tuples(st.just("commit"), st.none(), st.sampled_from(PRODUCERS)),
    st.tuples(st.just("abort"), st.none(), st.sampled_from(PRODUCERS)),
)


def write(store, at, step):
    kind, place, producer = step
    if kind == "put":
        group, partition = place
        store.put(group, TOPIC, partition, CommittedOffset(at, -1, "", 0, record_offset=at), producer)
    elif kind == "remove":
        store.remove(place[0], TOPIC, place[1], at)
    else:
        store.end_transaction(producer, kind == "commit", at)


@settings(max_examples=300, deadline=None)
@given(
    log=st.lists(steps, min_size=1, max_size=30), loaded=st.integers(0, 30), ends=st.lists(st.integers(0, 30))
)
@example(log=[("put", ("h", 0), 7), ("put", ("h", 0), -1), ("remove", ("h", 0), -1)], loaded=1, ends=[])
def test_what_is_told_is_what_the_committed_part_of_the_log_says(log, loaded, ends):
    loaded = min(loaded, len(log))
    store = OffsetStore()
    for at, step in enumerate(log[:loaded]):
        write(store, at, step)
    committed = loaded
    store.committed(committed)
    for at, step in enumerate(log[loaded:], loaded):
        write(store, at, step)
        if ends:
            committed = max(committed, min(ends.pop(), at + 1))
            store.committed(committed)
        prefix = OffsetStore()
        for at_before, step_before in enumerate(log[:committed]):
            write(prefix, at_before, step_before)
        for group in GROUPS:
            keys = store.committed_keys(group)
            for partition in PARTITIONS:
                value, unstable = store.as_committed(group, TOPIC, partition)
                assert value == prefix.get(group, TOPIC, partition)
                assert unstable or not prefix.is_unstable(group, TOPIC, partition)
                assert value is None or (TOPIC, partition) in keys
    store.committed(len(log))
    assert not store._changes  # nothing is kept of what is committed


def test_loading_keeps_nothing_of_what_was_before():
    store = OffsetStore()
    for at in range(10):
        write(store, at, ("put", ("g", 0), -1))
    assert not store._changes
