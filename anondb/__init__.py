"""anondb: anonymized releases of person-level transactions, computed in DuckDB and queried in SQL."""

from typing import TYPE_CHECKING, Any

from anondb.errors import (
    AnondbError,
    BudgetExceeded,
    DamagedFile,
    EngineError,
    InfeasibleError,
    InputError,
    InternalError,
    VerificationFailed,
)

if TYPE_CHECKING:
    from anondb.api.connect import connect
    from anondb.api.database import Database
    from anondb.api.release import Release
    from anondb.models.anatomy import Anatomy
    from anondb.models.relational import KkmAnonymity, KlmDiversity
    from anondb.models.transactional import ConstraintAnonymity, HkpCoherence, KmAnonymity, TransactionalK
    from anondb.publications.sealed import inspect_file, proof_sql, verify_file
    from anondb.release.reader import open_release
    from anondb.session.opening import open_session as open
    from anondb.session.result import Result
    from anondb.session.session import Session

__version__ = "0.3.0"

__all__ = [
    "Anatomy",
    "AnondbError",
    "BudgetExceeded",
    "ConstraintAnonymity",
    "DamagedFile",
    "Database",
    "EngineError",
    "HkpCoherence",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "KkmAnonymity",
    "KlmDiversity",
    "KmAnonymity",
    "Release",
    "Result",
    "Session",
    "TransactionalK",
    "VerificationFailed",
    "__version__",
    "connect",
    "inspect_file",
    "open",
    "open_release",
    "proof_sql",
    "verify_file",
]

_LAZY = {
    "Database": "api.database",
    "Release": "api.release",
    "connect": "api.connect",
    **dict.fromkeys(("Anatomy", "HkpCoherence", "KkmAnonymity", "KlmDiversity"), "models.named"),
    **dict.fromkeys(("ConstraintAnonymity", "KmAnonymity", "TransactionalK"), "models.named"),
    "Result": "session.result",
    "Session": "session.session",
    "open": "session.opening",
    "open_release": "release.reader",
    **dict.fromkeys(("inspect_file", "proof_sql", "verify_file"), "publications.sealed"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: ``anondb --help`` does not need the engine."""
    if name in _LAZY:
        from importlib import import_module

        import_module("anondb.pages.text")  # notebooks show results as tables
        return getattr(import_module(f"anondb.{_LAZY[name]}"), "open_session" if name == "open" else name)
    raise AttributeError(f"module 'anondb' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return list(__all__)
