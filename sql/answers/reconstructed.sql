-- reads: reconstruction(transaction_id, items), texts(member, item)
-- params: world, tids_before, first, end
-- returns: world, tid, member
-- grain: world, tid, member
-- A reconstruction of an anatomy as a world. The members of its file have the numbers from ``first`` to before ``end``.
SELECT
    CAST(getvariable('world') AS SMALLINT) AS world,
    CAST(listed.transaction_id + getvariable('tids_before') AS INTEGER) AS tid,
    texts.member
FROM (
    SELECT reconstruction.transaction_id, unnest(reconstruction.items) AS item FROM reconstruction
) AS listed
JOIN texts ON listed.item = texts.item
WHERE texts.member >= getvariable('first') AND texts.member < getvariable('end')
