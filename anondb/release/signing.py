"""Signatures of releases: a row of the manifest that says who published these rows, checked before anything else is read.

What is signed is a text of four lines (``statement``). Its content digest covers every row but that of the signature, and
the SQL of the views and macros; everything else in a release follows from these, and readers compare it (``catalog``,
``parquet``).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.engine.files import write_file
from anondb.errors import AnondbError, InputError
from anondb.models.named import model_of
from anondb.release.objects import SIGNATURE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

TRUSTED_BY_ALL = "ANONDB_TRUSTED"  # the environment variable with the key that every command and session trusts
_FORM = "anondb signed release 1"
_KEY = re.compile(r"ed25519:[0-9a-f]{64}")
_SIGNED = re.compile(rf"({_KEY.pattern}):([0-9a-f]{{128}})")
_MOST_BYTES = 100_000  # of a file with keys
Keys = frozenset[str]
ANYBODY: Keys = frozenset()


@dataclass(frozen=True)
class Signer:
    """Signs releases with a private key, which it never shows."""

    _key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Signer:
        """Read a private key. Raises InputError: ``no_such_file``; ``bad_key``: no private key of Ed25519, or others may
        read it; ``no_library``."""
        ed25519, serialization = _library()
        content, key = _read(path), None
        with contextlib.suppress(ValueError, TypeError):  # the words of the library may show a part of the key
            key = serialization.load_pem_private_key(content, None)
        if not isinstance(key, ed25519.Ed25519PrivateKey) or os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            words = f"{Path(path).name!r} is no private key of Ed25519 without a password that you alone may read."
            raise InputError(words, code="bad_key", hint="anondb keys new makes one; chmod 600 if it is one.")
        return cls(key)

    def sign(self, manifest: Mapping[str, str], digest: str) -> str:
        """The value of the manifest's key ``signature``."""
        return f"{_text(self._key.public_key())}:{self._key.sign(statement(manifest, digest)).hex()}"


def new_keys(name: str | os.PathLike[str]) -> tuple[Path, Path, str]:
    """Make ``NAME.key``, a private key for its owner alone, and ``NAME.pub``; return both, and the public key as text.
    Raises InputError: ``target_exists``; ``bad_path``: a file cannot be written; ``no_library``."""
    ed25519, serialization = _library()
    key = ed25519.Ed25519PrivateKey.generate()
    how = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    public = _text(key.public_key())
    paths = Path(f"{os.fspath(name)}.key"), Path(f"{os.fspath(name)}.pub")
    if any(map(os.path.lexists, paths)):
        raise InputError("There is a key of this name.", code="target_exists", hint="Choose another name.")
    for path, content, mode in zip(paths, (key.private_bytes(*how).decode(), f"{public}\n"), (0o600, 0o644), strict=True):
        try:
            write_file(path, content, mode=mode, replace=False)
        except (OSError, ValueError):
            raise InputError(f"The file {path.name!r} cannot be written.", code="bad_path") from None
    return *paths, public


def trusted_keys(trusted: str | os.PathLike[str] | Keys | None = None) -> Keys:
    """The public keys that a reader trusts, from a text, or from a file with a key in each line, by default that of
    ``ANONDB_TRUSTED``; ``ANYBODY`` if none was named, so that no signature is needed. Raises InputError: ``no_such_file``;
    ``bad_key``: there is no public key; ``no_library``: keys cannot be checked here."""
    if isinstance(trusted, frozenset):
        return trusted
    trusted = (os.environ.get(TRUSTED_BY_ALL) or None) if trusted is None else trusted
    if trusted is None:
        return ANYBODY
    text = os.fspath(trusted).strip() if isinstance(trusted, str | os.PathLike) else ""
    if text and not _KEY.fullmatch(text.lower()):
        lines = _read(text).decode("utf-8", "replace").splitlines()
        text = "\n".join(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    keys = frozenset(text.lower().split("\n"))
    if not all(map(_KEY.fullmatch, keys)):
        hint = "Name NAME.pub, which anondb keys new wrote, or write ed25519: and 64 hexadecimal digits."
        raise InputError("The trusted key is not a public key of anondb.", code="bad_key", hint=hint)
    _library()
    return keys


def statement(manifest: Mapping[str, str], digest: str) -> bytes:
    """What is signed: that a version of anondb verified a promise on the release of this content digest and manifest."""
    said = {key: value for key, value in manifest.items() if key != SIGNATURE}
    verified = f"verified by anondb {manifest.get('version')}: {model_of(manifest).promise}"
    return "\n".join((_FORM, verified, digest, json.dumps(said, sort_keys=True))).encode()


def signer_of(manifest: Mapping[str, str]) -> str | None:
    """The public key that a manifest names as that of its signature, unchecked; None without a signature of this form."""
    signed = _SIGNED.fullmatch(manifest.get(SIGNATURE, ""))
    return None if signed is None else signed[1]


def fault_of(manifest: Mapping[str, str], digest: str, trusted: Keys) -> str | None:
    """What is wrong with the signature of a release with this content; None if it is right, and by a key that is trusted if
    any is."""
    if SIGNATURE not in manifest:
        return "it is not signed" if trusted else None
    if (signed := _SIGNED.fullmatch(manifest[SIGNATURE])) is None:
        return "its signature is not of the form that anondb writes"
    if trusted and signed[1] not in trusted:
        return "another key signed it"
    ed25519, _ = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signed[1].partition(":")[2]))
        key.verify(bytes.fromhex(signed[2]), statement(manifest, digest))
    except (InvalidSignature, ValueError, AnondbError):
        return "its signature is not that of its content"
    return None


def _library() -> tuple[Any, Any]:
    """The modules of the package cryptography for keys and their files."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError(
            "Signatures need the package cryptography.", code="no_library", hint='Run pip install "anondb[sign]".'
        ) from None
    return ed25519, serialization


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES)
    except (OSError, ValueError):
        raise InputError("The file of the key cannot be read.", code="no_such_file", hint="Check the path.") from None


def _text(public: Any) -> str:
    """A public key as a text."""
    return f"ed25519:{public.public_bytes_raw().hex()}"
