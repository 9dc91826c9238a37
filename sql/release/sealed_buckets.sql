-- reads: buckets(bucket_id, column_id, items, copies), released_items(released_item, item), manifest(key, value)
-- params: none
-- returns: buckets_out_of_place, wrong_copies, repeated_members, nulls, items_of_several_columns, buckets_with_columns_of_other_sizes, transactions_not_in_the_manifest, other_semantics_than_sets, words_of_suppression_that_the_rows_deny
-- grain: one row
-- The numbers of inconsistent rows of an anatomy, by kind: all are 0 in a release that anondb wrote.
WITH members AS (
    SELECT DISTINCT label, column_id FROM (SELECT unnest(items) AS label, column_id FROM buckets) AS listed
),
columns AS (
    SELECT bucket_id, column_id, sum(copies) AS size FROM buckets GROUP BY bucket_id, column_id
),
sizes AS (
    SELECT bucket_id, count(*) AS number, min(size) AS smallest, max(size) AS largest FROM columns GROUP BY bucket_id
)
SELECT
    (
        SELECT count(*) FROM buckets
        WHERE
            bucket_id < 1 OR bucket_id > (SELECT count(DISTINCT bucket_id) FROM buckets)
            OR column_id < 1 OR column_id > (SELECT count(DISTINCT column_id) FROM buckets)
    ) AS buckets_out_of_place,
    (SELECT count(*) FROM buckets WHERE copies < 1) AS wrong_copies,
    (SELECT count(*) FROM (SELECT item FROM released_items GROUP BY item HAVING count(*) > 1) AS repeated)
    + (SELECT count(*) FROM released_items WHERE released_item <> item) AS repeated_members,
    (SELECT count(*) FROM buckets WHERE bucket_id IS NULL OR column_id IS NULL OR items IS NULL OR copies IS NULL)
    + (SELECT count(*) FROM members WHERE label IS NULL)
    + (SELECT count(*) FROM released_items WHERE released_item IS NULL OR item IS NULL)
    + (SELECT count(*) FROM manifest WHERE key IS NULL OR value IS NULL) AS nulls,
    (SELECT count(*) FROM (SELECT label FROM members GROUP BY label HAVING count(*) > 1) AS repeated) AS items_of_several_columns,
    (
        SELECT count(*) FROM sizes
        WHERE smallest < largest OR number <> (SELECT count(DISTINCT column_id) FROM columns)
    ) AS buckets_with_columns_of_other_sizes,
    (
        SELECT count(*) FROM manifest
        WHERE key = 'transactions' AND value <> CAST((SELECT coalesce(sum(largest), 0) FROM sizes) AS TEXT)
    ) AS transactions_not_in_the_manifest,
    (SELECT count(*) FROM manifest WHERE key = 'semantics' AND value <> 'set') AS other_semantics_than_sets,
    (SELECT count(*) FROM manifest WHERE key = 'suppression' AND value <> 'none') AS words_of_suppression_that_the_rows_deny
