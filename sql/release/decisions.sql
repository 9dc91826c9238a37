-- reads: decisions(release, step, round, action, subject, support, cost)
-- params: release_id
-- returns: step, round, action, subject, support, cost
-- grain: round, step
-- The decisions that led to a release, in order.
SELECT step, round, action, subject, support, cost
FROM decisions
WHERE release = getvariable('release_id')
ORDER BY round ASC, step ASC
