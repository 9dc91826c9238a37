"""Answer COUNT queries, written for the original table, from a release: lower bound and upper bound."""

from anondb.query.parsing import parse
from anondb.query.plan import Plan

__all__ = ["Plan", "parse"]
