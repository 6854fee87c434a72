"""The levels of our loggers, as Kafka shows and changes them: resource type BROKER_LOGGER (KIP-412)."""

from __future__ import annotations

import logging

from kbroker.errors import ApiError, ErrorCode

#: Kafka's names and Python's levels.
_LEVELS = {
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
}
ROOT = "root"


def level_names() -> dict[str, str]:
    """Every logger of ours that exists, and the root, with the name of its level in force."""
    names = [name for name in sorted(logging.root.manager.loggerDict) if name.partition(".")[0] == "kbroker"]
    return {name: _level_name(_logger(name)) for name in [ROOT, *names]}


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _level_name(logger: logging.Logger) -> str:
    level = logger.getEffectiveLevel()
    return next((name for name, number in _LEVELS.items() if level >= number), "TRACE")


def check_level(name: str, level: str | None) -> None:
    """Whether a logger may get that level (None: back to its parent's).

    Raises:
        ApiError: no such logger or level, or the root would have none.
    """
    if name not in level_names():
        raise ApiError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if level is None:
        if name == ROOT:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed"
            )
    elif level not in _LEVELS:
        raise ApiError(
            ErrorCode.INVALID_CONFIG,
            f"Cannot set the log level of {name} to {level} as it is not a supported log level. "
            f"Valid log levels are {', '.join(sorted(_LEVELS))}",
        )


def set_level(name: str, level: str | None) -> None:
    """Give a logger a level that `check_level` allows."""
    _logger(name).setLevel(logging.NOTSET if level is None else _LEVELS[level])
