"""What the controller hears of this broker's log directories: failed (KIP-858) and cordoned ones (KIP-1066).

`cordoned.log.dirs` closes directories for new replicas: none is placed there, and none may be moved there;
what lies there goes on. A broker all of whose directories are cordoned gets none from the controller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_manager import LogManager

_SETTING = "cordoned.log.dirs"


class LogDirectories:
    """Keeps the directories of `logs` cordoned as the setting has it, also while it changes."""

    def __init__(self, logs: LogManager, config: BrokerConfig) -> None:
        self._dirs = logs.dirs
        self._config = config
        #: Told when other directories are cordoned than before.
        self.on_cordoned: Callable[[], object] = lambda: None
        self._cordon()
        config.subscribe(lambda _: self._cordon(), {_SETTING})

    def _cordon(self) -> None:
        wanted = self._config.get_list(_SETTING)
        changed = False
        # They are made of the setting, in its order; their own paths are absolute.
        for path, directory in zip(self._config.log_dirs, self._dirs):
            cordoned = "*" in wanted or path in wanted
            changed = changed or cordoned != directory.cordoned
            directory.cordoned = cordoned
        if changed:
            self.on_cordoned()

    def offline(self) -> list[Uuid]:
        """Those that have failed."""
        return self._ids(lambda directory: directory.offline)

    def cordoned(self) -> list[Uuid]:
        """Those that are closed for new replicas."""
        return self._ids(lambda directory: directory.cordoned)

    def _ids(self, test: Callable[[LogDir], bool]) -> list[Uuid]:
        found = (each.directory_id for each in self._dirs if test(each))
        return [directory_id for directory_id in found if directory_id != ZERO_UUID]
