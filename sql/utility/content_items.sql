-- reads: contents(content_id, content)
-- params: none
-- returns: content_id, item, copies
-- grain: content_id, item
-- The distinct published transactions in long form.
SELECT content_id, CAST(part >> 32 AS INTEGER) AS item, CAST(part & 4294967295 AS INTEGER) AS copies
FROM (SELECT content_id, unnest(content) AS part FROM contents) AS parts
ORDER BY 2 ASC, 1 ASC
