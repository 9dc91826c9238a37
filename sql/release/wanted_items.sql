-- reads: none
-- params: items
-- returns: item
-- grain: item
-- The queried items, each once.
SELECT DISTINCT decode(encode(listed.label)) AS item
FROM (SELECT unnest(CAST(getvariable('items') AS TEXT[])) AS label) AS listed
