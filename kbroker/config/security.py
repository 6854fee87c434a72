"""Security settings of one listener: with its prefix, that of a mechanism, or none (KIP-103, KIP-226)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.config.definitions import broker_definition
from kbroker.config.values import to_text

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig


class ListenerSettings:
    """What holds for one listener.

    Args:
        config: of the node.
        listener: its name.
    """

    def __init__(self, config: BrokerConfig, listener: str) -> None:
        self._config = config
        self._prefix = f"listener.name.{listener.lower()}."

    def name_of(self, name: str, mechanism: str = "") -> str:
        """The name that is most particular."""
        return self._prefix + (f"{mechanism.lower()}." if mechanism else "") + name

    def text(self, name: str, mechanism: str = "") -> str:
        """Its value as text; empty if there is none."""
        value = self._config.get(self._found(name, mechanism))
        definition = broker_definition(name)
        assert definition is not None, name
        return to_text(value) or ""

    def integer(self, name: str, mechanism: str = "") -> int:
        """Its value as a number."""
        return self._config.get_int(self._found(name, mechanism))

    def words(self, name: str) -> tuple[str, ...]:
        """Its value as a list."""
        return self._config.get_list(self._found(name))

    def is_own(self, name: str) -> bool:
        """Whether it is set for this listener itself."""
        return self._config.source_of(self._prefix + name) != "default"

    def _found(self, name: str, mechanism: str = "") -> str:
        own = self._prefix + name
        if mechanism:
            particular = self.name_of(name, mechanism)
            if self._config.source_of(particular) != "default" or not self.is_own(name):
                return particular
        return own
