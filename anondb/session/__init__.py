"""The analyst's session on sealed files: SQL, written for the original tables, with bounds beside each number."""

from anondb.session.result import Result
from anondb.session.session import Session, open_session, session_on

__all__ = ["Result", "Session", "open_session", "session_on"]
