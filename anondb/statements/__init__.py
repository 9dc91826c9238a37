"""anondb's own SQL statements: anonymized views, mixed with ordinary SQL; and why an item looks as it does."""
