"""What can go wrong between a client and a cluster. An answer with an error code is an `ApiError`."""

from __future__ import annotations

import re

from kbroker.errors import ApiError, ErrorCode, default_message

#: Apache Kafka's refusals hold the whole request as its classes print it.
_DUMP = re.compile(r"Request Request\(.*\) (?:needs (\w+) permission|is not authorized)\.?", re.DOTALL)
#: Kinds of resources, as Kafka's tools name them, by the code of who may not.
_FORBIDDEN = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "TransactionalId",
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: "DelegationToken",
}


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


def check(number: int, message: str | None = None, what: str = "", *, needs: str = "", on: str = "") -> None:
    """Nothing for code 0.

    Args:
        message: the answer's own text, if it has one.
        what: which topic, group … failed, as in "topic t".
        needs: the operation that must be allowed for the request, by Kafka's name.
        on: which resource; the code tells its kind.

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
        text, needs = default_message(code), dump[1] or needs
    if needs and code in _FORBIDDEN:
        name = f' "{on}"' if on and code is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED else ""
        text = f"{text.rstrip('.')}: it needs {needs} permission on {_FORBIDDEN[code]}{name}"
    elif dump is not None:
        text = f"{text.rstrip('.')}: it is not authorized"
    if what and code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and text == default_message(code):
        # Kafka's words for it are those of the broker that was asked.
        raise ApiError(code, f"{what} does not exist")
    raise ApiError(code, f"{what}: {text}" if what else text)


def failure(
    code: int, message: str | None = None, what: str = "", *, needs: str = "", on: str = ""
) -> ApiError | None:
    """`check`, with the error as a value."""
    try:
        check(code, message, what, needs=needs, on=on)
    except ApiError as error:
        return error
    return None
