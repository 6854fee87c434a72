"""`kbroker-admin tokens`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence

import click

from kbroker.cli.admin_base import AdminGroup, Session, confirm, pass_session
from kbroker.cli.output import time_text
from kbroker.client.errors import ClientError
from kbroker.client.tokens import Token, create_token, expire_token, list_tokens, renew_token

_HOUR_MS = 3_600_000
_HEADER = ("ID", "OWNER", "RENEWERS", "UNTIL", "RENEWABLE UNTIL")


@click.group(cls=AdminGroup)
def tokens() -> None:
    """Make, look at, renew and end delegation tokens (delegation.token.secret.key).

    A token logs its owner in: SCRAM with the id as user, the HMAC as password and tokenauth=true.
    """


@tokens.command("list")
@click.option("--owner", "owners", multiple=True, metavar="USER", help="Only of this one; may be repeated.")
@pass_session
def list_(session: Session, owners: tuple[str, ...]) -> None:
    """List tokens that you may see. HMACs, which log in, are shown by none."""
    found = list_tokens(session.cluster, owners)
    session.show([_data(each) for each in found], _HEADER, [_row(each) for each in found])


@tokens.command()
@click.option("--owner", metavar="USER", help="Whom it logs in.  [default: you]")
@click.option("--renewer", "renewers", multiple=True, metavar="USER", help="May renew it, too.")
@click.option("--hours", type=click.FloatRange(min=0, min_open=True), help="  [default: as long as may be]")
@pass_session
def create(session: Session, owner: str | None, renewers: tuple[str, ...], hours: float | None) -> None:
    """Make a token. Its HMAC is shown this once."""
    lifetime_ms = -1 if hours is None else max(int(hours * _HOUR_MS), 1)
    made = create_token(session.cluster, [_principal(each) for each in renewers], lifetime_ms, owner)
    hmac = b64encode(made.hmac).decode()
    row = (made.id, hmac, made.owner, time_text(made.expiry_ms))
    session.show({**_data(made), "hmac": hmac}, ("ID", "HMAC", "OWNER", "UNTIL"), [row])


@tokens.command()
@click.argument("token", metavar="ID")
@click.option("--hours", type=click.FloatRange(min=0, min_open=True), help="  [default: the cluster's]")
@pass_session
def renew(session: Session, token: str, hours: float | None) -> None:
    """Let a token log in for longer."""
    period_ms = -1 if hours is None else max(int(hours * _HOUR_MS), 1)
    until = renew_token(session.cluster, _hmac(session, token), period_ms)
    session.say(f"{token} logs in until {time_text(until)}", {"id": token, "expiry_ms": until})


@tokens.command()
@click.argument("token", metavar="ID")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@pass_session
def expire(session: Session, token: str, yes: bool) -> None:
    """End a token now. Connections that it has stay until they end or log in again."""
    confirm(f"end token {token}?", yes)
    until = expire_token(session.cluster, _hmac(session, token))
    session.say(f"{token} logs nobody in any more", {"id": token, "expiry_ms": until})


def _hmac(session: Session, token: str) -> bytes:
    """By the token's id; an HMAC itself does, too."""
    for each in list_tokens(session.cluster):
        if each.id == token:
            return each.hmac
    try:
        return b64decode(token, validate=True)
    except ValueError:
        raise ClientError(f"there is no token {token} that you may see") from None


def _principal(name: str) -> str:
    return name if ":" in name else f"User:{name}"


def _row(token: Token) -> Sequence[object]:
    renewers = ",".join(token.renewers) or "-"
    return (token.id, token.owner, renewers, time_text(token.expiry_ms), time_text(token.max_ms))


def _data(token: Token) -> dict[str, object]:
    found = token._asdict()
    del found["hmac"]
    return {**found, "renewers": list(token.renewers)}
