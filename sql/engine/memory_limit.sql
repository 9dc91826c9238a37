-- reads: none
-- params: none
-- returns: memory_limit
-- grain: one row
-- The memory limit of this connection's database, in DuckDB's words.
SELECT current_setting('memory_limit') AS memory_limit
