-- reads: queries(query_id, item), items(item, label), members(released, label), contents(content_id, complete, weight), content_items(content_id, released, copies)
-- params: atomic
-- returns: query_id, lower_bound, estimate, upper_bound
-- grain: query_id
-- Bounds and estimate of each query on a local recoding, by the rules of the release's macro count_bounds. Queries without
-- items, and those whose items no transaction may hold, have no row. Logarithms and sums are added as decimals: exact, so
-- that no order of rows changes a digit.
WITH sizes AS (SELECT released, count(*) AS size FROM members GROUP BY released),
asked AS (SELECT query_id, count(*) AS n_items FROM queries GROUP BY query_id),
covers AS (
    SELECT queries.query_id, queries.item, members.released, sizes.size
    FROM queries
    JOIN items ON queries.item = items.item
    JOIN members ON items.label = members.label
    JOIN sizes ON members.released = sizes.released
),
nodes AS (
    SELECT query_id, released, any_value(size) AS size, count(*) AS queried
    FROM covers
    GROUP BY query_id, released
),
held AS (
    SELECT covers.query_id, content_items.content_id, covers.item, covers.released, covers.size, content_items.copies
    FROM content_items
    JOIN covers ON content_items.released = covers.released
),
by_item AS (
    SELECT
        query_id,
        content_id,
        item,
        min(size) AS smallest,
        sum(
            CASE
                WHEN copies >= size THEN CAST(-1000 AS DECIMAL(38, 18))
                ELSE CAST(ln(1.0 - CAST(copies AS DOUBLE) / size) AS DECIMAL(38, 18))
            END
        ) AS missing
    FROM held
    GROUP BY query_id, content_id, item
),
items_held AS (
    SELECT
        query_id,
        content_id,
        count(*) AS covered,
        count(*) FILTER (WHERE smallest = 1) AS certain,
        exp(CAST(sum(CAST(ln(1.0 - exp(CAST(missing AS DOUBLE))) AS DECIMAL(38, 18))) AS DOUBLE)) AS chance
    FROM by_item
    GROUP BY query_id, content_id
),
nodes_held AS (
    SELECT
        nodes.query_id,
        content_items.content_id,
        sum(content_items.copies) AS copies,
        exp(
            CAST(
                sum(
                    CASE
                        WHEN nodes.size = 1 THEN CAST(0 AS DECIMAL(38, 18))
                        ELSE CAST(-nodes.queried * ln(2.0) - ln(1.0 - pow(2.0, -nodes.size)) AS DECIMAL(38, 18))
                    END
                ) AS DOUBLE
            )
        ) AS chance
    FROM content_items
    JOIN nodes ON content_items.released = nodes.released
    GROUP BY nodes.query_id, content_items.content_id
),
judged AS (
    SELECT
        items_held.query_id,
        contents.weight,
        items_held.certain = asked.n_items AS must,
        items_held.covered = asked.n_items
        AND (NOT getvariable('atomic') OR nodes_held.copies >= asked.n_items) AS may,
        contents.complete,
        CASE WHEN getvariable('atomic') THEN items_held.chance ELSE nodes_held.chance END AS chance
    FROM items_held
    JOIN nodes_held ON items_held.query_id = nodes_held.query_id AND items_held.content_id = nodes_held.content_id
    JOIN asked ON items_held.query_id = asked.query_id
    JOIN contents ON items_held.content_id = contents.content_id
)
SELECT
    query_id,
    CAST(coalesce(sum(weight) FILTER (WHERE must), 0) AS BIGINT) AS lower_bound,
    CAST(coalesce(sum(CAST(weight * chance AS DECIMAL(38, 18))) FILTER (WHERE may), 0) AS DOUBLE) AS estimate,
    CAST(
        coalesce(sum(weight) FILTER (WHERE may AND complete), 0)
        + (SELECT coalesce(sum(weight), 0) FROM contents WHERE NOT complete) AS BIGINT
    ) AS upper_bound
FROM judged
GROUP BY query_id
