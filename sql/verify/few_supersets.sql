-- reads: anchors(id, part), sets(id, copies), supersets(id, superset)
-- params: k, part
-- returns: id, support
-- grain: id
-- The distinct transactions of a part that are contained in fewer than k transactions, equal ones included.
WITH larger AS (
    SELECT supersets.id, CAST(sum(sets.copies) AS BIGINT) AS support
    FROM supersets JOIN sets ON sets.id = supersets.superset
    GROUP BY supersets.id
)
SELECT anchors.id, sets.copies + coalesce(larger.support, 0) AS support
FROM anchors
JOIN sets ON sets.id = anchors.id
LEFT JOIN larger ON larger.id = anchors.id
WHERE anchors.part = getvariable('part') AND sets.copies + coalesce(larger.support, 0) < getvariable('k')
