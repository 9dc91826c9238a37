-- reads: shown(transaction_id, item_id, complete), incomplete(transaction_id), labels(item_id, item), released_items(released_item, item), item_supports(released_item, item, at_least, at_most, weight), asked(number, item, first, second)
-- params: supported, single, less, equal, greater, most
-- returns: first, second, lower_bound, estimate, upper_bound
-- grain: first, second
-- The bounds that count_bounds gives for each pair of asked items of a recoding of sets, in one pass: why they hold is said in
-- count_bounds.sql, count_bounds_local.sql and those with item supports. The items are numbered in their order. The parameters say
-- whether the release has item supports, whether each item has a single image, how the first item of a pair may compare with the
-- second, and how many pairs with the largest estimates are wanted. Estimates are added up as decimal numbers, whose sum does not
-- depend on their order.
WITH supports AS (
    SELECT shown.item_id, count(*) AS support FROM shown GROUP BY shown.item_id
),
members AS (
    SELECT
        labels.item_id,
        released_items.item,
        supports.support,
        count(*) OVER of_label AS size,
        coalesce(item_supports.at_least, CASE WHEN count(*) OVER of_label = 1 THEN supports.support ELSE 0 END) AS at_least,
        coalesce(item_supports.at_most, supports.support) AS at_most,
        item_supports.weight
    FROM released_items
    JOIN labels ON released_items.released_item = labels.item
    JOIN supports ON labels.item_id = supports.item_id
    LEFT JOIN item_supports
        ON released_items.released_item = item_supports.released_item AND released_items.item = item_supports.item
    WINDOW of_label AS (PARTITION BY labels.item_id)
),
judged AS (
    SELECT
        members.item_id,
        members.item,
        members.at_most,
        members.support - members.at_least AS slack,
        CASE
            WHEN getvariable('supported') THEN (members.at_least + members.at_most) / (2 * members.support)
            ELSE 0.5 / (1 - pow(CAST(2 AS DOUBLE), -members.size))
        END AS chance,
        CASE
            WHEN getvariable('supported') THEN coalesce(members.weight, 1)
            ELSE 1 - pow(CAST(2 AS DOUBLE), -members.size)
        END AS weight,
        CAST(sum(members.at_most) OVER (PARTITION BY members.item_id) - members.support AS BIGINT) AS excess,
        CAST(sum(members.at_most) OVER (PARTITION BY members.item) AS BIGINT) AS total
    FROM members
),
sides AS (
    SELECT
        asked.number, asked.first, asked.second,
        judged.item_id, judged.at_most, judged.slack, judged.chance, judged.weight, judged.excess, judged.total
    FROM judged
    JOIN asked ON judged.item = asked.item
),
together AS (
    SELECT one.item_id AS first_id, other.item_id AS second_id, count(*) AS n, count(*) FILTER (WHERE one.complete) AS n_complete
    FROM (
        SELECT shown.transaction_id, shown.item_id, shown.complete
        FROM shown
        WHERE shown.item_id IN (SELECT sides.item_id FROM sides WHERE sides.first)
    ) AS one
    JOIN (
        SELECT shown.transaction_id, shown.item_id
        FROM shown
        WHERE shown.item_id IN (SELECT sides.item_id FROM sides WHERE sides.second)
    ) AS other ON one.transaction_id = other.transaction_id
    GROUP BY one.item_id, other.item_id
),
covers AS NOT MATERIALIZED (
    SELECT
        one.number AS first,
        other.number AS second,
        together.n,
        together.n_complete,
        least(one.total, other.total) AS total,
        CASE WHEN one.number = other.number THEN one.slack ELSE one.slack + other.slack END AS slack,
        CASE
            WHEN one.number <> other.number AND one.item_id = other.item_id THEN least(one.at_most, other.at_most, one.excess)
            ELSE least(one.at_most, other.at_most)
        END AS most,
        CASE
            WHEN one.number = other.number THEN one.chance
            WHEN one.item_id = other.item_id THEN one.chance * other.chance * one.weight
            ELSE one.chance * other.chance
        END AS chance
    FROM together
    JOIN sides AS one ON together.first_id = one.item_id AND one.first
    JOIN sides AS other ON together.second_id = other.item_id AND other.second
    WHERE
        (one.number < other.number AND getvariable('less'))
        OR (one.number > other.number AND getvariable('greater'))
        OR (one.number = other.number AND one.item_id = other.item_id AND getvariable('equal'))
),
counted AS (
    SELECT
        covers.first,
        covers.second,
        CAST(sum(greatest(covers.n - covers.slack, 0)) AS BIGINT) AS low,
        sum(CAST(covers.n * covers.chance AS DECIMAL(38, 12))) AS middle,
        CAST(least(sum(least(covers.n_complete, covers.most)), any_value(covers.total)) AS BIGINT) AS high
    FROM covers
    WHERE NOT getvariable('single')
    GROUP BY covers.first, covers.second
    UNION ALL
    SELECT
        covers.first,
        covers.second,
        greatest(covers.n - covers.slack, 0) AS low,
        covers.n * covers.chance AS middle,
        least(covers.n_complete, covers.most, covers.total) AS high
    FROM covers
    WHERE getvariable('single')
),
lost AS (
    SELECT count(*) AS n FROM incomplete
),
bounded AS (
    SELECT counted.first, counted.second, counted.low, counted.middle, counted.high + lost.n AS high
    FROM counted
    CROSS JOIN lost
    UNION ALL
    SELECT one.number AS first, other.number AS second, 0 AS low, 0 AS middle, lost.n AS high
    FROM asked AS one
    CROSS JOIN asked AS other
    CROSS JOIN lost
    WHERE
        lost.n > 0 AND one.first AND other.second
        AND (
            (one.number < other.number AND getvariable('less'))
            OR (one.number > other.number AND getvariable('greater'))
            OR (one.number = other.number AND getvariable('equal'))
        )
        AND NOT EXISTS (SELECT 1 FROM counted WHERE counted.first = one.number AND counted.second = other.number)
),
largest AS (
    SELECT
        bounded.first, bounded.second, bounded.low, bounded.high,
        CAST(least(greatest(bounded.middle, bounded.low), bounded.high) AS DOUBLE) AS estimate
    FROM bounded
    WHERE bounded.high > 0
    ORDER BY estimate DESC, bounded.first ASC, bounded.second ASC
    LIMIT getvariable('most')
)
SELECT
    one.item AS first,
    other.item AS second,
    largest.low AS lower_bound,
    largest.estimate,
    largest.high AS upper_bound
FROM largest
JOIN asked AS one ON largest.first = one.number
JOIN asked AS other ON largest.second = other.number
ORDER BY largest.estimate DESC, largest.first ASC, largest.second ASC
