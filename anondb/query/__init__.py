"""Answer COUNT queries, written for the original table, from a release: lower bound, estimate, upper bound."""

from anondb.query.parsing import parse
from anondb.query.plan import Plan
from anondb.query.rewriter import rewrite

__all__ = ["Plan", "parse", "rewrite"]
