-- reads: images(query_id, released), keys(query_id, set_id)
-- params: none
-- returns: set_id, item
-- grain: set_id, item
-- The distinct sets of released items of the queries.
SELECT DISTINCT keys.set_id, images.released AS item
FROM images
JOIN keys ON images.query_id = keys.query_id
