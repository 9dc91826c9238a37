-- reads: checked(passed), transaction_ids(transaction_id, complete), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), blocks(released_item, chance), judged_records(transaction_id, must, may, chance)
-- params: items
-- returns: lower_bound, estimate, upper_bound
-- grain: one row
-- The body of the macro count_bounds(items, <attribute> := ..., ...) of relational and transaction data: of how many original
-- records the relational values satisfy the conditions and the transaction holds all of the items Q, at least, as expected,
-- and at most. judged_records, which is made for the release's attributes, says of each record whether its values must and
-- may satisfy the conditions, and how likely that is.
--
-- Why these bounds always hold. A published value stands for exactly one original value out of those that it covers: it
-- must satisfy a condition if all of them do, and may if any of them does. The released items of a record are disjoint, each
-- stands for a non-empty set of its members, and where the record is complete the original holds nothing else. So a record
-- must hold Q if for every x of Q it has a released item that stands for x alone; a complete one cannot hold Q unless
-- something stands for every x; and where a record is not complete, anything may have been suppressed besides. A record
-- that must (may) do both counts in the lower (upper) bound, and the bounds of records add up.
--
-- The estimate takes records, attributes and released items as independent, suppressed items as absent, and the values that a
-- published value covers as equally likely; the members of a released item are independent but for the records that hold none of
-- them (the blocks).
--
-- Every column is qualified: a parameter of the macro is called like an attribute, and DuckDB would put it in the place of a
-- plain column of that name.
WITH asked AS (
    SELECT CAST(getvariable('items') AS TEXT[]) AS labels
),
wanted AS (
    SELECT DISTINCT decode(encode(listed.wanted_label)) AS wanted_item
    FROM (SELECT unnest(asked.labels) AS wanted_label FROM asked) AS listed
),
covers AS (
    SELECT
        members.released_item AS covering,
        count(*) AS n_members,
        count(wanted.wanted_item) AS n_wanted
    FROM released_items AS members
    LEFT JOIN wanted ON members.item = wanted.wanted_item
    GROUP BY members.released_item
    HAVING count(wanted.wanted_item) > 0
),
settings AS (
    SELECT (SELECT count(*) FROM wanted) AS n_items
),
held AS (
    SELECT
        transaction_items.transaction_id AS held_by,
        sum(covers.n_wanted) AS covered,
        coalesce(sum(covers.n_wanted) FILTER (WHERE covers.n_members = 1), 0) AS certain,
        product(blocks.chance ORDER BY blocks.chance ASC) AS held_chance
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    JOIN covers ON labels.item = covers.covering
    JOIN blocks ON covers.covering = blocks.released_item
    GROUP BY transaction_items.transaction_id
),
judged AS (
    SELECT
        judged_records.must AND coalesce(held.certain, 0) = settings.n_items AS surely,
        judged_records.may AND (coalesce(held.covered, 0) = settings.n_items OR NOT transaction_ids.complete) AS possibly,
        judged_records.chance
        * CASE
            WHEN settings.n_items = 0 THEN 1
            WHEN coalesce(held.covered, 0) = settings.n_items THEN held.held_chance
            ELSE 0
        END AS likely
    FROM transaction_ids
    CROSS JOIN settings
    JOIN judged_records ON transaction_ids.transaction_id = judged_records.transaction_id
    LEFT JOIN held ON transaction_ids.transaction_id = held.held_by
),
counted AS (
    SELECT
        count(*) FILTER (WHERE judged.surely) AS least_count,
        coalesce(sum(judged.likely ORDER BY judged.likely ASC) FILTER (WHERE judged.possibly), 0) AS expected,
        count(*) FILTER (WHERE judged.possibly) AS most_count
    FROM judged
)
SELECT
    CAST(counted.least_count AS BIGINT) AS lower_bound,
    CAST(counted.expected AS DOUBLE) AS estimate,
    CAST(counted.most_count AS BIGINT) AS upper_bound
FROM counted
CROSS JOIN checked
WHERE checked.passed
