"""Re-derives each promise from its definition; shares no code and no SQL with the algorithms.

The verifier of a model is in a file of its own, which is imported where it is used: a run needs one or two of them.
"""

from anondb.verify.result import Verification, Witness

__all__ = ["Verification", "Witness"]
