"""The analyst's session on releases: SQL, written for the original tables, with bounds beside each number."""

from anondb.session.one_count import Count, one_count
from anondb.session.result import Result
from anondb.session.session import Session, open_session, session_on

__all__ = ["Count", "Result", "Session", "one_count", "open_session", "session_on"]
