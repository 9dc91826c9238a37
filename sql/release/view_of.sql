-- reads: views(name, release_id, query, options, source_table)
-- params: release_id
-- returns: name, query, options, source_table
-- grain: one row, or none
-- The anonymized view that a release belongs to.
SELECT name, query, options, source_table FROM views WHERE release_id = getvariable('release_id')
