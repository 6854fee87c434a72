"""What a seed of replication plays."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

#: Each so many-th seed acknowledges nothing that is not synced.
SYNCS_EVERY = 10


@dataclass
class Options:
    """What one run is like; `Options.of_seed` takes them from a seed."""

    nodes: int = 3
    partitions: int = 2
    min_isr: int = 2
    lag_ms: int = 700
    session_ms: int = 400
    fetch_version: int = 17
    delay_ms: tuple[float, float] = (0.5, 8)
    metadata_delay_ms: tuple[float, float] = (0.5, 60)
    lost_answers: float = 0.0
    late_duplicates: float = 0.0
    kills: float = 0.0
    power_cuts: float = 0.0
    clean_stops: float = 0.0
    cuts: float = 0.0
    controller_cuts: float = 0.0
    deletes: float = 0.0
    reassigns: float = 0.0
    unclean: bool = False
    segment_bytes: int = 4096
    faults_end_ms: int = 5000
    heal_ms: int = 8000
    #: flush.messages=1, on a disk that takes its time: nothing that was acknowledged is lost, though all lose
    #: power together now and then.
    syncs: bool = False
    blackouts: float = 0.0

    @staticmethod
    def of_seed(seed: int, random: Random) -> Options:
        """By chance, but for what was added later: that goes by the number, so that other seeds stay."""
        options = Options.draw(random)
        if seed % SYNCS_EVERY == SYNCS_EVERY - 1:
            options.syncs, options.blackouts = True, 1.0
        return options

    @staticmethod
    def draw(random: Random) -> Options:
        """Each kind of fault is there, or not at all (swarm testing)."""

        def sometimes(rate):
            return rate if random.random() < 0.6 else 0.0

        return Options(
            min_isr=random.choice([1, 2, 2, 2]),
            fetch_version=random.choice([12, 13, 14, 15, 17, 18]),
            delay_ms=random.choice([(0.2, 2), (0.5, 8), (1, 60)]),
            metadata_delay_ms=random.choice([(0.5, 5), (0.5, 60), (5, 400), (200, 1500)]),
            lost_answers=sometimes(0.1),
            late_duplicates=sometimes(0.4),
            kills=sometimes(1.2),
            power_cuts=sometimes(1.0),
            clean_stops=sometimes(0.8),
            cuts=sometimes(1.0),
            controller_cuts=sometimes(1.0),
            deletes=sometimes(1.0),
            lag_ms=random.choice([100, 300, 700, 2000]),
            nodes=random.choice([3, 3, 3, 4, 5]),
            reassigns=sometimes(1.5),
            unclean=random.random() < 0.1,
            faults_end_ms=random.choice([2000, 3500, 5000]),
        )
