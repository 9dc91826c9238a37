-- A policy under version control. With the shop of `anondb demo shop`:
--
--     anondb run shop/shop.duckdb examples/policy.sql
--
-- Everything here is ordinary DuckDB SQL but the statements that say ANONYMIZED VIEW.

-- What is to be protected: at most one row for each customer and product.
CREATE OR REPLACE VIEW weekly_sales AS
SELECT DISTINCT sales.tid, sales.item
FROM sales
JOIN customers ON sales.tid = customers.tid
WHERE customers.age >= 18;

-- How: whoever knows up to two products of a basket is left with at least five customers.
CREATE OR REPLACE ANONYMIZED VIEW weekly AS
SELECT tid, item FROM weekly_sales
WITH (
    model = 'km', k = 5, m = 2,
    taxonomy = 'food',
    max_suppression = 10,
    queries = 200
);

-- Nothing happens here while the sales stay as they are.
REFRESH ANONYMIZED VIEW weekly;

-- What analysts get to see; `anondb publish` seals it into a file of its own.
SELECT released_item, count(*) AS stands_for
FROM release_weekly.released_items
GROUP BY released_item
ORDER BY stands_for DESC, released_item
LIMIT 5;

-- What it costs the owner to know.
SELECT name, transactions, suppressed_items, round(lm, 4) AS lm FROM anondb.releases WHERE status = 'present';

SHOW ANONYMIZED VIEWS WITH (status = true);
