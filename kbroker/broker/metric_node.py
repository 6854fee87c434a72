"""The process, its sockets, disks and waiting rooms as Kafka names them; loaded when somebody looks."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker import __version__
from kbroker.metrics.registry import COUNTER, GAUGE, HISTOGRAM, METER

if TYPE_CHECKING:
    from kbroker.broker.cleaner_driver import CleanerDriver
    from kbroker.broker.services import Services
    from kbroker.storage.log import Log

_SERVER = "kafka.server"
_DISK_COUNTS = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes")


def add(services: Services) -> None:
    """Add the families."""
    _add_server(services)
    _add_logs(services)
    _add_waiting(services)
    _add_process(services)


def _add_server(services: Services) -> None:
    registry = services.metrics
    registry.gauge(_SERVER, "KafkaServer", "BrokerState", lambda: _broker_state(services))
    roles = services.config.get_list("process.roles")
    names = ["KafkaServer", *(["ControllerServer"] if not roles or "controller" in roles else [])]
    for name in names:
        registry.gauge(_SERVER, name, "ClusterId", lambda: services.cluster_id)
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
    registry.attributes(
        _SERVER,
        "app-info",
        lambda: {"version": __version__, "commit-id": "unknown", "start-time-ms": _start_time_ms()},
    )
    registry.attributes("kafka", "kafka.Log4jController", lambda: {"Loggers": _loggers()})


def _loggers() -> list[str]:
    return [name for name in sorted(logging.root.manager.loggerDict) if name.partition(".")[0] == "kbroker"]


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
        lambda: [((each.path,), int(each.cordoned)) for each in dirs],
    )
    registry.gauge(
        "kafka.log", "LogManager", "CordonedLogDirectoryCount", lambda: sum(each.cordoned for each in dirs)
    )
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
    if services.extras.get("cleaner") is not None:
        _add_cleaner(services, services.extras["cleaner"])


def _add_cleaner(services: Services, cleaner: CleanerDriver) -> None:
    registry, domain = services.metrics, "kafka.log"

    def since_ms() -> int:
        last_ms = cleaner.stats().last_ms
        return max(services.clock.now_ms() - last_ms, 0) if last_ms else 0

    gauges: dict[tuple[str, str], Callable[[], int]] = {
        ("LogCleanerManager", "max-dirty-percent"): lambda: int(cleaner.stats().dirtiest_ratio * 100),
        ("LogCleanerManager", "time-since-last-run-ms"): since_ms,
        ("LogCleaner", "max-clean-time-secs"): lambda: int(cleaner.stats().last_s),
        ("LogCleaner", "cleaner-recopy-percent"): lambda: int(cleaner.stats().last_kept * 100),
    }
    for (kind, name), ask in gauges.items():
        registry.gauge(domain, kind, name, ask)

    def uncleanable(ask: Callable[[Log], int]) -> list[tuple[tuple[str], int]]:
        counts = {each.path: 0 for each in services.replicas.logs.dirs}
        for tp in cleaner.stats().uncleanable:
            log = services.replicas.logs.get(tp)
            if log is not None:
                counts[log.directory.path] += ask(log)
        return [((path,), count) for path, count in counts.items()]

    manager, keys = "LogCleanerManager", ("logDirectory",)
    registry.rows(
        domain, manager, "uncleanable-partitions-count", GAUGE, keys, lambda: uncleanable(lambda log: 1)
    )
    registry.rows(
        domain, manager, "uncleanable-bytes", GAUGE, keys, lambda: uncleanable(lambda log: log.size)
    )
    registry.rows(domain, "LogCleaner", "bytes-read", COUNTER, (), lambda: [((), cleaner.stats().bytes_read)])
    registry.rows(
        domain, "LogCleaner", "bytes-written", COUNTER, (), lambda: [((), cleaner.stats().bytes_written)]
    )
    registry.rows(
        "kafka.utils", "Throttler", "cleaner-io", METER, (), lambda: [((), _passed(cleaner))], event="bytes"
    )


def _passed(cleaner: CleanerDriver) -> int:
    stats = cleaner.stats()
    return stats.bytes_read + stats.bytes_written


def _add_waiting(services: Services) -> None:
    registry, kind = services.metrics, "DelayedOperationPurgatory"
    replicas, sessions = services.replicas, services.fetch_sessions

    for name in ("NumDelayedOperations", "PurgatorySize"):
        registry.gauge(_SERVER, kind, name, lambda: replicas.fetches.count(""), delayedOperation="Fetch")
        registry.gauge(
            _SERVER, kind, name, lambda: replicas.fetches.count("ShareFetch"), delayedOperation="ShareFetch"
        )
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
