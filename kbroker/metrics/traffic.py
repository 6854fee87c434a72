"""Connections and bytes of each listener."""

from __future__ import annotations


class ListenerStats:
    """Of one listener; the sockets' code adds to it."""

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "closed",
        "expired",
        "login_failures",
        "logins",
        "opened",
        "refused",
        "relogin_failures",
        "relogins",
    )

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0
        #: Closed as nothing came for long, or as a login was not renewed; turned away for a limit.
        self.expired = 0
        self.refused = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.logins = 0
        self.login_failures = 0
        self.relogins = 0
        self.relogin_failures = 0


#: Of connections that belong to no listener.
NO_LISTENER = ListenerStats()
