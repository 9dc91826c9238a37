-- reads: source(id)
-- params: none
-- returns: ids
-- grain: one row
-- The number of ids with several different records.
SELECT count(*) AS ids
FROM (SELECT source.id FROM source GROUP BY source.id HAVING count(*) > 1) AS repeated
