"""Where log lines go and how they look: short text or JSON, to stderr or to a file that is rotated."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from kbroker.cli.output import clean
from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig


class ShortFormatter(logging.Formatter):
    """One line a record: time, level, message. A traceback follows only where a bug of ours shows.

    Names of topics and clients come from strangers: nothing in them acts on the terminal.
    """

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record) if record.exc_info else clean(super().format(record))


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger (the component), message, and what belongs to it.

    A record's `fields`, if it has some (`extra={"fields": {…}}`), are keys of their own.
    """

    def format(self, record: logging.LogRecord) -> str:
        import json
        from datetime import UTC, datetime

        time = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in getattr(record, "fields", {}).items() if key not in line}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, separators=(",", ":"), default=str)


def set_up_logging(config: BrokerConfig) -> None:
    """As the `kbroker.log.*` settings want it.

    Raises:
        ConfigError: the file cannot be written.
    """
    # A stderr that nobody reads any more must not make things worse.
    logging.raiseExceptions = False
    handler = _handler(config)
    if config.get_str("kbroker.log.format") == "json":
        handler.setFormatter(JsonFormatter())
    else:
        date = "%H:%M:%S" if not config.get_str("kbroker.log.file") else None
        handler.setFormatter(ShortFormatter("%(asctime)s %(levelname)s %(message)s", date))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("kbroker").setLevel(config.get_str("kbroker.log.level").upper())


def _handler(config: BrokerConfig) -> logging.Handler:
    path = config.get_str("kbroker.log.file")
    if not path:
        return logging.StreamHandler(sys.stderr)
    # Not needed by those who write to stderr, and not cheap.
    from logging.handlers import RotatingFileHandler

    try:
        return RotatingFileHandler(
            path,
            maxBytes=config.get_int("kbroker.log.file.bytes"),
            backupCount=config.get_int("kbroker.log.file.count"),
            encoding="utf-8",
            errors="backslashreplace",
        )
    except OSError as error:
        raise ConfigError(f"kbroker.log.file: cannot write {path}: {error.strerror}") from None
