"""The password of the server, by SCRAM-SHA-256 (RFC 7677), which scramp computes."""

import os
from collections.abc import Callable
from pathlib import Path

from scramp import ScramException, ScramMechanism

from anondb.errors import InputError

MECHANISM = "SCRAM-SHA-256"
Verifier = tuple[bytes, bytes, bytes, int]
"""Salt, stored key, server key and iterations: they check a password, and do not tell it."""
_LEAST = 12  # characters of a password


def read_password(path: Path) -> str:
    """The first line of a file that nobody but its owner can read. Raises InputError: ``bad_password``."""
    try:
        mode, text = path.stat().st_mode, path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError("The password file cannot be read.", code="bad_password") from None
    if os.name == "posix" and mode & 0o077:
        raise InputError("Others can read the password file.", code="bad_password", hint="chmod 600 it.")
    password = text.split("\n", 1)[0].rstrip("\r")
    if len(password) < _LEAST:
        raise InputError(f"The password has fewer than {_LEAST} characters.", code="bad_password")
    return password


def verifier_of(password: str) -> Verifier:
    """What checks a password. Raises InputError: ``bad_password``: it has characters that SCRAM does not allow."""
    try:
        salt, stored, server, rounds = ScramMechanism(MECHANISM).make_auth_info(password)
    except ScramException:
        raise InputError("The password has characters that SCRAM does not allow.", code="bad_password") from None
    return salt, stored, server, rounds


def proved(verifier: Verifier, first: bytes, ask: Callable[[bytes], bytes]) -> bytes | None:
    """The server's last word to a client that knows the password; None if it does not. ``first`` is the client's first
    message; ``ask`` sends the server's first one, and returns the client's last."""
    server = ScramMechanism(MECHANISM).make_server(lambda _: verifier)
    try:
        said = first.decode()
        server.set_client_first(said.replace(",n=,", ",n=any,", 1))
        # Clients of PostgreSQL leave the name of SCRAM empty, which scramp refuses; what both sign is what was sent.
        server.client_first_bare = said.split(",", 2)[2]
        server.set_client_final(ask(server.get_server_first().encode()).decode())
        return bytes(server.get_server_final().encode())
    except (ScramException, ValueError, IndexError):
        return None
