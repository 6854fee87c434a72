"""SCRAM logins as cheap for the client as they can be: many at a time, the password salted once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import socket
import struct

from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from tools.bench import wire
from tools.frame_headers import parse_response_header, request_header_bytes

_VERSIONS = {ApiKey.SASL_HANDSHAKE: 1, ApiKey.SASL_AUTHENTICATE: 2}


class ScramCrowd:
    """Clients of one user.

    Args:
        mechanism: SCRAM-SHA-256.
    """

    def __init__(self, address: tuple[str, int], user: str, password: str, mechanism: str) -> None:
        self._address, self._user, self._password = address, user, password
        self._handshake = _frame(SaslHandshakeRequest(mechanism=mechanism))
        self._salted: dict[str, bytes] = {}

    def come(self, count: int) -> None:
        """So many log in together, and go."""
        sockets = [wire.connect(self._address) for _ in range(count)]
        nonces = [secrets.token_hex(12) for _ in sockets]
        for sock in sockets:
            sock.sendall(self._handshake)
        for sock, nonce in zip(sockets, nonces):
            _answer(sock, ApiKey.SASL_HANDSHAKE)
            sock.sendall(_token(f"n,,n={self._user},r={nonce}"))
        for sock, nonce in zip(sockets, nonces):
            challenge = _answer(sock, ApiKey.SASL_AUTHENTICATE).auth_bytes
            sock.sendall(_token(self._final(nonce, bytes(challenge).decode())))
        for sock in sockets:
            answer = _answer(sock, ApiKey.SASL_AUTHENTICATE)
            if answer.error_code:
                raise RuntimeError(f"login failed: {answer.error_message}")
            sock.close()

    def _final(self, nonce: str, challenge: str) -> str:
        fields = dict(part.split("=", 1) for part in challenge.split(","))
        salt = fields["s"] + "," + fields["i"]
        salted = self._salted.get(salt)
        if salted is None:
            salted = self._salted[salt] = hashlib.pbkdf2_hmac(
                "sha256", self._password.encode(), base64.b64decode(fields["s"]), int(fields["i"])
            )
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        without_proof = f"c=biws,r={fields['r']}"
        signed = f"n={self._user},r={nonce},{challenge},{without_proof}"
        signature = hmac.digest(hashlib.sha256(client_key).digest(), signed.encode(), "sha256")
        proof = bytes(a ^ b for a, b in zip(client_key, signature))
        return f"{without_proof},p={base64.b64encode(proof).decode()}"


def _token(text: str) -> bytes:
    return _frame(SaslAuthenticateRequest(auth_bytes=text.encode()))


def _frame(request: SaslHandshakeRequest | SaslAuthenticateRequest) -> bytes:
    key = ApiKey(request.API_KEY)
    version = _VERSIONS[key]
    payload = request_header_bytes(key, version, 1, "bench") + request.encode(version)
    return struct.pack(">i", len(payload)) + payload


def _answer(sock: socket.socket, key: ApiKey):  # type: ignore[no-untyped-def]
    body = wire.exactly(sock, struct.unpack(">i", wire.exactly(sock, 4))[0])
    _, start = parse_response_header(body, key, _VERSIONS[key])
    return response_class(key).decode(body, _VERSIONS[key], start)
