-- reads: persons(person), known(person, item), items(item, label), buckets(bucket_id, column_id, items, copies)
-- params: none
-- returns: person, candidates
-- grain: person
-- The number of transactions of an anatomy that may be a person's: in each bucket the minimum over its columns of the number of
-- values that hold all known items of the column, since any value of one column may belong to any value of another.
WITH members AS (
    SELECT bucket_id, column_id, items, copies, unnest(items) AS label FROM buckets
),
places AS (
    SELECT DISTINCT column_id, label FROM members
),
asked AS (
    SELECT known.person, places.column_id, items.label
    FROM known
    JOIN items ON known.item = items.item
    JOIN places ON items.label = places.label
),
sizes AS (
    SELECT person, column_id, count(*) AS size FROM asked GROUP BY person, column_id
),
widths AS (
    SELECT person, count(*) AS width FROM sizes GROUP BY person
),
found AS (
    SELECT asked.person, asked.column_id, members.bucket_id, members.items, members.copies, count(*) AS held
    FROM asked JOIN members ON asked.label = members.label AND asked.column_id = members.column_id
    GROUP BY asked.person, asked.column_id, members.bucket_id, members.items, members.copies
),
fitting AS (
    SELECT found.person, found.bucket_id, found.column_id, sum(found.copies) AS fitting
    FROM found
    JOIN sizes ON found.person = sizes.person AND found.column_id = sizes.column_id AND found.held = sizes.size
    GROUP BY found.person, found.bucket_id, found.column_id
),
by_bucket AS (
    SELECT fitting.person, fitting.bucket_id, min(fitting.fitting) AS candidates
    FROM fitting JOIN widths ON fitting.person = widths.person
    GROUP BY fitting.person, fitting.bucket_id, widths.width
    HAVING count(*) = widths.width
)
SELECT persons.person, CAST(coalesce(sum(by_bucket.candidates), 0) AS BIGINT) AS candidates
FROM persons LEFT JOIN by_bucket ON persons.person = by_bucket.person
GROUP BY persons.person
ORDER BY persons.person ASC
