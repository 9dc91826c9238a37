-- The releases of anondb.toml as statements: `anondb run shop.duckdb policy.sql`. Paths are relative to the current folder.

CREATE OR REPLACE ANONYMIZED VIEW weekly AS SELECT * FROM sales
WITH (
    model = 'km', k = 5, m = 2, taxonomy = 'food', item_supports = true,
    max_suppression = 10, queries = 200, time_limit = 3600,
    publish = 'weekly.duckdb', mode = '0640', allow_overlap = true
);

CREATE OR REPLACE ANONYMIZED VIEW adults AS
SELECT sales.tid, sales.item
FROM sales JOIN customers ON sales.tid = customers.tid
WHERE customers.age >= 18
WITH (model = 'k', k = 10, taxonomy = 'food', queries = 0);
