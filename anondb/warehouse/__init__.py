"""k^m-anonymity where the data lie: the portable statements of ``sql/warehouse`` on DuckDB, PostgreSQL and Spark."""
