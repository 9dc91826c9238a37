"""Re-derives each promise from its definition; shares no code and no SQL with the algorithms."""

from anondb.verify.classes import verify_k
from anondb.verify.hkp import verify_hkp
from anondb.verify.km import verify_km
from anondb.verify.levels import verify_levels
from anondb.verify.relational import verify_kkm
from anondb.verify.result import Verification, Witness

__all__ = ["Verification", "Witness", "verify_hkp", "verify_k", "verify_kkm", "verify_km", "verify_levels"]
