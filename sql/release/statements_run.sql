-- reads: statements(release_id, step, statement)
-- params: release_id
-- returns: step, statement
-- grain: step
-- The statements that made a release, in order.
SELECT step, statement FROM statements WHERE release_id = getvariable('release_id') ORDER BY step ASC
