-- reads: transactions(tid, item), draws(draw, length, nth, place)
-- params: none
-- returns: draw, item
-- grain: draw, item
-- The items at the drawn places: a draw is the nth transaction of a length and a place in it, both from 0.
WITH lengths AS (
    SELECT tid, count(*) AS length FROM transactions GROUP BY tid
),
numbered AS (
    SELECT tid, length, row_number() OVER (PARTITION BY length ORDER BY tid) - 1 AS nth FROM lengths
),
chosen AS (
    SELECT numbered.tid, numbered.length, numbered.nth FROM numbered
    JOIN (SELECT DISTINCT length, nth FROM draws) AS wanted ON numbered.length = wanted.length AND numbered.nth = wanted.nth
),
placed AS (
    SELECT
        chosen.length,
        chosen.nth,
        transactions.item,
        row_number() OVER (PARTITION BY transactions.tid ORDER BY transactions.item) - 1 AS place
    FROM transactions
    JOIN chosen ON transactions.tid = chosen.tid
)
SELECT draws.draw, placed.item
FROM draws
JOIN placed ON draws.length = placed.length AND draws.nth = placed.nth AND draws.place = placed.place
ORDER BY draws.draw, placed.item
