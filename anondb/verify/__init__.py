"""Verifiers, which re-derive each promise from its definition and share no code or SQL with the algorithms.

Each model has its verifier in a separate file, imported where it is used, since a run needs only one or two of them.
"""

from anondb.verify.result import Verification, Witness

__all__ = ["Verification", "Witness"]
