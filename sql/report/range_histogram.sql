-- reads: original(value), ranges(low, high, persons)
-- params: first, width, bins
-- returns: bin, before, after
-- grain: bin
-- How many persons have a value in each of so many bins of equal width, in the source and, if those of a released range are spread
-- evenly over it, in the release. The last bin has the largest value, too.
WITH
    bins AS (
        SELECT
            CAST(bin AS INTEGER) AS bin,
            getvariable('first') + bin * getvariable('width') AS low,
            getvariable('first') + (bin + 1) * getvariable('width') AS high
        FROM range(getvariable('bins')) AS numbers (bin)
    ),
    placed AS (
        SELECT least(floor((CAST(value AS DOUBLE) - getvariable('first')) / getvariable('width')), getvariable('bins') - 1) AS bin FROM original
    ),
    counted AS (
        SELECT bin, count(*) AS n FROM placed GROUP BY bin
    ),
    spread AS (
        SELECT
            bins.bin,
            sum(
                CASE
                    WHEN ranges.high > ranges.low
                        THEN ranges.persons * (least(ranges.high, bins.high) - greatest(ranges.low, bins.low)) / (ranges.high - ranges.low)
                    ELSE ranges.persons
                END
            ) AS n
        FROM bins
        JOIN ranges ON
            CASE
                WHEN ranges.high > ranges.low THEN ranges.low <= bins.high AND ranges.high >= bins.low
                ELSE least(floor((ranges.low - getvariable('first')) / getvariable('width')), getvariable('bins') - 1) = bins.bin
            END
        GROUP BY bins.bin
    )
SELECT
    bins.bin,
    CAST(coalesce(counted.n, 0) AS DOUBLE) AS before,
    CAST(coalesce(spread.n, 0) AS DOUBLE) AS after
FROM bins
LEFT JOIN counted ON bins.bin = counted.bin
LEFT JOIN spread ON bins.bin = spread.bin
ORDER BY bins.bin
