"""The settings in force on one broker: defaults, server.properties, then the dynamic layers of KIP-226."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from enum import IntEnum
from typing import TypeAlias

from kbroker.config.definition import Definition, Scope
from kbroker.config.definitions import (
    LISTENER_ONLY_PREFIXES,
    base_name,
    broker_definition,
    broker_definitions,
    broker_synonyms,
)
from kbroker.config.release_defaults import release_defaults
from kbroker.config.values import InvalidValue, Value
from kbroker.errors import ConfigError

#: What a setting begins with that may differ from listener to listener.
_FOR_LISTENERS = (
    *LISTENER_ONLY_PREFIXES,
    "connections.max.reauth.ms",
    "max.connections",
    "max.connection.creation.rate",
)
#: Called with the names whose values changed, after they have.
Listener: TypeAlias = Callable[[frozenset[str]], None]


#: Called with settings as they would be and the names that change; raises ConfigError if they do not do.
Trial: TypeAlias = "Callable[[BrokerConfig, frozenset[str]], None]"


class ConfigSource(IntEnum):
    """Where a value comes from, as DescribeConfigs numbers it."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class BrokerConfig:
    """Effective values by name, and the layers they come from.

    Args:
        static: names and texts as configured, checked here.

    Raises:
        ConfigError: a value that its setting refuses, or two settings that contradict each other.
    """

    def __init__(self, static: Mapping[str, str]) -> None:
        self.static: dict[str, str] = _with_both_ids(static)
        self.dynamic_default: dict[str, str] = {}
        self.dynamic_broker: dict[str, str] = {}
        self._older_defaults: Mapping[str, str] = {}
        self._values: dict[str, Value] = {}
        self._listeners: list[tuple[frozenset[str] | None, Listener]] = []
        self._trials: list[Trial] = []
        for name, text in self.static.items():
            definition = broker_definition(name)
            if definition is not None:
                try:
                    definition.parse(text)
                except InvalidValue as error:
                    raise ConfigError(str(error)) from None
        self._older_defaults = release_defaults(self.get_str("kbroker.compatibility"))
        self._values.clear()
        self._check_together()

    # -- values ----------------------------------------------------------------------------------------

    def get(self, name: str) -> Value:
        """The value in force.

        Raises:
            KeyError: no such setting (a mistake of ours).
        """
        try:
            return self._values[name]
        except KeyError:
            pass
        value = self._values[name] = self._effective(name)
        return value

    def get_int(self, name: str) -> int:
        """A whole number that is always there."""
        value = self.get(name)
        assert isinstance(value, int), name
        return value

    def static_int(self, name: str) -> int:
        """As `get_int`, without what was changed while the broker runs."""
        value = self._without_dynamic(name)
        assert isinstance(value, int), name
        return value

    def get_float(self, name: str) -> float:
        """A number that is always there."""
        value = self.get(name)
        assert isinstance(value, float | int), name
        return float(value)

    def get_bool(self, name: str) -> bool:
        """A switch."""
        value = self.get(name)
        assert isinstance(value, bool), name
        return value

    def get_str(self, name: str) -> str:
        """A text; empty if unset."""
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def get_list(self, name: str) -> tuple[str, ...]:
        """A list; empty if unset."""
        value = self.get(name)
        return value if isinstance(value, tuple) else ()

    @property
    def node_id(self) -> int:
        """node.id, or broker.id where only that is set."""
        value = self.get("node.id")
        return value if isinstance(value, int) else self.get_int("broker.id")

    def identify(self, node_id: int) -> None:
        """A node of a cluster in ZooKeeper that was set none has found, or was given, its id."""
        for name in ("broker.id", "node.id"):
            self.static[name] = str(node_id)
            self._values.pop(name, None)

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """The data folders: log.dirs, else log.dir."""
        return self.get_list("log.dirs") or self.get_list("log.dir")

    def source_of(self, name: str) -> str:
        """Where the value in force comes from: `broker`, `cluster`, `static` or `default`."""
        for layer, source in (
            (self.dynamic_broker, "broker"),
            (self.dynamic_default, "cluster"),
            (self.static, "static"),
        ):
            if name in layer:
                return source
        return "default"

    def _effective(self, name: str) -> Value:
        definition = broker_definition(name)
        if definition is None:
            raise KeyError(name)
        for layer in (self.dynamic_broker, self.dynamic_default, self.static):
            for synonym in (name, base_name(name)):
                text = layer.get(synonym)
                if text is not None:
                    return definition.parse(text)
        return self._default(definition)

    def _default(self, definition: Definition) -> Value:
        older = self._older_defaults.get(definition.name)
        return definition.default if older is None else definition.parse(older)

    def _may_be_given_an_id(self) -> bool:
        """In ZooKeeper (server/zk_settings.py says whether it is)."""
        return bool(self.static.get("zookeeper.connect")) and not self.get_list("process.roles")

    def _check_together(self) -> None:
        node, broker = self.get("node.id"), self.get_int("broker.id")
        if broker != -1 and node is not None and node != broker:
            raise ConfigError(f"node.id is {node} and broker.id is {broker}: they must be the same")
        if node is None and broker == -1 and not self._may_be_given_an_id():
            raise ConfigError("node.id must be set")
        for name in ("log.retention.ms", "log.retention.minutes", "log.retention.hours"):
            if self.get(name) == 0:
                raise ConfigError(f"{name} must be unlimited (-1) or, greater than or equal to 1")
        if self.get_int("replica.fetch.wait.max.ms") > self.get_int("replica.lag.time.max.ms"):
            raise ConfigError(
                "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms"
            )
        check_cordoned(self.get_list("cordoned.log.dirs"), self.log_dirs)
        for kind in ("consumer", "share", "streams"):
            for what in ("heartbeat.interval.ms", "session.timeout.ms"):
                self._check_between(f"group.{kind}", what)

    def _check_between(self, prefix: str, what: str) -> None:
        low, high = self.get_int(f"{prefix}.min.{what}"), self.get_int(f"{prefix}.max.{what}")
        value = self.get_int(f"{prefix}.{what}")
        if not low <= high:
            raise ConfigError(f"{prefix}.max.{what} must be greater than or equal to {prefix}.min.{what}")
        if not low <= value <= high:
            raise ConfigError(f"{prefix}.{what} must be between {prefix}.min.{what} and {prefix}.max.{what}")

    # -- dynamic layers --------------------------------------------------------------------------------

    def subscribe(self, listener: Listener, names: Iterable[str] | None = None) -> None:
        """Tell `listener` when any of `names` changes its value; of every change if `names` is None."""
        self._listeners.append((None if names is None else frozenset(names), listener))

    def update_dynamic(self, cluster: Mapping[str, str], broker: Mapping[str, str]) -> list[str]:
        """Replace the dynamic layers (as the metadata image has them) and tell the listeners.

        Returns:
            One sentence for every value that is refused: it was written under other limits, and the layer
            below stays in force.
        """
        problems: list[str] = []
        before = {
            name: self.get(name) for name in {**self.dynamic_default, **self.dynamic_broker} if _known(name)
        }
        self.dynamic_default = _usable(cluster, problems)
        self.dynamic_broker = _usable(broker, problems)
        self._values.clear()
        changed = set()
        for name in {**before, **self.dynamic_default, **self.dynamic_broker}:
            if _known(name):
                old = before[name] if name in before else self._without_dynamic(name)
                if self.get(name) != old:
                    changed.add(name)
        if changed:
            names = frozenset(changed)
            for wanted, listener in self._listeners:
                if wanted is None or wanted & names:
                    listener(names)
        return problems

    def on_trial(self, trial: Trial) -> None:
        """Ask `trial` before settings of this broker change."""
        self._trials.append(trial)

    def try_broker(self, layer: Mapping[str, str]) -> None:
        """Whether this broker can do with `layer` in place of its own dynamic settings.

        Raises:
            ConfigError: somebody who was asked `on_trial` cannot.
        """
        if not self._trials:
            return
        tried = copy(self)
        tried._values, tried._listeners, tried._trials = {}, [], []
        tried.dynamic_broker = _usable(layer, [])
        names = {*self.dynamic_broker, *tried.dynamic_broker}
        changed = frozenset(name for name in names if _known(name) and tried.get(name) != self.get(name))
        for trial in self._trials if changed else ():
            trial(tried, changed)

    def _without_dynamic(self, name: str) -> Value:
        definition = broker_definition(name)
        assert definition is not None
        text = self.static.get(name, self.static.get(base_name(name)))
        return self._default(definition) if text is None else definition.parse(text)

    # -- for people ------------------------------------------------------------------------------------

    def not_obeyed(self, names: Iterable[str]) -> list[str]:
        """Those of `names` that are set to another value than the default, which kbroker does not act on."""
        found = []
        for name in names:
            definition = broker_definition(name)
            if definition is None or name not in self.static:
                continue
            # For a single listener only security and limits of connections are obeyed.
            if definition.obeyed and (base_name(name) == name or base_name(name).startswith(_FOR_LISTENERS)):
                continue
            if definition.parse(self.static[name]) != definition.default:
                found.append(name)
        return found

    def synonyms(self, name: str, *, sensitive: bool = False) -> list[tuple[str, str | None, ConfigSource]]:
        """Every layer's value of `name` and the names that stand in for it, as DescribeConfigs lists them."""
        names = broker_synonyms(name)
        found: list[tuple[str, str | None, ConfigSource]] = []
        for layer, source in (
            (self.dynamic_broker, ConfigSource.DYNAMIC_BROKER),
            (self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER),
            (self.static, ConfigSource.STATIC_BROKER),
        ):
            found += ((n, None if sensitive else layer[n], source) for n in names if n in layer)
        known = broker_definitions()
        for n in names:
            definition = known.get(n)
            if definition is not None and definition.default is not None and not definition.required:
                text = self._older_defaults.get(n, definition.default_text)
                found.append((n, None if sensitive else text, ConfigSource.DEFAULT))
        # Kafka names the others only after the setting itself.
        while found and found[0][0] != name:
            del found[0]
        return found


def check_cordoned(folders: Sequence[str], log_dirs: Sequence[str]) -> None:
    """Whether `cordoned.log.dirs` may be that.

    Raises:
        ConfigError: it names one twice, or what is no log directory.
    """
    if len(set(folders)) < len(folders):
        raise ConfigError("Configuration 'cordoned.log.dirs' values must not be duplicated.")
    if "*" in folders and len(folders) > 1:
        raise ConfigError(
            "requirement failed: When cordoned.log.dirs is set to *, it must not contain other values"
        )
    missing = [folder for folder in folders if folder != "*" and folder not in log_dirs]
    if missing:
        raise ConfigError(
            "requirement failed: All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
            f"Missing entries : {', '.join(missing)}"
        )


def _with_both_ids(static: Mapping[str, str]) -> dict[str, str]:
    """The older broker.id and node.id stand in for each other."""
    values = dict(static)
    for one, other in (("broker.id", "node.id"), ("node.id", "broker.id")):
        # A broker.id of -1 is none.
        if static.get(one, "-1").strip() != "-1":
            values.setdefault(other, static[one])
    return values


def _known(name: str) -> bool:
    return broker_definition(name) is not None


def _usable(layer: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    usable: dict[str, str] = {}
    for name, text in layer.items():
        definition = broker_definition(name)
        if definition is not None:
            try:
                definition.parse(text)
            except InvalidValue as error:
                problems.append(str(error))
                continue
            if definition.scope is Scope.READ_ONLY:
                problems.append(f"{name} cannot change while the broker runs")
                continue
        usable[name] = text
    return usable
