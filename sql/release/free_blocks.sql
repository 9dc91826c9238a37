-- reads: none
-- params: none
-- returns: free_blocks
-- grain: one row
-- The number of free blocks of the current database.
SELECT free_blocks FROM pragma_database_size() WHERE database_name = current_database()
