"""Parse anondb's SQL statements on anonymized views, mixed with ordinary SQL."""
