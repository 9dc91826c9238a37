-- reads: released_items(released_item, item), supports(released_item, support), holders(released_item, item, n)
-- params: k, m
-- returns: released_item, item, at_least, at_most, support
-- grain: released_item, item
-- The supports of the original items beside a release, in buckets (docs/item_supports.md#the-rule): for each member of a released item
-- that stands for two or more, bounds of the number of transactions that show the released item and hold the member. A
-- released item that fewer than k transactions show has no rows. m NULL stands for any number of items.
--
-- s transactions show the released item. The upper borders of the buckets are k, 2k, ..., rk and s, with
-- r = floor((s - k - 1) / k). The largest bucket is raised until the buckets leave room for (min(m, size) - 1) k occurrences
-- more than transactions, so that any m members may occur together in at least k of them.
WITH sizes AS (
    SELECT released_item, count(*) AS size FROM released_items GROUP BY released_item HAVING count(*) > 1
),
members AS (
    SELECT
        released_items.released_item,
        released_items.item,
        supports.support,
        coalesce(holders.n, 0) AS n,
        greatest(supports.support - getvariable('k') - 1, 0) // getvariable('k') AS borders,
        (least(coalesce(getvariable('m'), sizes.size), sizes.size) - 1) * getvariable('k') AS need
    FROM released_items
    JOIN sizes ON released_items.released_item = sizes.released_item
    JOIN supports ON released_items.released_item = supports.released_item
    LEFT JOIN holders ON released_items.released_item = holders.released_item AND released_items.item = holders.item
    WHERE supports.support >= getvariable('k')
),
buckets AS (
    SELECT
        released_item, item, support, n, borders, need,
        CASE WHEN n <= borders * getvariable('k') AND borders > 0 THEN greatest(n - 1, 0) // getvariable('k') ELSE borders END AS bucket
    FROM members
),
bounded AS (
    SELECT
        released_item, item, support, borders, need,
        CASE WHEN bucket = 0 THEN 0 ELSE bucket * getvariable('k') + 1 END AS low,
        CASE WHEN bucket < borders THEN (bucket + 1) * getvariable('k') ELSE support END AS high
    FROM buckets
),
added AS (
    SELECT
        released_item, item, support, borders, need, low, high,
        sum(high) OVER (PARTITION BY released_item) AS total,
        row_number() OVER (PARTITION BY released_item ORDER BY high DESC, item ASC) AS place
    FROM bounded
),
targets AS (
    SELECT
        released_item, item, support, borders, low, high, place,
        greatest(need + support - (total - high), 1) AS target
    FROM added
),
raised AS (
    SELECT
        released_item, item, support, low, high, place,
        CASE
            WHEN (target + getvariable('k') - 1) // getvariable('k') <= borders
                THEN (target + getvariable('k') - 1) // getvariable('k') * getvariable('k')
            ELSE support
        END AS border
    FROM targets
),
settled AS (
    SELECT
        released_item, item, support,
        CASE WHEN place = 1 AND high <= border THEN 0 ELSE low END AS low,
        CASE WHEN place = 1 AND high <= border THEN border ELSE high END AS high
    FROM raised
)
SELECT
    released_item,
    item,
    CAST(greatest(low, support - (sum(high) OVER (PARTITION BY released_item) - high)) AS BIGINT) AS at_least,
    CAST(high AS BIGINT) AS at_most,
    support
FROM settled
ORDER BY released_item ASC, item ASC
