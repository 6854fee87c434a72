"""What can go wrong between a client and a cluster. An answer with an error code is an `ApiError`."""

from __future__ import annotations

import re

from kbroker.errors import ApiError, ErrorCode, default_message

#: Apache Kafka's refusals hold the whole request as its classes print it.
_DUMP = re.compile(r"Request Request\(.*\) (needs \w+ permission|is not authorized)\.?", re.DOTALL)


class ClientError(Exception):
    """The cluster could not be asked, or its answer makes no sense; the text tells a person what to do."""


class Unreachable(ClientError):
    """No connection, or it broke, or no answer in time."""


class NotConnected(Unreachable):
    """Nothing listens there, or it does not accept."""


class WantsSecurity(Unreachable):
    """It closes, or answers, as a broker does who waits for TLS or a login; the settings lack that."""


class NotTrusted(ClientError):
    """TLS or the login fails: the broker does not take us for what we say, or we do not trust it."""


class Unsupported(ClientError):
    """The broker is too old (or new) for what is asked."""


def error_code(number: int) -> ErrorCode:
    """The code of that number; one that this release does not know counts as UNKNOWN_SERVER_ERROR."""
    try:
        return ErrorCode(number)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def check(number: int, message: str | None = None, what: str = "") -> None:
    """Nothing for code 0.

    Args:
        message: the answer's own text, if it has one.
        what: which topic, group … failed, as in "topic t".

    Raises:
        ApiError: its text begins with `what`.
    """
    if number == 0:
        return
    code = error_code(number)
    if number != code:
        message = f"unknown error code {number}"
    text = message or default_message(code)
    dump = _DUMP.fullmatch(text)
    if dump is not None:
        text = f"{default_message(code).rstrip('.')}: it {dump[1]}"
    if what and code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and text == default_message(code):
        # Kafka's words for it are those of the broker that was asked.
        raise ApiError(code, f"{what} does not exist")
    raise ApiError(code, f"{what}: {text}" if what else text)


def failure(code: int, message: str | None = None, what: str = "") -> ApiError | None:
    """`check`, with the error as a value."""
    try:
        check(code, message, what)
    except ApiError as error:
        return error
    return None
