-- reads: ids(tid)
-- params: chunk_size
-- returns: chunk, last_tid
-- grain: chunk
-- The chunks of tids with a tid to be numbered, and the last of these in each. Chunk 0 begins with the tid 0.
SELECT CAST(floor(tid / getvariable('chunk_size')) AS BIGINT) AS chunk, max(tid) AS last_tid
FROM ids
WHERE tid IS NOT NULL
GROUP BY chunk
ORDER BY chunk
