-- reads: none
-- params: none
-- returns: free_blocks
-- grain: one row
-- Blocks of the current database that hold nothing any more.
SELECT free_blocks FROM pragma_database_size() WHERE database_name = current_database()
