"""Re-derives each promise from its definition; shares no code and no SQL with the algorithms."""

from anondb.verify.hkp import verify_hkp
from anondb.verify.km import verify_km
from anondb.verify.result import Verification, Witness

__all__ = ["Verification", "Witness", "verify_hkp", "verify_km"]
