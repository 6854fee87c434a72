"""What goes on beside requests on a broker: retention, checkpoints, moves between directories, compaction.

With threads of their own: none of it may keep the metadata log from its fsync, nor copying keep checkpoints.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from kbroker.broker.cleaner_driver import CleanerDriver
from kbroker.broker.housekeeping import Housekeeping
from kbroker.broker.log_mover import LogMover
from kbroker.replication.throttle import ReplicationQuota
from kbroker.server.cleaner_process import CleanerProcess
from kbroker.server.node_folders import new_uuid
from kbroker.server.runtime import BlockingRunner

if TYPE_CHECKING:
    from kbroker.broker.flush_times import FlushTimes
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.storage.log_manager import LogManager


def start_chores(
    services: Services,
    config: BrokerConfig,
    logs: LogManager,
    flushes: FlushTimes,
    undo: list[Callable[[], Awaitable[None] | None]],
    *,
    on_all_offline: Callable[[], None],
    on_moved: Callable[[Partition], object],
) -> None:
    """Begin.

    Args:
        flushes: measures syncs of logs.
        undo: gets what stops them.
        on_all_offline: no log directory works any more.
        on_moved: told of a partition that lies elsewhere now.
    """
    clock, timer = services.clock, services.timer
    blocking = BlockingRunner(asyncio.get_running_loop(), name="chores")
    undo.append(blocking.close)
    housekeeping = Housekeeping(
        logs,
        config,
        clock=clock,
        timer=timer,
        run_blocking=blocking.run,
        run_flush=flushes.around(blocking.run),
        on_all_offline=on_all_offline,
    )
    housekeeping.start()
    # A checkpoint that is being written must not come after those of the stop.
    undo.append(blocking.idle)
    undo.append(housekeeping.stop)
    _start_mover(services, config, housekeeping, undo).on_moved = on_moved
    cleaner = CleanerDriver(
        logs,
        config,
        clock=clock,
        timer=timer,
        run_blocking=blocking.run,
        start_worker=partial(CleanerProcess, asyncio.get_running_loop().call_soon_threadsafe),
        removable_to=services.replicas.removable_to,
    )
    services.extras["cleaner"] = cleaner
    services.replicas.cleaned_offset = cleaner.cleaned_offset
    if services.replication is not None:
        services.replication.on_truncated = cleaner.truncated
        cleaner.on_cleaned = services.replication.cleaned
    cleaner.start()
    undo.append(cleaner.stop)


def _start_mover(
    services: Services,
    config: BrokerConfig,
    housekeeping: Housekeeping,
    undo: list[Callable[[], Awaitable[None] | None]],
) -> LogMover:
    value = config.get("num.replica.alter.log.dirs.threads")
    at_once = max(value if isinstance(value, int) else len(config.log_dirs), 1)
    copying = BlockingRunner(asyncio.get_running_loop(), threads=at_once, name="move")
    undo.append(copying.close)
    mover = services.log_mover = LogMover(
        services.replicas,
        copying.run,
        new_uuid,
        housekeeping.checkpoints,
        services.timer,
        at_once=at_once,
        quota=ReplicationQuota(
            partial(config.get_int, "replica.alter.log.dirs.io.max.bytes.per.second"),
            config.get_int("alter.log.dirs.replication.quota.window.size.seconds") * 1000,
        ),
    )
    mover.resume()
    undo.append(mover.stop)
    return mover
