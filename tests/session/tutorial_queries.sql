-- Statements of the kinds that tutorials of SQL teach and tools generate, written down before any was tried.
-- A comment names the family of the statements below it, up to the next one, which run as one script. After "harmful:"
-- stand words of the message with which they are refused. Tables: sales(tid, item); the analyst's own food(node, parent)
-- and prices(item, price); where the release has records, patients(id, age, sex, town, since) and diagnoses(id, code).

-- counting
SELECT COUNT(*) AS total_rows FROM sales;
-- counting
SELECT COUNT(DISTINCT tid) AS orders, COUNT(DISTINCT item) AS products FROM sales;
-- counting
SELECT item, COUNT(*) AS freq FROM sales GROUP BY item ORDER BY freq DESC LIMIT 10;
-- counting
SELECT item, COUNT(DISTINCT tid) AS orders FROM sales GROUP BY item HAVING COUNT(DISTINCT tid) > 100 ORDER BY orders DESC;
-- counting
SELECT approx_count_distinct(tid) AS about FROM sales;
-- counting
SELECT count(*) FILTER (item = 'coffee') AS coffee, count(*) FILTER (item = 'tea') AS tea FROM sales;
-- counting
SELECT CASE WHEN item IN ('coffee', 'tea') THEN 'hot' WHEN item = 'cola' THEN 'cold' ELSE 'none' END AS kind, count(*) AS n FROM sales GROUP BY 1 ORDER BY 2 DESC;
-- counting
SELECT ROUND(COUNT(*) * 1.0 / COUNT(DISTINCT tid), 2) AS items_per_order FROM sales;
-- counting
FROM sales SELECT item, count() AS n GROUP BY ALL ORDER BY ALL LIMIT 5;
-- counting
SELECT sum(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS milk, sum(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS bread, count(*) AS every FROM sales;
-- counting
SELECT mode(item) AS commonest FROM sales;
-- counting
SELECT any_value(item) IS NOT NULL AS has_rows FROM sales;

-- basket
SELECT a.item AS product_a, b.item AS product_b, COUNT(*) AS frequency FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item GROUP BY product_a, product_b ORDER BY frequency DESC LIMIT 20;
-- basket
WITH totals AS (SELECT COUNT(DISTINCT tid) AS n FROM sales), support AS (SELECT item, COUNT(DISTINCT tid) AS n FROM sales GROUP BY item) SELECT s.item, s.n * 1.0 / t.n AS support FROM support s CROSS JOIN totals t ORDER BY support DESC LIMIT 10;
-- basket
WITH pairs AS (SELECT a.item AS lhs, b.item AS rhs, COUNT(DISTINCT a.tid) AS both FROM sales a JOIN sales b ON a.tid = b.tid AND a.item <> b.item GROUP BY 1, 2), single AS (SELECT item, COUNT(DISTINCT tid) AS n FROM sales GROUP BY item) SELECT p.lhs, p.rhs, p.both, p.both * 1.0 / s.n AS confidence FROM pairs p JOIN single s ON s.item = p.lhs ORDER BY confidence DESC LIMIT 10;
-- basket
WITH n AS (SELECT COUNT(DISTINCT tid) AS total FROM sales), f AS (SELECT item, COUNT(DISTINCT tid) AS c FROM sales GROUP BY item), p AS (SELECT a.item AS x, b.item AS y, COUNT(DISTINCT a.tid) AS c FROM sales a JOIN sales b USING (tid) WHERE a.item < b.item GROUP BY a.item, b.item) SELECT p.x, p.y, p.c * n.total * 1.0 / (fx.c * fy.c) AS lift FROM p, n, f fx, f fy WHERE fx.item = p.x AND fy.item = p.y ORDER BY lift DESC LIMIT 10;
-- basket
SELECT b.item, COUNT(*) AS with_nappies FROM sales a JOIN sales b ON a.tid = b.tid AND b.item <> a.item WHERE a.item = 'nappies' GROUP BY b.item ORDER BY with_nappies DESC LIMIT 5;
-- basket
SELECT a.item, b.item, c.item, COUNT(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item JOIN sales c ON b.tid = c.tid AND b.item < c.item GROUP BY 1, 2, 3 HAVING COUNT(*) >= 30 ORDER BY n DESC;
-- basket
SELECT count(*) AS both FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales WHERE item = 'bread');
-- basket
SELECT count(*) AS either FROM (SELECT tid FROM sales WHERE item = 'milk' UNION SELECT tid FROM sales WHERE item = 'bread');
-- basket
SELECT count(*) AS milk_only FROM (SELECT tid FROM sales WHERE item = 'milk' EXCEPT SELECT tid FROM sales WHERE item = 'bread');
-- basket
SELECT size, COUNT(*) AS orders FROM (SELECT tid, COUNT(*) AS size FROM sales GROUP BY tid) GROUP BY size ORDER BY size;
-- basket
SELECT AVG(size) AS mean, MEDIAN(size) AS middle, MAX(size) AS most, STDDEV(size) AS spread FROM (SELECT tid, COUNT(*) AS size FROM sales GROUP BY tid);
-- basket
SELECT AVG(total) AS average_order_value FROM (SELECT tid, SUM(price) AS total FROM sales JOIN prices USING (item) GROUP BY tid);
-- basket
SELECT parent AS category, SUM(price) AS revenue, COUNT(DISTINCT tid) AS orders FROM sales s JOIN prices p ON p.item = s.item JOIN food f ON f.node = s.item GROUP BY parent ORDER BY revenue DESC;
-- basket
SELECT count(DISTINCT tid) FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'coffee') AND item = 'tea';
-- basket
SELECT x.parent AS one, y.parent AS other, COUNT(DISTINCT a.tid) AS n FROM sales a JOIN food x ON x.node = a.item JOIN sales b ON b.tid = a.tid JOIN food y ON y.node = b.item WHERE x.parent < y.parent GROUP BY 1, 2 ORDER BY n DESC LIMIT 5;
-- basket
SELECT tid, string_agg(item, ', ' ORDER BY item) AS basket FROM sales GROUP BY tid LIMIT 5;
-- basket
SELECT basket, COUNT(*) AS n FROM (SELECT tid, string_agg(item, '+' ORDER BY item) AS basket FROM sales GROUP BY tid) GROUP BY basket ORDER BY n DESC LIMIT 5;

-- window
SELECT item, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS position FROM sales GROUP BY item ORDER BY position LIMIT 10;
-- window
SELECT item, n, SUM(n) OVER (ORDER BY n DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item);
-- window
SELECT item, n, 100.0 * n / SUM(n) OVER () AS pct FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item) ORDER BY pct DESC;
-- window
SELECT parent, item, n FROM (SELECT parent, item, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY parent ORDER BY COUNT(*) DESC) AS rn FROM sales JOIN food ON node = item GROUP BY parent, item) WHERE rn = 1;
-- window
SELECT item, n, n - LAG(n) OVER (ORDER BY n DESC) AS gap FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item);
-- window
SELECT item, n, NTILE(4) OVER (ORDER BY n) AS quartile FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item);
-- window
SELECT item, n, PERCENT_RANK() OVER (ORDER BY n) AS pr, CUME_DIST() OVER (ORDER BY n) AS cd FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item) ORDER BY n DESC LIMIT 5;
-- window
SELECT item, AVG(n) OVER (ORDER BY item ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item);
-- window
SELECT parent, item, n, n * 1.0 / SUM(n) OVER (PARTITION BY parent) AS share FROM (SELECT parent, item, COUNT(*) AS n FROM sales JOIN food ON node = item GROUP BY ALL);
-- window
SELECT DISTINCT FIRST_VALUE(item) OVER (ORDER BY n DESC) AS best FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item);
-- window
SELECT tid, item, ROW_NUMBER() OVER (PARTITION BY tid ORDER BY item) AS line FROM sales ORDER BY tid, line LIMIT 10;
-- window
SELECT item, count(*) AS n FROM sales GROUP BY item QUALIFY rank() OVER (ORDER BY n DESC) <= 3;
-- window
WITH ranked AS (SELECT item, n, SUM(n) OVER (ORDER BY n DESC, item) * 1.0 / SUM(n) OVER () AS cumulative FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item)) SELECT CASE WHEN cumulative <= 0.8 THEN 'A' WHEN cumulative <= 0.95 THEN 'B' ELSE 'C' END AS class, COUNT(*) AS products FROM ranked GROUP BY class ORDER BY class;
-- window
SELECT next_item, count(*) AS n FROM (SELECT item, LEAD(item) OVER (PARTITION BY tid ORDER BY item) AS next_item FROM sales) WHERE item = 'milk' GROUP BY next_item ORDER BY n DESC LIMIT 3;
-- window
SELECT item, n, max(n) OVER w - n AS behind, count(*) OVER w AS products FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item) WINDOW w AS () ORDER BY behind LIMIT 5;

-- pivot
PIVOT (SELECT parent, item FROM sales JOIN food ON node = item) ON item IN ('milk', 'bread', 'tea') USING count(*) GROUP BY parent ORDER BY parent;
-- pivot
PIVOT sales ON item USING count(*);
-- pivot
PIVOT (SELECT item[1] AS initial, item FROM sales) ON initial USING count(*) AS n GROUP BY item ORDER BY item LIMIT 5;
-- pivot
SELECT * FROM (SELECT parent, tid FROM sales JOIN food ON node = item) PIVOT (count(DISTINCT tid) FOR parent IN ('dairy', 'bakery', 'fruit'));
-- pivot
UNPIVOT (SELECT count(*) AS rows_all, count(DISTINCT tid) AS orders FROM sales) ON rows_all, orders INTO NAME measure VALUE number;
-- pivot
SELECT parent, count(*) FILTER (WHERE price < 4) AS cheap, count(*) FILTER (WHERE price >= 4) AS dear FROM sales JOIN food ON node = item JOIN prices USING (item) GROUP BY parent ORDER BY parent;
-- pivot
PIVOT (SELECT item, count(*) AS n FROM sales GROUP BY item) ON item USING sum(n);
-- pivot
FROM (PIVOT (SELECT item FROM sales) ON item IN ('milk', 'bread') USING count(*)) SELECT *;
-- pivot
PIVOT sales ON item IN ('milk', 'bread') USING count(DISTINCT tid) ORDER BY ALL;

-- grouping
SELECT parent, item, COUNT(*) AS n FROM sales JOIN food ON node = item GROUP BY ROLLUP (parent, item) ORDER BY parent, item;
-- grouping
SELECT parent, price, COUNT(*) AS n, GROUPING(parent) AS g FROM sales JOIN food ON node = item JOIN prices USING (item) GROUP BY CUBE (parent, price);
-- grouping
SELECT parent, count(DISTINCT item) AS range_size, count(*) AS lines FROM sales JOIN food ON node = item GROUP BY GROUPING SETS ((parent), ());

-- strings
SELECT upper(item) AS name, length(item) AS letters, count(*) AS n FROM sales GROUP BY item ORDER BY letters DESC, name LIMIT 5;
-- strings
SELECT left(item, 1) AS initial, count(*) AS n FROM sales GROUP BY initial ORDER BY initial;
-- strings
SELECT count(*) AS n FROM sales WHERE item LIKE '%bread%';
-- strings
SELECT count(*) AS n FROM sales WHERE regexp_matches(item, '^(baby|goat)');
-- strings
SELECT split_part(item, ' ', 1) AS first_word, count(*) AS n FROM sales GROUP BY 1 HAVING count(*) > 300 ORDER BY 2 DESC;
-- strings
SELECT DISTINCT replace(item, ' ', '_') AS slug FROM sales ORDER BY slug LIMIT 5;
-- strings
SELECT concat_ws(' / ', parent, item) AS path, count(*) AS n FROM sales JOIN food ON node = item GROUP BY path ORDER BY path LIMIT 5;
-- strings
SELECT item, levenshtein(item, 'bread') AS distance FROM (SELECT DISTINCT item FROM sales) ORDER BY distance, item LIMIT 3;
-- strings
SELECT string_agg(DISTINCT item, ', ' ORDER BY item) FROM sales;
-- strings
SELECT reverse(item) AS backwards, count(*) FROM sales WHERE item IN ('milk', 'tea') GROUP BY 1;
-- strings
SELECT count(*) FROM sales WHERE item SIMILAR TO '(rye )?bread' OR item ~ 'roll';
-- strings
SELECT listagg(item, ';') AS listed FROM (SELECT DISTINCT item FROM sales ORDER BY item LIMIT 3);
-- strings
SELECT word, count(*) AS n FROM (SELECT unnest(string_split(item, ' ')) AS word FROM sales) GROUP BY word ORDER BY n DESC, word LIMIT 5;
-- strings
SELECT printf('%s: %d', item, count(*)) AS label FROM sales GROUP BY item ORDER BY label LIMIT 3;
-- strings
SELECT format('{} has {}', item, n) AS label, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) ORDER BY n DESC LIMIT 3;

-- recursion
WITH RECURSIVE tree AS (SELECT node, parent, 0 AS depth FROM food WHERE parent IS NULL UNION ALL SELECT f.node, f.parent, t.depth + 1 FROM food f JOIN tree t ON f.parent = t.node) SELECT depth, count(*) AS nodes FROM tree GROUP BY depth ORDER BY depth;
-- recursion
WITH RECURSIVE up AS (SELECT node AS leaf, node AS here FROM food UNION ALL SELECT u.leaf, f.parent FROM up u JOIN food f ON f.node = u.here WHERE f.parent IS NOT NULL) SELECT here, count(DISTINCT tid) AS orders FROM sales JOIN up ON leaf = item GROUP BY here ORDER BY orders DESC;
-- recursion
WITH RECURSIVE series(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM series WHERE k < 6) SELECT k, count(tid) AS orders FROM series LEFT JOIN (SELECT tid, count(*) AS size FROM sales GROUP BY tid) ON size = k GROUP BY k ORDER BY k;
-- recursion
WITH RECURSIVE fib(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM fib WHERE b < 100) SELECT max(a) AS last FROM fib;
-- recursion
SELECT r.range AS k, (SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > r.range)) AS larger FROM range(4) r ORDER BY k;

-- sampling
SELECT * FROM sales USING SAMPLE 5 ROWS;
-- sampling
SELECT item, count(*) AS n FROM sales TABLESAMPLE 10% (bernoulli, 42) GROUP BY item ORDER BY n DESC LIMIT 3;
-- sampling
SELECT item FROM sales ORDER BY random() LIMIT 3;
-- sampling
SELECT count(*) FROM (SELECT * FROM sales USING SAMPLE reservoir(50 ROWS) REPEATABLE (7));
-- sampling
SELECT * FROM sales LIMIT 5 OFFSET 5;
-- sampling
SELECT item, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) USING SAMPLE 3;

-- asof
WITH levels(least, name) AS (VALUES (0, 'rare'), (50, 'usual'), (200, 'frequent')), c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT c.item, l.name FROM c ASOF JOIN levels l ON c.n >= l.least ORDER BY c.item;
-- asof
WITH levels(least, name) AS (VALUES (0, 'rare'), (50, 'usual'), (200, 'frequent')), c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT name, count(*) AS products FROM c ASOF JOIN levels ON n >= least GROUP BY name ORDER BY name;
-- asof
SELECT s.item, p.item AS next_price FROM (SELECT DISTINCT item FROM sales) s ASOF LEFT JOIN prices p ON s.item < p.item ORDER BY s.item LIMIT 4;

-- lists
SELECT list(DISTINCT item ORDER BY item) AS products FROM sales;
-- lists
SELECT len(list(DISTINCT item)) AS products FROM sales;
-- lists
SELECT count(*) AS n FROM (SELECT tid, list(item) AS items FROM sales GROUP BY tid) WHERE list_contains(items, 'milk') AND NOT list_contains(items, 'bread');
-- lists
SELECT avg(len(items)) AS size FROM (SELECT tid, list(item) AS items FROM sales GROUP BY tid);
-- lists
SELECT count(*) AS n FROM (SELECT tid, array_agg(item) AS items FROM sales GROUP BY tid) WHERE list_has_all(items, ['milk', 'bread']);
-- lists
SELECT [x.upper() FOR x IN list(DISTINCT item ORDER BY item) IF x LIKE 'b%'] AS loud FROM sales;
-- lists
SELECT list_transform(list(n ORDER BY n DESC)[1:3], lambda x: x * 2) AS top FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- lists
SELECT histogram(item) AS h FROM sales WHERE item IN ('milk', 'tea');
-- lists
SELECT unnest(['milk', 'bread', 'tea']) AS item, 1 AS wanted;
-- lists
SELECT w.item, count(s.tid) AS n FROM (SELECT unnest(['milk', 'bread', 'pizza']) AS item) w LEFT JOIN sales s USING (item) GROUP BY w.item ORDER BY w.item;
-- lists
SELECT max_by(item, n) AS best, min_by(item, n) AS worst, arg_max(item, n, 3) AS top3 FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- lists
SELECT map_from_entries(list((item, n) ORDER BY item)) AS counts FROM (SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'tea') GROUP BY item);
-- lists
SELECT count(*) FROM (SELECT tid, list(item ORDER BY item) AS items FROM sales GROUP BY tid) WHERE items[1] = 'apples';

-- json
SELECT to_json({'item': item, 'n': count(*)}) AS row FROM sales GROUP BY item ORDER BY item LIMIT 3;
-- json
SELECT json_group_object(item, n) AS j FROM (SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'tea') GROUP BY item);
-- json
SELECT json_array_length(json_group_array(item)) AS lines FROM sales;
-- json
SELECT '{"item": "milk"}'::JSON ->> 'item' AS wanted, count(*) AS n FROM sales WHERE item = '{"item": "milk"}'::JSON ->> 'item';

-- friendly
SELECT * EXCLUDE (tid) FROM sales LIMIT 3;
-- friendly
SELECT COLUMNS(*) FROM sales LIMIT 3;
-- friendly
SELECT s FROM sales s LIMIT 3;
-- friendly
SELECT typeof(tid) AS id_type, typeof(item) AS item_type FROM sales LIMIT 1;
-- friendly
SELECT count(COLUMNS(*)) FROM sales;
-- friendly
SELECT COLUMNS('^it') FROM sales GROUP BY ALL ORDER BY ALL LIMIT 3;
-- friendly
FROM sales LIMIT 3;
-- friendly
SELECT item AS product, length(product) AS letters FROM sales WHERE letters < 4 GROUP BY ALL ORDER BY product;
-- friendly
SELECT count_if(item = 'milk') AS milk, bool_or(item = 'caviar') AS caviar FROM sales;
-- friendly
SELECT count(*) AS n FROM sales POSITIONAL JOIN prices;
-- friendly
SELECT item, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) ORDER BY n DESC LIMIT 10%;
-- friendly
SELECT DISTINCT ON (parent) parent, item, count(*) AS n FROM sales JOIN food ON node = item GROUP BY parent, item ORDER BY parent, n DESC;
-- friendly
SELECT item, count(*) AS n FROM sales GROUP BY item UNION BY NAME SELECT count(*) AS n, 'every' AS item FROM sales;
-- friendly
SELECT item, 'cheap' AS label FROM prices WHERE price < 3 UNION ALL SELECT item, NULL FROM (SELECT DISTINCT item FROM sales) ORDER BY ALL LIMIT 4;
-- friendly
SELECT tid, NULL AS note FROM sales UNION ALL SELECT tid, 'again' FROM sales LIMIT 3;

-- statistics
SELECT quantile_cont(n, [0.25, 0.5, 0.75]) AS quartiles FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- statistics
SELECT corr(size, spent) AS r, regr_slope(spent, size) AS slope FROM (SELECT tid, count(*) AS size, sum(price) AS spent FROM sales JOIN prices USING (item) GROUP BY tid);
-- statistics
SELECT var_pop(n) AS v, kurtosis(n) AS k, skewness(n) AS s FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
-- statistics
SELECT entropy(item) AS bits FROM sales;
-- statistics
SELECT floor(price / 3) * 3 AS bin, count(*) AS lines FROM sales JOIN prices USING (item) GROUP BY bin ORDER BY bin;
-- statistics
SELECT width, count(*) AS n FROM (SELECT tid, least(count(*), 5) AS width FROM sales GROUP BY tid) GROUP BY width ORDER BY width;
-- statistics
WITH m AS (SELECT avg(n) AS mean, stddev_pop(n) AS sd FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)) SELECT item, (n - mean) / sd AS z FROM (SELECT item, count(*) AS n FROM sales GROUP BY item), m ORDER BY z DESC LIMIT 5;

-- joins
SELECT p.item FROM prices p LEFT JOIN sales s USING (item) WHERE s.item IS NULL;
-- joins
SELECT f.parent, count(s.tid) AS n FROM food f LEFT JOIN sales s ON s.item = f.node GROUP BY f.parent ORDER BY n DESC LIMIT 6;
-- joins
SELECT item, n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) c WHERE n > (SELECT avg(n) FROM (SELECT count(*) AS n FROM sales GROUP BY item));
-- joins
SELECT parent, best.item, best.n FROM (SELECT DISTINCT parent FROM food) f, LATERAL (SELECT item, count(*) AS n FROM sales JOIN food g ON g.node = item WHERE g.parent = f.parent GROUP BY item ORDER BY n DESC LIMIT 1) best ORDER BY parent;
-- joins
SELECT count(*) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM prices p WHERE p.item = s.item AND p.price > 4);
-- joins
SELECT count(*) AS n FROM sales s ANTI JOIN prices p USING (item);
-- joins
SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 4) big ON big.tid = s.tid WHERE s.item = 'milk';
-- joins
SELECT a.item, a.n, b.item AS next FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) a JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) b ON b.n < a.n QUALIFY row_number() OVER (PARTITION BY a.item ORDER BY b.n DESC) = 1 ORDER BY a.n DESC LIMIT 3;

-- scripts
PREPARE by_item AS SELECT count(*) AS n FROM sales WHERE item = ?;
EXECUTE by_item('milk');
-- scripts
PREPARE top AS SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT $1;
EXECUTE top(3);
DEALLOCATE top;
-- scripts
CREATE TEMP TABLE hot AS SELECT DISTINCT tid FROM sales WHERE item IN ('coffee', 'tea');
SELECT count(*) AS n FROM sales JOIN hot USING (tid) WHERE item = 'milk';
-- scripts
CREATE OR REPLACE TEMP VIEW sizes AS SELECT tid, count(*) AS size FROM sales GROUP BY tid;
SELECT avg(size) AS mean FROM sizes;
-- scripts
CREATE OR REPLACE MACRO pct(a, b) AS round(100.0 * a / b, 1);
SELECT pct(count(*) FILTER (WHERE item = 'milk'), count(*)) AS share FROM sales;
-- scripts
SET VARIABLE wanted = 'milk';
SELECT count(*) AS n FROM sales WHERE item = getvariable('wanted');
-- scripts
SET VARIABLE best = (SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT 1);
SELECT getvariable('best') AS best;
-- scripts
CREATE OR REPLACE TABLE wanted (item VARCHAR);
INSERT INTO wanted VALUES ('milk'), ('bread');
SELECT count(*) AS n FROM sales WHERE item IN (SELECT item FROM wanted);
-- scripts
BEGIN;
SELECT count(*) AS n FROM sales;
COMMIT;

-- tools
SELECT * FROM sales LIMIT 0;
-- tools
SELECT * FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) AS subquery LIMIT 0;
-- tools
DESCRIBE SELECT item, count(*) AS n FROM sales GROUP BY item;
-- tools
SELECT "sales"."item" AS "item", COUNT(*) AS "count" FROM "main"."sales" WHERE ("sales"."item" <> 'milk' OR "sales"."item" IS NULL) GROUP BY "sales"."item" ORDER BY "sales"."item" ASC LIMIT 10000;
-- tools
SELECT item AS item, COUNT(*) AS count FROM sales JOIN (SELECT item AS item__, COUNT(*) AS mme_inner__ FROM sales GROUP BY item ORDER BY mme_inner__ DESC LIMIT 5) AS series_limit ON item = item__ GROUP BY item ORDER BY count DESC LIMIT 1000;
-- tools
SELECT SUM(1) AS "sum:Number of Records:ok", "t"."item" AS "item" FROM (SELECT * FROM "sales") "t" GROUP BY 2;
-- tools
SELECT COUNT(*) FROM (SELECT item FROM sales GROUP BY item) AS q;
-- tools
select count(*) as n_rows, count(*) - count(item) as nulls, count(distinct item) as uniques, min(item) as least, max(item) as most from sales;
-- tools
select item as unique_field, count(*) as n_records from main.sales where item is not null group by item having count(*) > 400;
-- tools
select count(*) as failures, count(*) != 0 as should_warn, count(*) != 0 as should_error from (select item from sales where item is null) dbt_internal_test;
-- tools
SELECT COUNT(CASE WHEN item IN ('milk', 'bread') THEN 1 END) AS listed, COUNT(CASE WHEN item NOT IN ('milk', 'bread') THEN 1 END) AS others FROM sales AS "dist_sales";
-- tools
SELECT "t1"."item", "t1"."n" FROM (SELECT "t0"."item", COUNT(*) AS "n" FROM "sales" AS "t0" GROUP BY 1) AS "t1" ORDER BY "t1"."n" DESC LIMIT 5;
-- tools
SUMMARIZE sales;
-- tools
SHOW TABLES;
-- tools
EXPLAIN SELECT item, count(*) FROM sales GROUP BY item;
-- tools
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'main' ORDER BY 1, ordinal_position;
-- tools
SELECT current_database(), current_schema(), version() IS NOT NULL;
-- tools
SELECT item, lower_bound, estimate, upper_bound FROM item_counts ORDER BY item LIMIT 3;

-- cohort
SELECT date_trunc('month', since) AS cohort, count(*) AS patients FROM patients GROUP BY cohort ORDER BY cohort;
-- cohort
SELECT date_trunc('month', p.since) AS cohort, count(DISTINCT d.id) * 1.0 / count(DISTINCT p.id) AS share FROM patients p LEFT JOIN diagnoses d ON d.id = p.id AND d.code = 'aspirin' GROUP BY cohort ORDER BY cohort;
-- cohort
SELECT cohort, period, count(*) AS n FROM (SELECT date_trunc('month', since) AS cohort, date_diff('month', date_trunc('month', since), DATE '2026-06-01') AS period FROM patients) GROUP BY ALL ORDER BY ALL;
-- cohort
WITH c AS (SELECT id, date_trunc('month', since) AS month FROM patients), s AS (SELECT month, count(*) AS n FROM c GROUP BY month) SELECT month, n, n - lag(n) OVER (ORDER BY month) AS change, sum(n) OVER (ORDER BY month) AS cumulative FROM s ORDER BY month;
-- cohort
SELECT month(since) AS m, count(*) FILTER (WHERE id IN (SELECT id FROM diagnoses WHERE code = 'coffee')) AS kept, count(*) AS size FROM patients GROUP BY m ORDER BY m;

-- dates
SELECT dayname(since) AS day, count(*) AS n FROM patients GROUP BY day ORDER BY n DESC;
-- dates
SELECT extract(year FROM since) AS y, extract(month FROM since) AS m, count(*) AS n FROM patients GROUP BY 1, 2 ORDER BY 1, 2;
-- dates
SELECT strftime(since, '%Y-%m') AS month, avg(age) AS mean_age FROM patients GROUP BY month ORDER BY month;
-- dates
SELECT count(*) AS n FROM patients WHERE since BETWEEN DATE '2026-03-10' AND DATE '2026-03-31';
-- dates
SELECT min(since) AS first, max(since) AS last, max(since) - min(since) AS days FROM patients;
-- dates
SELECT day, count(p.id) AS n FROM (SELECT unnest(generate_series(DATE '2026-03-01', DATE '2026-03-07', INTERVAL 1 DAY))::DATE AS day) LEFT JOIN patients p ON p.since = day GROUP BY day ORDER BY day;
-- dates
SELECT since, n, avg(n) OVER (ORDER BY since RANGE BETWEEN INTERVAL 6 DAY PRECEDING AND CURRENT ROW) AS week_mean FROM (SELECT since, count(*) AS n FROM patients GROUP BY since) ORDER BY since LIMIT 14;
-- dates
SELECT count(*) AS n FROM patients WHERE since > (SELECT max(since) FROM patients) - INTERVAL 30 DAY;
-- dates
WITH days AS (SELECT DISTINCT since FROM patients), runs AS (SELECT since, since - (row_number() OVER (ORDER BY since))::INTEGER AS island FROM days) SELECT min(since) AS first, count(*) AS length FROM runs GROUP BY island ORDER BY first;

-- medicine
SELECT code, count(DISTINCT id) AS patients FROM diagnoses GROUP BY code ORDER BY patients DESC LIMIT 10;
-- medicine
SELECT sex, avg(age) AS mean_age, median(age) AS median_age, count(*) AS n FROM patients GROUP BY sex ORDER BY sex;
-- medicine
SELECT CASE WHEN age < 30 THEN 'under 30' WHEN age < 50 THEN '30 to 49' ELSE '50 and over' END AS band, count(*) AS n FROM patients GROUP BY band ORDER BY band;
-- medicine
SELECT p.sex, d.code, count(*) AS n FROM patients p JOIN diagnoses d ON d.id = p.id GROUP BY p.sex, d.code ORDER BY n DESC LIMIT 10;
-- medicine
SELECT count(*) AS n FROM patients p WHERE NOT EXISTS (SELECT 1 FROM diagnoses d WHERE d.id = p.id AND d.code = 'aspirin');
-- medicine
SELECT a.code AS first, b.code AS second, count(DISTINCT a.id) AS comorbid FROM diagnoses a JOIN diagnoses b ON a.id = b.id AND a.code < b.code JOIN patients p ON p.id = a.id WHERE p.age > 60 GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5;
-- medicine
SELECT town, count(*) FILTER (WHERE age >= 65) * 100.0 / count(*) AS pct FROM patients GROUP BY town ORDER BY pct DESC;
-- medicine
SELECT width_bucket, count(*) AS n FROM (SELECT age // 10 AS width_bucket FROM patients) GROUP BY 1 ORDER BY 1;
-- medicine
SELECT avg(n) AS mean_codes FROM (SELECT p.id, count(d.code) AS n FROM patients p LEFT JOIN diagnoses d ON d.id = p.id GROUP BY p.id);
-- medicine
SELECT corr(age, n) AS r FROM patients JOIN (SELECT id, count(*) AS n FROM diagnoses GROUP BY id) USING (id);
-- medicine
PIVOT patients ON sex USING count(*) GROUP BY town ORDER BY town;
-- medicine
SELECT sex, town, count(*) AS n FROM patients GROUP BY CUBE (sex, town) ORDER BY ALL;
-- medicine
SELECT histogram(age // 10 * 10) AS ages FROM patients;
-- medicine
SELECT town, quantile_cont(age, 0.9) AS p90, stddev(age) AS sd, mode(sex) AS commonest FROM patients GROUP BY town ORDER BY town;
-- medicine
SELECT p.town, count(DISTINCT p.id) AS n FROM patients p JOIN diagnoses d USING (id) WHERE d.code LIKE 'migraine%' GROUP BY p.town HAVING count(DISTINCT p.id) >= 10;

-- harmful: id
SELECT count(*) FROM sales WHERE tid = 17;
-- harmful: id
SELECT item FROM sales WHERE tid IN (1, 2, 3);
-- harmful: release
SELECT max(tid) FROM sales;
-- harmful: release
SELECT tid % 10 AS bucket, count(*) FROM sales GROUP BY bucket;
-- harmful: id
PREPARE one AS SELECT item FROM sales WHERE tid = ?;
EXECUTE one(17);
-- harmful: does not accept
SELECT * FROM read_csv('people.csv');
-- harmful: does not accept
SELECT getenv('HOME');
-- harmful: COPY
COPY sales TO 'sales.csv';
-- harmful: ATTACH
ATTACH 'other.duckdb' AS other;
-- harmful: INSTALL
INSTALL httpfs;
-- harmful: SET of this setting
SET enable_external_access = true;
-- harmful: the original's tables
INSERT INTO sales VALUES (1, 'milk');
-- harmful: the original's tables
DROP TABLE sales;
-- harmful: id
SELECT s.tid, m.item FROM sales s JOIN (SELECT 17 AS tid, 'milk' AS item) m USING (tid);
-- harmful: duckdb_settings
SELECT * FROM duckdb_settings();
