"""PostgreSQL: raw data come by ADBC, DuckDB does the work here, and releases are written back in one transaction."""
