"""The process, its sockets, disks and waiting rooms as Kafka names them; loaded when somebody looks."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kbroker import __version__
from kbroker.metrics.registry import ATTRIBUTES, COUNTER, GAUGE, HISTOGRAM, METER

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_SERVER = "kafka.server"
_DISK_COUNTS = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes")


def add(services: Services) -> None:
    """Add the families."""
    _add_server(services)
    _add_logs(services)
    _add_sockets(services)
    _add_waiting(services)
    _add_process(services)


def _add_server(services: Services) -> None:
    registry, name = services.metrics, "KafkaServer"
    registry.gauge(_SERVER, name, "ClusterId", lambda: services.cluster_id)
    registry.gauge(_SERVER, name, "BrokerState", lambda: _broker_state(services))
    registry.gauge(_SERVER, name, "yammer-metrics-count", registry.count)
    for count in _DISK_COUNTS:
        jmx = "linux-disk-" + count.replace("_", "-")
        registry.gauge(_SERVER, name, jmx, lambda count=count: _disk_counts().get(count, 0))  # type: ignore[misc]
    registry.attributes(
        _SERVER,
        "app-info",
        lambda: {"Version": __version__, "CommitId": "unknown", "StartTimeMs": _start_time_ms()},
        id=str(services.broker_id),
    )


def _broker_state(services: Services) -> int:
    membership = services.extras.get("membership")
    lifecycle = membership.lifecycle if membership is not None else None
    if lifecycle is None:
        return 0
    state: int = lifecycle.state.value
    return state


def _add_logs(services: Services) -> None:
    registry, dirs = services.metrics, services.replicas.logs.dirs
    registry.gauge(
        "kafka.log", "LogManager", "OfflineLogDirectoryCount", lambda: sum(each.offline for each in dirs)
    )
    registry.rows(
        "kafka.log",
        "LogManager",
        "LogDirectoryOffline",
        GAUGE,
        ("logDirectory",),
        lambda: [((each.path,), int(each.offline)) for each in dirs],
    )
    registry.rows(
        "kafka.log",
        "LogManager",
        "LogDirectoryCordoned",
        GAUGE,
        ("logDirectory",),
        lambda: [((each.path,), int(each.directory_id in _cordoned(services))) for each in dirs],
    )
    registry.gauge("kafka.log", "LogManager", "CordonedLogDirectoryCount", lambda: len(_cordoned(services)))
    syncs = services.replicas.syncs
    registry.family(
        "kafka.log",
        "LogFlushStats",
        "LogFlushRateAndTimeMs",
        HISTOGRAM,
        (),
        lambda: [((), syncs.times)],
        event="calls",
    )
    cleaner = services.extras.get("cleaner")
    if cleaner is not None:
        registry.gauge(
            "kafka.log",
            "LogCleanerManager",
            "max-dirty-percent",
            lambda: int(cleaner.stats().dirtiest_ratio * 100),
        )
        registry.rows(
            "kafka.log",
            "LogCleanerManager",
            "uncleanable-partitions-count",
            GAUGE,
            ("logDirectory",),
            lambda: _uncleanable(services, cleaner.stats().uncleanable),
        )
        for name, attribute in (("bytes-read", "bytes_read"), ("bytes-written", "bytes_written")):
            registry.rows(
                "kafka.log",
                "LogCleaner",
                name,
                COUNTER,
                (),
                lambda attribute=attribute: [((), getattr(cleaner.stats(), attribute))],  # type: ignore[misc]
            )


def _cordoned(services: Services) -> tuple[bytes, ...]:
    own = services.metadata.image.brokers.get(services.broker_id)
    return () if own is None else own.cordoned_log_dirs or ()


def _uncleanable(services: Services, found: Any) -> list[tuple[tuple[str], int]]:
    counts = {each.path: 0 for each in services.replicas.logs.dirs}
    for tp in found:
        log = services.replicas.logs.get(tp)
        if log is not None:
            counts[log.directory.path] += 1
    return [((path,), count) for path, count in counts.items()]


def _add_sockets(services: Services) -> None:
    registry, traffic = services.metrics, services.traffic

    def listeners() -> Iterator[Any]:
        for name, stats in list(traffic.items()):
            yield (
                (name, "0"),
                {
                    "connection-count": stats.opened - stats.closed,
                    "connection-creation-total": stats.opened,
                    "connection-close-total": stats.closed,
                    "incoming-byte-total": stats.bytes_in,
                    "outgoing-byte-total": stats.bytes_out,
                    "expired-connections-killed-count": stats.expired,
                    "refused-connections-total": stats.refused,
                    "successful-authentication-total": stats.logins,
                    "failed-authentication-total": stats.login_failures,
                    "successful-reauthentication-total": stats.relogins,
                    "failed-reauthentication-total": stats.relogin_failures,
                },
            )

    registry.rows(
        _SERVER, "socket-server-metrics", "", ATTRIBUTES, ("listener", "networkProcessor"), listeners
    )
    keys = ("clientSoftwareName", "clientSoftwareVersion", "listener", "networkProcessor")
    registry.rows(_SERVER, "socket-server-metrics", "", ATTRIBUTES, keys, lambda: _software(services))
    registry.gauge(
        "kafka.network",
        "SocketServer",
        "ExpiredConnectionsKilledCount",
        lambda: sum(stats.expired for stats in traffic.values()),
    )
    idle = LoopIdle()
    registry.on_tick.append(idle.tick)
    registry.gauge("kafka.network", "SocketServer", "NetworkProcessorAvgIdlePercent", lambda: idle.ratio)
    registry.gauge("kafka.network", "Processor", "IdlePercent", lambda: idle.ratio, networkProcessor="0")
    for role in ("", "Broker", "Controller"):
        name = f"{role}RequestHandlerAvgIdlePercent"
        registry.gauge(_SERVER, "KafkaRequestHandlerPool", name, lambda: idle.ratio)


def _software(services: Services) -> list[tuple[tuple[str, ...], dict[str, int]]]:
    found: dict[tuple[str, ...], int] = {}
    for client in services.clients.clients():
        key = client.name.software, client.name.software_version, client.name.listener, "0"
        found[key] = found.get(key, 0) + client.connections
    return [(key, {"connections": count}) for key, count in found.items()]


class LoopIdle:
    """How much of the time the thread of the event loop had nothing to do, from tick to tick (5 s)."""

    def __init__(self) -> None:
        self.ratio = 1.0
        self._cpu_s, self._wall_s = time.thread_time(), time.monotonic()

    def tick(self, now_ms: int) -> None:
        """Look at the clocks."""
        cpu_s, wall_s = time.thread_time(), time.monotonic()
        if wall_s > self._wall_s:
            self.ratio = min(max(1 - (cpu_s - self._cpu_s) / (wall_s - self._wall_s), 0.0), 1.0)
        self._cpu_s, self._wall_s = cpu_s, wall_s


def _add_waiting(services: Services) -> None:
    registry, kind = services.metrics, "DelayedOperationPurgatory"
    replicas, sessions = services.replicas, services.fetch_sessions

    for name in ("NumDelayedOperations", "PurgatorySize"):
        registry.gauge(_SERVER, kind, name, lambda: len(replicas.fetches), delayedOperation="Fetch")
    registry.gauge(_SERVER, "FetchSessionCache", "NumIncrementalFetchSessions", lambda: len(sessions))
    registry.gauge(
        _SERVER, "FetchSessionCache", "NumIncrementalFetchPartitionsCached", lambda: sessions.partition_count
    )
    registry.rows(
        _SERVER,
        "FetchSessionCache",
        "IncrementalFetchSessionEvictionsPerSec",
        METER,
        (),
        lambda: [((), sessions.evictions)],
        event="evictions",
    )


def _add_process(services: Services) -> None:
    """The usual names of Prometheus' own clients; 0 where there is no /proc."""
    registry = services.metrics
    registry.attributes(_SERVER, "kafka-metrics-count", lambda: {"count": registry.count()})
    registry.rows("process", "cpu_seconds", "", COUNTER, (), lambda: [((), time.process_time())])
    registry.gauge("process", "start_time_seconds", "", lambda: _start_time_ms() / 1000)
    registry.gauge("process", "resident_memory_bytes", "", _resident_bytes)
    registry.gauge("process", "open_fds", "", _open_files)
    registry.gauge("process", "max_fds", "", _open_files_max)


def _start_time_ms() -> int:
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        with open("/proc/stat", "rb") as file:
            boot_s = next(int(line.split()[1]) for line in file if line.startswith(b"btime"))
    except (OSError, ValueError, IndexError, StopIteration):
        return int(time.time() * 1000 - time.process_time() * 1000)
    return int((boot_s + ticks / os.sysconf("SC_CLK_TCK")) * 1000)


def _disk_counts() -> dict[str, int]:
    try:
        with open("/proc/self/io") as file:
            pairs = [line.split(":") for line in file]
    except OSError:
        return {}
    return {name: int(value) for name, value in pairs}


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _open_files() -> int:
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0


def _open_files_max() -> int:
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
