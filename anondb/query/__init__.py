"""Answer COUNT queries, written for the original table, from a release: lower bound and upper bound."""

from anondb.query.predicates import Plan

__all__ = ["Plan"]
