-- reads: middles(item_id, released_item, item, support, size, n, at_least, at_most, known)
-- params: none
-- returns: item_id, released_item, item, support, at_least, at_most, expected
-- grain: released_item, item
-- How many of the transactions that show a released item are expected to hold each member, in any recoding: the rule of
-- anondb/answers/expected.py. Several released items may stand for one item, so the 30 sweeps of the fit read all that
-- are not known. Persons hold each item independently, with the probability chance, and show a released item if they hold a
-- member. A sweep has two steps: the even ones take the logarithms of a released item's members together, and find the
-- holders of each; the odd ones take the holders of an item together, and find its chance.
WITH RECURSIVE sweeps AS (
    SELECT
        numbered.item_id, numbered.released_item, numbered.item, numbered.support, numbered.at_least, numbered.at_most,
        numbered.number, numbered.item_number, numbered.n, numbered.elsewhere, numbered.least_held,
        1 - numbered.least_held * numbered.size / nullif(numbered.support, 0) AS spread,
        numbered.chance, numbered.known AS found,
        CASE WHEN numbered.known IS NULL THEN 0 ELSE 60 END AS step
    FROM (
        SELECT
            middles.item_id, middles.released_item, middles.item, middles.support, middles.at_least,
            middles.at_most, middles.size, middles.n, middles.known,
            row_number() OVER (ORDER BY middles.released_item ASC, middles.item ASC) AS number,
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
        sweeps.item_id, sweeps.released_item, sweeps.item, sweeps.support, sweeps.at_least, sweeps.at_most, sweeps.number,
        sweeps.item_number, sweeps.n, sweeps.elsewhere, sweeps.least_held, sweeps.spread,
        CASE WHEN sweeps.step % 2 = 0 THEN sweeps.chance ELSE (sweeps.elsewhere + together.total) / sweeps.n END AS chance,
        CASE
            WHEN sweeps.step % 2 = 0 THEN least(
                sweeps.least_held
                + sweeps.support * least(sweeps.chance, CAST(1 AS DOUBLE)) / (1 - exp(together.total)) * sweeps.spread,
                sweeps.support
            )
            ELSE sweeps.found
        END AS found,
        sweeps.step + 1 AS step
    FROM sweeps
    JOIN (
        SELECT
            CASE WHEN halves.step % 2 = 0 THEN halves.item_id ELSE halves.item_number END AS one,
            sum(
                CASE
                    WHEN halves.step % 2 = 1 THEN halves.found
                    WHEN halves.chance < 1 THEN ln(1 - halves.chance)
                    ELSE CAST(-1000 AS DOUBLE)
                END ORDER BY halves.number ASC
            ) AS total
        FROM sweeps AS halves
        WHERE halves.step < 60
        GROUP BY 1
    ) AS together ON CASE WHEN sweeps.step % 2 = 0 THEN sweeps.item_id ELSE sweeps.item_number END = together.one
    WHERE sweeps.step < 60
)
SELECT
    sweeps.item_id, sweeps.released_item, sweeps.item, sweeps.support, sweeps.at_least, sweeps.at_most,
    sweeps.found AS expected
FROM sweeps
WHERE sweeps.step = 60
