"""A value that comes later: how a parked request gets its answer without a coroutine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Deferred(Generic[T]):
    """Resolved exactly once with a value or an exception; one listener, called at once or on resolution.

    All on the event loop's thread. Purgatories, the controller and the coordinators hand these out; the
    connection listens.
    """

    __slots__ = ("_error", "_listener", "_value", "done", "on_cancel")

    def __init__(self) -> None:
        self.done = False
        self._value: T | None = None
        self._error: BaseException | None = None
        self._listener: Callable[[Deferred[T]], None] | None = None
        #: Set by who will resolve it and wants to know that nobody waits any more (the connection closed).
        self.on_cancel: Callable[[], object] | None = None

    def resolve(self, value: T) -> None:
        """Give the value. A second call is ignored, so that a time-out may race with completion."""
        if not self.done:
            self._value = value
            self._finish()

    def fail(self, error: BaseException) -> None:
        """Give an error that `result` raises. A second call is ignored."""
        if not self.done:
            self._error = error
            self._finish()

    @property
    def succeeded(self) -> bool:
        """Whether there is a value."""
        return self.done and self._error is None

    def result(self) -> T:
        """The value; raises the error given to `fail`. Only after `done`."""
        assert self.done, "not resolved yet"
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def then(self, listener: Callable[[Deferred[T]], None]) -> None:
        """Call `listener(self)` when done; at once if it is already."""
        assert self._listener is None, "a Deferred has one listener"
        if self.done:
            listener(self)
        else:
            self._listener = listener

    def map(self, change: Callable[[T], U]) -> Deferred[U]:
        """What `change` will make of the value. An error goes through; so does one of `change`."""
        changed: Deferred[U] = Deferred()
        changed.on_cancel = self.cancel

        def finish(done: Deferred[T]) -> None:
            try:
                changed.resolve(change(done.result()))
            except Exception as error:
                changed.fail(error)

        self.then(finish)
        return changed

    def lead_to(self, go_on: Callable[[T], U | Deferred[U]]) -> Deferred[U]:
        """What `go_on` will make of the value, at once or later.

        Who cancels that does not cancel this one, but `go_on` is not called any more.
        """
        led: Deferred[U] = Deferred()

        def proceed(done: Deferred[T]) -> None:
            if led.done:
                return
            try:
                led.become(go_on(done.result()))
            except Exception as error:
                led.fail(error)

        self.then(proceed)
        return led

    def follow(self, other: Deferred[T]) -> None:
        """Become what `other`, which is done, has become."""
        try:
            self.resolve(other.result())
        except Exception as error:
            self.fail(error)

    def become(self, found: T | Deferred[T]) -> None:
        """Take a value, or what another one will become, which is cancelled with this one."""
        if isinstance(found, Deferred):
            self.on_cancel = found.cancel
            found.then(self.follow)
        else:
            self.resolve(found)

    def cancel(self) -> None:
        """Nobody wants the value any more: the listener is dropped, the resolver told."""
        if not self.done:
            self.done = True
            self._listener = None
            hook, self.on_cancel = self.on_cancel, None
            if hook is not None:
                hook()

    def _finish(self) -> None:
        self.done = True
        self.on_cancel = None
        listener, self._listener = self._listener, None
        if listener is not None:
            listener(self)
