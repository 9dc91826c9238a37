"""anondb: anonymized releases of person-level transactions, computed in DuckDB and queried in SQL."""

__version__ = "0.1.0"
