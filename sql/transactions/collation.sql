-- reads: none
-- params: none
-- returns: collation
-- grain: one row
-- The default collation: anything but binary would merge items that are distinct.
SELECT coalesce(current_setting('default_collation'), '') AS collation
