-- reads: middles(item_id, released_item, item, support, size, n, at_least, at_most, known)
-- params: none
-- returns: item_id, released_item, item, support, at_least, at_most, expected
-- grain: released_item, item
-- How many of the transactions that show a released item are expected to hold each member: the rule of sql/release/expected_local.sql,
-- without aggregates, which PostgreSQL forbids in a recursion.
WITH RECURSIVE sweeps AS (
    SELECT
        numbered.item_id, numbered.released_item, numbered.item, numbered.support, numbered.at_least, numbered.at_most,
        numbered.item_number, numbered.n, numbered.elsewhere, numbered.least_held,
        1 - numbered.least_held * numbered.size / nullif(numbered.support, 0) AS spread,
        numbered.chance, numbered.known AS found,
        CASE WHEN numbered.known IS NULL THEN 0 ELSE 30 END AS sweep
    FROM (
        SELECT
            middles.item_id, middles.released_item, middles.item, middles.support, middles.at_least,
            middles.at_most, middles.size, middles.n, middles.known,
            dense_rank() OVER (ORDER BY middles.item ASC) AS item_number,
            CAST(CASE WHEN middles.support < middles.size THEN 0 ELSE 0.5 END AS DOUBLE) AS least_held,
            coalesce(sum(middles.known) OVER of_item, 0) AS elsewhere,
            sum(CAST(middles.support AS DOUBLE) / middles.size) OVER of_item / middles.n AS chance
        FROM middles
        WINDOW of_item AS (
            PARTITION BY middles.item ORDER BY middles.released_item ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )
    ) AS numbered
    UNION ALL
    SELECT
        held.item_id, held.released_item, held.item, held.support, held.at_least, held.at_most, held.item_number, held.n,
        held.elsewhere, held.least_held, held.spread,
        (held.elsewhere + sum(held.found) OVER (
            PARTITION BY held.item_number ORDER BY held.item_id ASC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )) / held.n AS chance,
        held.found, held.sweep + 1 AS sweep
    FROM (
        SELECT
            tried.item_id, tried.released_item, tried.item, tried.support, tried.at_least, tried.at_most, tried.item_number,
            tried.n, tried.elsewhere, tried.least_held, tried.spread, tried.sweep,
            least(
                tried.least_held + tried.support * tried.each_chance / (1 - exp(sum(tried.logarithm) OVER (
                    PARTITION BY tried.item_id ORDER BY tried.item_number ASC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                ))) * tried.spread, tried.support
            ) AS found
        FROM (
            SELECT
                sweeps.item_id, sweeps.released_item, sweeps.item, sweeps.support, sweeps.at_least, sweeps.at_most,
                sweeps.item_number, sweeps.n, sweeps.elsewhere, sweeps.least_held, sweeps.spread, sweeps.sweep,
                least(sweeps.chance, CAST(1 AS DOUBLE)) AS each_chance,
                CASE WHEN sweeps.chance < 1 THEN ln(1 - sweeps.chance) ELSE CAST(-1000 AS DOUBLE) END AS logarithm
            FROM sweeps
            WHERE sweeps.sweep < 30
        ) AS tried
    ) AS held
)
SELECT
    sweeps.item_id, sweeps.released_item, sweeps.item, sweeps.support, sweeps.at_least, sweeps.at_most,
    sweeps.found AS expected
FROM sweeps
WHERE sweeps.sweep = 30
