"""Reading settings from where a person writes them: properties files, TOML, the environment, `name=value`.

Every reader is pure: text in, names and texts out. What is wrong is told as one `ConfigError` with the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbroker.errors import ConfigError

#: Variables of Kafka's start scripts and images that are no settings.
NOT_SETTINGS = frozenset(
    {
        "KAFKA_CFG_DIR",
        "KAFKA_CLUSTER_ID",
        "KAFKA_DEBUG",
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_HEAP_OPTS",
        "KAFKA_HOME",
        "KAFKA_JMX_HOSTNAME",
        "KAFKA_JMX_OPTS",
        "KAFKA_JMX_PORT",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_LOG4J_CMD_OPTS",
        "KAFKA_LOG4J_LOGGERS",
        "KAFKA_LOG4J_OPTS",
        "KAFKA_LOG4J_ROOT_LOGLEVEL",
        "KAFKA_OPTS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
        "KAFKA_VERSION",
    }
)

#: Variables of kbroker-admin and of tests.
OTHER_PREFIXES = ("KBROKER_BOOTSTRAP", "KBROKER_COMMAND_CONFIG", "KBROKER_TEST")

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANKS = " \t\f"


def parse_properties(text: str, source: str) -> dict[str, str]:
    """The settings of a Java properties file (comments, continuations, escapes); the last of a name wins.

    Args:
        source: the file's name, for error texts.

    Raises:
        ConfigError: a `\\u` that four hexadecimal digits do not follow.
    """
    found: dict[str, str] = {}
    for number, line in _logical_lines(text):
        key, value = _split(line)
        try:
            found[_unescape(key)] = _unescape(value)
        except ValueError:
            raise ConfigError(
                f"{source}, line {number}: \\u must be followed by four hexadecimal digits"
            ) from None
    return found


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines without blanks in front, comments and empty ones, continuations joined; with their numbers."""
    lines: list[tuple[int, str]] = []
    pending: str | None = None
    start = 0
    for number, raw in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = raw.lstrip(_BLANKS)
        if pending is None:
            if not line or line[0] in "#!":
                continue
            start = number
        joined = (pending or "") + line
        backslashes = len(joined) - len(joined.rstrip("\\"))
        if backslashes % 2:
            pending = joined[:-1]
            continue
        pending = None
        lines.append((start, joined))
    if pending is not None:
        lines.append((start, pending))
    return lines


def _split(line: str) -> tuple[str, str]:
    """Key and value: apart at the first blank, `=` or `:` that no backslash stands before."""
    end = 0
    while end < len(line) and line[end] not in "=: \t\f":
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return line[:end], rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char == "\\" and position < len(text):
            char = text[position]
            position += 1
            if char == "u":
                digits = text[position : position + 4]
                if len(digits) != 4:
                    raise ValueError(digits)
                char = chr(int(digits, 16))
                position += 4
            else:
                char = _ESCAPES.get(char, char)
        parts.append(char)
    return "".join(parts)


def parse_toml(text: str, source: str) -> dict[str, str]:
    """The settings of a TOML file: dotted keys or tables for the dots of a name, arrays for lists.

    Raises:
        ConfigError: no TOML, or a value that no setting can have (a date, a table in an array).
    """
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: {error}") from None
    found: dict[str, str] = {}
    _flatten(document, "", source, found)
    return found


def _flatten(table: Mapping[str, Any], prefix: str, source: str, found: dict[str, str]) -> None:
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            _flatten(value, f"{name}.", source, found)
        elif isinstance(value, list):
            found[name] = ",".join(_scalar(name, item, source) for item in value)
        else:
            found[name] = _scalar(name, value, source)


def _scalar(name: str, value: Any, source: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise ConfigError(f"{source}: {name} cannot be a {type(value).__name__}")


def environment_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Settings from `KAFKA_…` and `KBROKER_…` variables, named as the container images of Kafka name them.

    `KAFKA_LOG_RETENTION_MS` is log.retention.ms: `_` is a dot, `__` an underscore, `___` a hyphen.
    `KBROKER_EVENT_LOOP` is kbroker.event.loop. `CLUSTER_ID` is kbroker.cluster.id.
    """
    found: dict[str, str] = {}
    for variable in sorted(environment):
        if variable.startswith("KAFKA_") and variable not in NOT_SETTINGS:
            found[_setting_name(variable[len("KAFKA_") :])] = environment[variable]
        elif variable.startswith("KBROKER_") and not variable.startswith(OTHER_PREFIXES):
            found[f"kbroker.{_setting_name(variable[len('KBROKER_') :])}"] = environment[variable]
        elif variable == "CLUSTER_ID":
            found["kbroker.cluster.id"] = environment[variable]
    return found


def _setting_name(text: str) -> str:
    return text.lower().replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")


def parse_assignment(text: str) -> tuple[str, str]:
    """`name=value` of the command line.

    Raises:
        ConfigError: there is no `=`, or no name before it.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"--set needs name=value, not {text!r}")
    return name.strip(), value.strip()
