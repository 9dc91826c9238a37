-- reads: none
-- params: none
-- returns: memory_limit
-- grain: one row
-- The memory limit of this connection's database, for the process that writes a sealed file.
SELECT current_setting('memory_limit') AS memory_limit
