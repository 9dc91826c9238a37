-- reads: supports(set_id, support)
-- params: none
-- returns: set_id, support
-- grain: set_id
-- Supports as columns, in the order of the sets; sets that no transaction holds are missing.
SELECT set_id, support FROM supports ORDER BY set_id
