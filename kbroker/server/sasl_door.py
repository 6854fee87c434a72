"""What all connections of one SASL listener share: mechanisms, limits, counts, room for who is not in yet.

Law of this file: whoever has not logged in has its place here, and gives it back when it is in or gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from kbroker.security.sasl import SaslServer
from kbroker.server.newcomers import EarlyBytes, Newcomers

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.server.connection import ConnectionCore
    from kbroker.server.turns import Slices

#: A connection that has not logged in by then makes room for others.
LOGIN_MS_MAX = 60_000


class Door:
    """See the top of the file.

    Args:
        mechanisms: that clients may choose.
        make: starts an exchange of one of them.
        session_ms: by mechanism, after which time a client has to log in again; 0: never.
        run: by mechanism, runs slow steps in threads.
        login_bytes_max: the largest request before the login.
        failure_delay_ms: how long the answer to a failed login is held back.
        early: counts what those send who have not logged in.
        tell: told of logins: the connection, who it is or wanted to be, the mechanism, whether it is in, and
            why not.
        slices: of the loop's turns, for all that log in.
    """

    def __init__(
        self,
        mechanisms: Collection[str],
        make: Callable[[str], SaslServer],
        session_ms: Callable[[str], int],
        run: Callable[[str], RunBlocking],
        timer: Timer,
        clock: Clock,
        *,
        login_bytes_max: int,
        failure_delay_ms: int,
        early: EarlyBytes | None = None,
        tell: Callable[[ConnectionCore, str, str, bool, str], None] | None = None,
        slices: Slices,
    ) -> None:
        self.slices = slices
        self.mechanisms = mechanisms
        self.make = make
        self.session_ms = session_ms
        self.run = run
        self.timer = timer
        self.clock = clock
        self.login_bytes_max = login_bytes_max
        self.failure_delay_ms = failure_delay_ms
        self.early = early or EarlyBytes()
        self.tell = tell
        self.newcomers = Newcomers()
        self.logins = 0
        self.failures = 0
        self.expired = 0
