-- reads: none
-- params: none
-- returns: collation
-- grain: one row
-- The default collation; any but binary would merge distinct items.
SELECT coalesce(current_setting('default_collation'), '') AS collation
