-- A policy under version control. With the shop of `anondb demo shop`:
--
--     anondb run shop/shop.duckdb examples/policy.sql
--
-- All statements are ordinary DuckDB SQL, except those with ANONYMIZED VIEW.

-- The data to protect: at most one row for each customer and product.
CREATE OR REPLACE VIEW weekly_sales AS
SELECT DISTINCT sales.tid, sales.item
FROM sales
JOIN customers ON sales.tid = customers.tid
WHERE customers.age >= 18;

-- The promise: an attacker who knows up to two products of a customer finds at least five such customers, or none.
CREATE OR REPLACE ANONYMIZED VIEW weekly AS
SELECT tid, item FROM weekly_sales
WITH (
    model = 'km', k = 5, m = 2,
    taxonomy = 'food',
    max_suppression = 10,
    queries = 200
);

-- Does nothing unless the sales have changed.
REFRESH ANONYMIZED VIEW weekly;

-- The released items, which analysts see; `anondb publish` writes the release to a sealed file.
SELECT released_item, count(*) AS stands_for
FROM release_weekly.released_items
GROUP BY released_item
ORDER BY stands_for DESC, released_item
LIMIT 5;

-- The information loss, which only the owner sees.
SELECT name, transactions, suppressed_items, round(lm, 4) AS lm FROM anondb.releases WHERE status = 'present';

SHOW ANONYMIZED VIEWS WITH (status = true);
