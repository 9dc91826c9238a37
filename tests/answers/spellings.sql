-- Groups of queries that DuckDB answers alike on every original sales(tid, item) with one row for each item of a person.
-- A line `-- NAME` or `-- NAME [OWN]` begins a group; each of its spellings is a line that ends with a semicolon. Columns may
-- have other names from spelling to spelling, and rows may come in any order. What a group needs besides sales: food, the
-- analyst's food (node, parent); prices, the analyst's prices (item, price); records, the original's customers (tid, age,
-- sex, town, since), with a row for each tid of sales. Each item is one node of food and has one price.
-- LIKE and categories: the groups name all items of the shop of `anondb demo` that match.
-- persons_one
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk';
SELECT count(*) AS n FROM sales WHERE item = 'milk';
SELECT count(DISTINCT s.tid) AS n FROM sales AS s WHERE s.item IN ('milk');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk'));
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales WHERE 'milk' = item);
SELECT coalesce(sum(c), 0) AS n FROM (SELECT item, count(*) AS c FROM sales GROUP BY item) WHERE item = 'milk';

-- persons_or
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' OR item = 'bread';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('bread', 'milk');
SELECT count(DISTINCT tid) AS n FROM sales WHERE list_contains(['bread', 'milk'], item);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') OR bool_or(item = 'bread'));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' UNION SELECT tid FROM sales WHERE item = 'bread');
SELECT (SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk') + (SELECT count(DISTINCT tid) FROM sales WHERE item = 'bread') - (SELECT count(*) FROM sales x JOIN sales y USING (tid) WHERE x.item = 'milk' AND y.item = 'bread') AS n;
SELECT coalesce(sum(x), 0) AS n FROM (SELECT tid, max(CASE WHEN item IN ('milk', 'bread') THEN 1 ELSE 0 END) AS x FROM sales GROUP BY tid);

-- persons_and
SELECT count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid WHERE x.item = 'milk' AND y.item = 'bread';
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales WHERE item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(DISTINCT item) = 2);
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE s.item = 'milk' AND EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) FILTER (WHERE item = 'milk') > 0 AND count(*) FILTER (WHERE item = 'bread') > 0);
SELECT coalesce(sum(c), 0) AS n FROM (SELECT x.item AS i, y.item AS j, count(*) AS c FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item GROUP BY 1, 2) WHERE i = least('milk', 'bread') AND j = greatest('milk', 'bread');

-- persons_and_by_sum
SELECT (SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk') + (SELECT count(DISTINCT tid) FROM sales WHERE item = 'coffee') - (SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'coffee')) AS n;
WITH m AS (SELECT tid FROM sales WHERE item = 'milk'), c AS (SELECT tid FROM sales WHERE item = 'coffee') SELECT count(*) AS n FROM m JOIN c USING (tid);
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' AND tid IN (SELECT tid FROM sales WHERE item = 'coffee');
SELECT count(DISTINCT x.tid) AS n FROM sales x, sales y WHERE x.tid = y.tid AND x.item = 'milk' AND y.item = 'coffee';

-- persons_not
SELECT (SELECT count(DISTINCT tid) FROM sales) - (SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk') AS n;
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk');
SELECT count(*) AS n FROM (SELECT tid FROM sales EXCEPT SELECT tid FROM sales WHERE item = 'milk');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item = 'milk'));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item <> 'milk'));
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'milk');

-- one_without_other
SELECT count(DISTINCT s.tid) AS n FROM sales s LEFT JOIN sales o ON o.tid = s.tid AND o.item = 'bread' WHERE s.item = 'milk' AND o.tid IS NULL;
SELECT count(*) AS n FROM sales s WHERE s.item = 'milk' AND NOT EXISTS (SELECT * FROM sales o WHERE o.tid = s.tid AND o.item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' EXCEPT SELECT tid FROM sales WHERE item = 'bread');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND NOT bool_or(item = 'bread'));
SELECT (SELECT count(*) FROM sales WHERE item = 'milk') - (SELECT count(*) FROM sales x JOIN sales y USING (tid) WHERE x.item = 'milk' AND y.item = 'bread') AS n;

-- neither
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING sum(CASE WHEN item IN ('milk', 'bread') THEN 1 ELSE 0 END) = 0);
SELECT (SELECT count(DISTINCT tid) FROM sales) - (SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk' OR item = 'bread') AS n;
SELECT count(*) AS n FROM (SELECT tid FROM sales EXCEPT SELECT tid FROM sales WHERE item IN ('milk', 'bread'));
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'milk') AND tid NOT IN (SELECT tid FROM sales WHERE item = 'bread');

-- all_three
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'coffee') GROUP BY tid HAVING count(*) = 3);
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales WHERE item = 'bread' INTERSECT SELECT tid FROM sales WHERE item = 'coffee');
SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y USING (tid) JOIN sales z USING (tid) WHERE x.item = 'milk' AND y.item = 'bread' AND z.item = 'coffee';
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND bool_or(item = 'bread') AND bool_or(item = 'coffee'));

-- any_of_five
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('milk', 'bread', 'coffee', 'cornflakes', 'migraine tablets');
SELECT count(*) AS n FROM (SELECT tid, max(CASE WHEN item IN ('milk', 'bread', 'coffee', 'cornflakes', 'migraine tablets') THEN 1 ELSE 0 END) AS x FROM sales GROUP BY tid) WHERE x = 1;
SELECT count(DISTINCT tid) AS n FROM sales JOIN (VALUES ('milk'), ('bread'), ('coffee'), ('cornflakes'), ('migraine tablets')) v(i) ON item = i;
SELECT (SELECT count(DISTINCT tid) FROM sales) - (SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item IN ('milk', 'bread', 'coffee', 'cornflakes', 'migraine tablets')))) AS n;

-- two_of_three
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'coffee') GROUP BY tid HAVING count(*) >= 2);
SELECT count(*) AS n FROM (SELECT tid, count(DISTINCT item) AS k FROM sales WHERE item IN ('milk', 'bread', 'coffee') GROUP BY tid) WHERE k > 1;
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING sum(CASE WHEN item IN ('milk', 'bread', 'coffee') THEN 1 ELSE 0 END) >= 2);
SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item WHERE x.item IN ('milk', 'bread', 'coffee') AND y.item IN ('milk', 'bread', 'coffee');

-- a_and_b_or_c
SELECT count(*) AS n FROM sales s WHERE s.item = 'milk' AND EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item IN ('bread', 'coffee'));
SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y ON x.tid = y.tid WHERE x.item = 'milk' AND (y.item = 'bread' OR y.item = 'coffee');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND (bool_or(item = 'bread') OR bool_or(item = 'coffee')));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT (SELECT tid FROM sales WHERE item = 'bread' UNION SELECT tid FROM sales WHERE item = 'coffee'));

-- rows_or
SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'bread');
SELECT coalesce(sum(c), 0) AS n FROM (SELECT item, count(*) AS c FROM sales WHERE item IN ('milk', 'bread') GROUP BY item);
SELECT coalesce(sum(c), 0) AS n FROM (SELECT tid, count(*) AS c FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid);
SELECT count(*) FILTER (WHERE item = 'milk') + count(*) FILTER (WHERE item = 'bread') AS n FROM sales;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' UNION ALL SELECT tid FROM sales WHERE item = 'bread');
SELECT coalesce(sum(c), 0) AS n FROM (SELECT tid, sum(CASE WHEN item IN ('milk', 'bread') THEN 1 ELSE 0 END) AS c FROM sales GROUP BY tid);

-- rows_of_five
SELECT count(item) AS n FROM sales WHERE item IN ('milk', 'bread', 'coffee', 'cornflakes', 'migraine tablets');
WITH h AS (SELECT tid, count(DISTINCT item) AS k FROM sales WHERE item IN ('milk', 'bread', 'coffee', 'cornflakes', 'migraine tablets') GROUP BY tid) SELECT coalesce(sum(k), 0) AS n FROM h;
SELECT (SELECT count(*) FROM sales WHERE item = 'milk') + (SELECT count(*) FROM sales WHERE item = 'bread') + (SELECT count(*) FROM sales WHERE item = 'coffee') + (SELECT count(*) FROM sales WHERE item = 'cornflakes') + (SELECT count(*) FROM sales WHERE item = 'migraine tablets') AS n;
SELECT coalesce(sum(k * c), 0) AS n FROM (SELECT k, count(*) AS c FROM (SELECT tid, count(*) AS k FROM sales WHERE item IN ('milk', 'bread', 'coffee', 'cornflakes', 'migraine tablets') GROUP BY tid) GROUP BY k);

-- rows_all
SELECT count(*) AS n FROM sales WHERE item LIKE '%';
SELECT coalesce(sum(n), 0) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT coalesce(sum(n), 0) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT coalesce(sum(k), 0) AS n FROM (SELECT tid, count(DISTINCT item) AS k FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT DISTINCT tid, item FROM sales);

-- rows_layout
SELECT count(*) AS n FROM sales;
SELECT count(item) AS n FROM sales;
SELECT count(tid) AS n FROM sales;
SELECT count(*) AS n FROM sales s LEFT JOIN food f ON s.item = f.node;

-- rows_except
SELECT count(*) AS n FROM sales WHERE item NOT IN ('milk', 'bread');
SELECT (SELECT count(*) FROM sales WHERE item LIKE '%') - (SELECT count(*) FROM sales WHERE item IN ('milk', 'bread')) AS n;
SELECT coalesce(sum(c), 0) AS n FROM (SELECT item, count(*) AS c FROM sales GROUP BY item) WHERE item <> 'milk' AND item <> 'bread';
SELECT coalesce(sum(c), 0) AS n FROM (SELECT tid, count(*) FILTER (WHERE item NOT IN ('milk', 'bread')) AS c FROM sales GROUP BY tid);

-- persons_all
SELECT count(DISTINCT tid) AS n FROM sales;
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales);
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
WITH p AS (SELECT tid FROM sales GROUP BY tid) SELECT count(tid) AS n FROM p;
SELECT coalesce(sum(c), 0) AS n FROM (SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n);

-- mean_size
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT sum(n) / count(*) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT avg(n) AS m FROM (SELECT tid, count(item) AS n FROM sales GROUP BY tid);
SELECT avg(n) AS m FROM (SELECT tid, count(DISTINCT item) AS n FROM sales GROUP BY tid);
SELECT count(*) / nullif(count(DISTINCT tid), 0) AS m FROM sales WHERE item LIKE '%';
WITH b AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT sum(n) * 1.0 / count(n) AS m FROM b;

-- large_baskets
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 5);
SELECT count(*) FILTER (WHERE n >= 5) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT coalesce(sum(c), 0) AS n FROM (SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n) WHERE n >= 5;
SELECT coalesce(sum(CASE WHEN n >= 5 THEN 1 ELSE 0 END), 0) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(DISTINCT item) > 5 - 1);

-- small_baskets
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n <= 2;
SELECT (SELECT count(DISTINCT tid) FROM sales) - (SELECT count(*) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n > 2) AS n;
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) BETWEEN 1 AND 2);
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(item) <= 2);

-- baskets_of_size
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n = 2;
SELECT (SELECT count(*) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n >= 2) - (SELECT count(*) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n > 2) AS n;
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(item) = 2);
SELECT coalesce(max(c), 0) AS n FROM (SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n) WHERE n = 2;

-- histogram
SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n;
WITH b AS (SELECT tid, count(DISTINCT item) AS size FROM sales GROUP BY tid) SELECT size, count(tid) AS c FROM b GROUP BY 1;
SELECT n, count(*) AS c FROM (SELECT s.tid, count(s.item) AS n FROM sales AS s GROUP BY s.tid) AS b GROUP BY b.n ORDER BY b.n;

-- largest
SELECT max(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT (SELECT n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) ORDER BY n DESC LIMIT 1) AS m;
SELECT max(n) AS m FROM (SELECT tid, count(DISTINCT item) AS n FROM sales GROUP BY tid);

-- share_large
SELECT avg(CASE WHEN n >= 5 THEN 1.0 ELSE 0.0 END) AS s FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT count(*) FILTER (WHERE n >= 5) / nullif(count(*), 0) AS s FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT (SELECT count(*) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n >= 5) / nullif((SELECT count(DISTINCT tid) FROM sales), 0) AS s;

-- size_with_item
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY tid);
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'milk'));
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x FROM sales GROUP BY tid) WHERE x = 1;
SELECT avg(n) AS m FROM (SELECT o.tid, count(*) AS n FROM sales s JOIN sales o USING (tid) WHERE s.item = 'milk' GROUP BY o.tid);

-- rows_with_item
SELECT count(*) AS n FROM sales o JOIN sales s USING (tid) WHERE s.item = 'milk';
SELECT count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') AND item LIKE '%';
SELECT coalesce(sum(c), 0) AS n FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid HAVING bool_or(item = 'milk'));
SELECT coalesce(sum(c), 0) AS n FROM (SELECT o.item, count(*) AS c FROM sales s JOIN sales o USING (tid) WHERE s.item = 'milk' GROUP BY o.item);
SELECT count(*) AS n FROM sales o WHERE EXISTS (SELECT 1 FROM sales s WHERE s.tid = o.tid AND s.item = 'milk') AND o.item IS NOT NULL;

-- large_with_item
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 5 AND bool_or(item = 'milk'));
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' AND tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 5);
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) b JOIN sales s USING (tid) WHERE s.item = 'milk' AND b.n >= 5;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales GROUP BY tid HAVING count(*) >= 5);

-- pairs_all
SELECT count(*) AS n FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item;
SELECT coalesce(sum(c), 0) AS n FROM (SELECT x.item AS i, y.item AS j, count(*) AS c FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item GROUP BY 1, 2);
SELECT coalesce(sum(n * (n - 1) / 2), 0) AS n FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT count(*) / 2 AS n FROM sales x JOIN sales y ON x.tid = y.tid WHERE x.item <> y.item;

-- pairs_top
SELECT x.item AS i, y.item AS j, count(*) AS c FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item GROUP BY x.item, y.item ORDER BY c DESC, i, j LIMIT 5;
SELECT x.item AS i, y.item AS j, count(DISTINCT x.tid) AS c FROM sales x, sales y WHERE x.tid = y.tid AND x.item < y.item GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 5;
SELECT i, j, c FROM (SELECT x.item AS i, y.item AS j, count(*) AS c, row_number() OVER (ORDER BY count(*) DESC, x.item, y.item) AS r FROM sales x JOIN sales y USING (tid) WHERE x.item < y.item GROUP BY 1, 2) WHERE r <= 5;

-- pairs_with
SELECT o.item AS i, count(*) AS c FROM sales s JOIN sales o ON s.tid = o.tid WHERE s.item = 'milk' AND o.item IN ('bread', 'coffee', 'cornflakes') GROUP BY o.item;
SELECT item AS i, count(DISTINCT tid) AS c FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') AND item IN ('bread', 'coffee', 'cornflakes') GROUP BY item;
SELECT o.item AS i, count(*) AS c FROM sales o WHERE o.item IN ('bread', 'coffee', 'cornflakes') AND EXISTS (SELECT 1 FROM sales s WHERE s.tid = o.tid AND s.item = 'milk') GROUP BY 1;
WITH t AS (SELECT tid FROM sales WHERE item = 'milk') SELECT s.item AS i, count(*) AS c FROM t JOIN sales s USING (tid) GROUP BY s.item HAVING s.item IN ('bread', 'coffee', 'cornflakes');

-- never_with
SELECT DISTINCT item FROM sales WHERE item NOT IN (SELECT b.item FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk');
SELECT item FROM sales EXCEPT SELECT b.item FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk';
SELECT item FROM sales GROUP BY item HAVING count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk')) = 0;

-- support
SELECT count(DISTINCT tid) FILTER (WHERE item = 'milk') * 1.0 / nullif(count(DISTINCT tid), 0) AS s FROM sales;
SELECT (SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk') / nullif((SELECT count(DISTINCT tid) FROM sales), 0) AS s;
SELECT avg(x) AS s FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x FROM sales GROUP BY tid);
SELECT avg(x::INTEGER) AS s FROM (SELECT tid, bool_or(item = 'milk') AS x FROM sales GROUP BY tid);
SELECT 1 - avg(CASE WHEN k = 0 THEN 1.0 ELSE 0.0 END) AS s FROM (SELECT tid, count(*) FILTER (WHERE item = 'milk') AS k FROM sales GROUP BY tid);

-- confidence
SELECT count(*) FILTER (WHERE x AND y) / nullif(count(*) FILTER (WHERE x), 0) AS c FROM (SELECT tid, bool_or(item = 'milk') AS x, bool_or(item = 'bread') AS y FROM sales GROUP BY tid);
SELECT (SELECT count(*) FROM sales p JOIN sales q USING (tid) WHERE p.item = 'milk' AND q.item = 'bread') / nullif((SELECT count(*) FROM sales WHERE item = 'milk'), 0) AS c;
SELECT avg(y) AS c FROM (SELECT tid, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY tid);
SELECT avg(CASE WHEN y THEN 1.0 ELSE 0.0 END) AS c FROM (SELECT tid, bool_or(item = 'milk') AS x, bool_or(item = 'bread') AS y FROM sales GROUP BY tid) WHERE x;

-- mean_of_list
SELECT avg(c) AS m FROM (SELECT tid, count(*) AS c FROM sales WHERE item IN ('milk', 'bread', 'coffee') GROUP BY tid);
SELECT (SELECT count(*) FROM sales WHERE item IN ('milk', 'bread', 'coffee')) / nullif((SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'bread', 'coffee')), 0) AS m;
SELECT count(*) / nullif(count(DISTINCT tid), 0) AS m FROM sales WHERE item IN ('milk', 'bread', 'coffee');
SELECT avg(c) AS m FROM (SELECT tid, count(*) FILTER (WHERE item IN ('milk', 'bread', 'coffee')) AS c FROM sales GROUP BY tid) WHERE c > 0;

-- mean_of_list_per_person
SELECT avg(c) AS m FROM (SELECT tid, count(*) FILTER (WHERE item IN ('milk', 'bread', 'coffee')) AS c FROM sales GROUP BY tid);
SELECT (SELECT count(*) FROM sales WHERE item IN ('milk', 'bread', 'coffee')) / nullif((SELECT count(DISTINCT tid) FROM sales), 0) AS m;
SELECT sum(c) * 1.0 / count(*) AS m FROM (SELECT tid, sum(CASE WHEN item IN ('milk', 'bread', 'coffee') THEN 1 ELSE 0 END) AS c FROM sales GROUP BY tid);

-- items_of_list
SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'coffee') GROUP BY item;
SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item HAVING item IN ('milk', 'bread', 'coffee');
WITH c AS (SELECT s.item, count(*) AS n FROM sales s GROUP BY s.item) SELECT c.item, c.n FROM c WHERE c.item IN ('milk', 'bread', 'coffee');
SELECT s.item, count(*) AS n FROM sales s JOIN (VALUES ('milk'), ('bread'), ('coffee')) v(i) ON s.item = v.i GROUP BY s.item;

-- items_or_zero
SELECT v.i AS item, (SELECT count(*) FROM sales s WHERE s.item = v.i) AS n FROM (VALUES ('milk'), ('bread'), ('coffee')) v(i);
SELECT 'milk' AS item, count(*) AS n FROM sales WHERE item = 'milk' UNION ALL SELECT 'bread', count(*) FROM sales WHERE item = 'bread' UNION ALL SELECT 'coffee', count(*) FROM sales WHERE item = 'coffee';
SELECT v.i AS item, count(s.tid) AS n FROM (VALUES ('milk'), ('bread'), ('coffee')) v(i) LEFT JOIN sales s ON s.item = v.i GROUP BY v.i;
SELECT v.i AS item, coalesce(g.n, 0) AS n FROM (VALUES ('milk'), ('bread'), ('coffee')) v(i) LEFT JOIN (SELECT item, count(*) AS n FROM sales GROUP BY item) g ON g.item = v.i;

-- top_items
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item LIMIT 5;
SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item ORDER BY count(DISTINCT tid) DESC, item LIMIT 5;
SELECT item, count(*) AS n FROM sales GROUP BY item QUALIFY row_number() OVER (ORDER BY count(*) DESC, item) <= 5;
SELECT item, n FROM (SELECT item, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, item) AS r FROM sales GROUP BY item) WHERE r <= 5;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c ORDER BY 2 DESC, 1 FETCH FIRST 5 ROWS ONLY;

-- frequent_items
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) >= 307;
SELECT * FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) WHERE n >= 307;
SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY 1 HAVING n > 307 - 1;
WITH c AS (SELECT item, count(item) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE NOT n < 307;

-- share_of_rows
SELECT item, count(*) * 1.0 / sum(count(*)) OVER () AS s FROM sales GROUP BY item;
SELECT item, count(*) / (SELECT count(*) FROM sales WHERE item LIKE '%') AS s FROM sales GROUP BY item;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), t AS (SELECT sum(n) AS total FROM c) SELECT item, n / total AS s FROM c, t;

-- like_rows
SELECT count(*) AS n FROM sales WHERE item LIKE 'b%';
SELECT count(*) AS n FROM sales WHERE item IN ('baby food', 'bananas', 'biscuits', 'bleach', 'bread', 'brie', 'butter');
SELECT count(*) AS n FROM sales WHERE starts_with(item, 'b');
SELECT coalesce(sum(c), 0) AS n FROM (SELECT item, count(*) AS c FROM sales GROUP BY item) WHERE item LIKE 'b%';
SELECT count(*) AS n FROM sales WHERE left(item, 1) = 'b';

-- like_persons
SELECT count(DISTINCT tid) AS n FROM sales WHERE item LIKE 'b%';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('baby food', 'bananas', 'biscuits', 'bleach', 'bread', 'brie', 'butter');
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item LIKE 'b%'));
SELECT (SELECT count(DISTINCT tid) FROM sales) - (SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item NOT LIKE 'b%'))) AS n;

-- category_rows [food]
SELECT count(*) AS n FROM sales JOIN food ON item = node WHERE parent = 'drinks';
SELECT count(*) AS n FROM sales WHERE item IN ('coffee', 'cola', 'orange juice', 'tea', 'water');
SELECT count(*) AS n FROM sales WHERE item IN (SELECT node FROM food WHERE parent = 'drinks');
SELECT coalesce(sum(c), 0) AS n FROM (SELECT f.parent, count(*) AS c FROM sales s JOIN food f ON s.item = f.node GROUP BY f.parent) WHERE parent = 'drinks';
SELECT count(*) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM food f WHERE f.node = s.item AND f.parent = 'drinks');

-- category_persons [food]
SELECT count(DISTINCT s.tid) AS n FROM sales s JOIN food f ON s.item = f.node WHERE f.parent = 'drinks';
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('coffee', 'cola', 'orange juice', 'tea', 'water');
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT node FROM food WHERE parent = 'drinks');
SELECT count(*) AS n FROM (SELECT tid FROM sales LEFT JOIN food ON item = node GROUP BY tid HAVING bool_or(parent = 'drinks'));
SELECT coalesce(sum(c), 0) AS n FROM (SELECT parent, count(DISTINCT tid) AS c FROM sales JOIN food ON node = item GROUP BY parent) WHERE parent = 'drinks';

-- category_grouped [food]
SELECT f.parent, count(*) AS n FROM sales s JOIN food f ON s.item = f.node GROUP BY f.parent;
SELECT parent, sum(c) AS n FROM (SELECT item, count(*) AS c FROM sales GROUP BY item) JOIN food ON item = node GROUP BY parent;
WITH t AS (SELECT tid, parent FROM sales JOIN food ON node = item) SELECT parent, count(tid) AS n FROM t GROUP BY 1;

-- category_grouped_persons [food]
SELECT f.parent, count(DISTINCT s.tid) AS n FROM sales s JOIN food f ON s.item = f.node GROUP BY f.parent;
SELECT parent, count(*) AS n FROM (SELECT DISTINCT tid, parent FROM sales JOIN food ON item = node) GROUP BY parent;

-- three_of_category [food]
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON item = node WHERE parent = 'drinks' GROUP BY tid HAVING count(*) >= 2);
SELECT count(*) AS n FROM (SELECT tid, count(*) FILTER (WHERE item IN ('coffee', 'cola', 'orange juice', 'tea', 'water')) AS k FROM sales GROUP BY tid) WHERE k >= 2;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('coffee', 'cola', 'orange juice', 'tea', 'water') GROUP BY tid HAVING count(DISTINCT item) > 1);

-- revenue [prices]
SELECT coalesce(sum(price), 0) AS v FROM sales JOIN prices USING (item);
SELECT coalesce(sum(n * price), 0) AS v FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) JOIN prices USING (item);
SELECT coalesce(sum(v), 0) AS v FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT coalesce(sum(p.price), 0) AS v FROM sales s LEFT JOIN prices p ON s.item = p.item;

-- revenue_per_basket [prices]
SELECT avg(v) AS m FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT sum(price) / nullif(count(DISTINCT tid), 0) AS m FROM sales JOIN prices USING (item);
WITH t AS (SELECT s.tid, sum(p.price) AS v FROM sales s JOIN prices p ON s.item = p.item GROUP BY s.tid) SELECT sum(v) / count(*) AS m FROM t;

-- dear_baskets [prices]
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 12);
SELECT count(*) FILTER (WHERE v > 12) AS n FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT count(*) AS n FROM (SELECT s.tid, sum(p.price) AS v FROM sales s INNER JOIN prices p ON p.item = s.item GROUP BY s.tid) WHERE v >= 13;

-- age_range [records]
SELECT count(*) AS n FROM customers WHERE age BETWEEN 30 AND 49;
SELECT count(*) AS n FROM customers WHERE age >= 30 AND age <= 49;
SELECT (SELECT count(*) FROM customers WHERE age >= 30) - (SELECT count(*) FROM customers WHERE age > 49) AS n;
SELECT coalesce(sum(c), 0) AS n FROM (SELECT age, count(*) AS c FROM customers GROUP BY age) WHERE age BETWEEN 30 AND 49;
SELECT count(*) AS n FROM customers WHERE NOT (age < 30 OR age > 49);

-- age_bands [records]
SELECT age // 10 * 10 AS band, count(*) AS n FROM customers GROUP BY 1;
SELECT (age // 10) * 10 AS band, count(DISTINCT tid) AS n FROM customers GROUP BY band;
SELECT age - age % 10 AS band, count(*) AS n FROM customers GROUP BY 1;
SELECT band, sum(c) AS n FROM (SELECT age, age // 10 * 10 AS band, count(*) AS c FROM customers GROUP BY 1, 2) GROUP BY band;

-- mean_age [records]
SELECT avg(age) AS m FROM customers;
SELECT sum(age) / nullif(count(*), 0) AS m FROM customers;
SELECT sum(age * c) / nullif(sum(c), 0) AS m FROM (SELECT age, count(*) AS c FROM customers GROUP BY age);

-- mean_age_of_buyers [records]
SELECT avg(age) AS m FROM customers JOIN sales USING (tid) WHERE item = 'milk';
SELECT avg(c.age) AS m FROM customers c WHERE EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'milk');
SELECT avg(age) AS m FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk');
SELECT sum(c.age) / nullif(count(*), 0) AS m FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'milk';

-- buyers_by_sex [records]
SELECT c.sex, count(*) AS n FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'milk' GROUP BY c.sex;
SELECT sex, count(*) AS n FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY sex;
SELECT sex, count(DISTINCT tid) AS n FROM sales JOIN customers USING (tid) WHERE item = 'milk' GROUP BY 1;

-- buyers_female [records]
SELECT count(*) AS n FROM customers c JOIN sales s USING (tid) WHERE s.item = 'milk' AND c.sex = 'female';
SELECT count(*) AS n FROM (SELECT tid FROM customers WHERE sex = 'female' INTERSECT SELECT tid FROM sales WHERE item = 'milk');
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' AND tid IN (SELECT tid FROM customers WHERE sex = 'female');
SELECT coalesce(sum(c), 0) AS n FROM (SELECT sex, item, count(*) AS c FROM customers JOIN sales USING (tid) GROUP BY sex, item) WHERE sex = 'female' AND item = 'milk';
SELECT (SELECT count(*) FROM sales JOIN customers USING (tid) WHERE item = 'milk') - (SELECT count(*) FROM sales JOIN customers USING (tid) WHERE item = 'milk' AND sex <> 'female') AS n;

-- by_month [records]
SELECT month(since) AS m, count(*) AS n FROM customers GROUP BY 1;
SELECT extract(month FROM since) AS m, count(DISTINCT tid) AS n FROM customers GROUP BY m;
SELECT date_part('month', since) AS m, count(*) AS n FROM customers GROUP BY ALL;

-- one_month [records]
SELECT count(*) AS n FROM customers WHERE since >= DATE '2026-04-01' AND since < DATE '2026-05-01';
SELECT count(*) AS n FROM customers WHERE month(since) = 4 AND year(since) = 2026;
SELECT count(*) AS n FROM customers WHERE date_trunc('month', since) = DATE '2026-04-01';
SELECT count(*) AS n FROM customers WHERE strftime(since, '%Y-%m') = '2026-04';
SELECT coalesce(sum(c), 0) AS n FROM (SELECT month(since) AS m, count(*) AS c FROM customers GROUP BY 1) WHERE m = 4;

-- rows_by_sex [records]
SELECT c.sex, count(*) AS n FROM customers c JOIN sales s ON c.tid = s.tid WHERE s.item IN ('milk', 'bread') GROUP BY c.sex;
SELECT sex, sum(k) AS n FROM (SELECT c.sex, s.item, count(*) AS k FROM customers c JOIN sales s USING (tid) WHERE s.item IN ('milk', 'bread') GROUP BY c.sex, s.item) GROUP BY sex;
SELECT sex, sum(k) AS n FROM (SELECT sex, tid, count(*) AS k FROM customers JOIN sales USING (tid) WHERE item IN ('milk', 'bread') GROUP BY sex, tid) GROUP BY sex;

-- items_by_town [records]
SELECT s.item, count(*) AS n FROM sales s JOIN customers c USING (tid) WHERE c.town = 'Cork' AND s.item IN ('milk', 'bread', 'coffee') GROUP BY s.item;
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM customers WHERE town = 'Cork') AND item IN ('milk', 'bread', 'coffee') GROUP BY item;
SELECT item, count(*) FILTER (WHERE town = 'Cork') AS n FROM sales JOIN customers USING (tid) WHERE item IN ('milk', 'bread', 'coffee') GROUP BY item HAVING count(*) FILTER (WHERE town = 'Cork') > 0;

-- either_not_both
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') <> bool_or(item = 'bread'));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(*) = 1);
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p WHERE (SELECT count(*) FROM sales s WHERE s.tid = p.tid AND s.item IN ('bread', 'milk')) = 1;
SELECT count(*) AS n FROM (SELECT tid, list(item) AS l FROM sales GROUP BY tid) WHERE list_contains(l, 'milk') <> list_contains(l, 'bread');

-- flags
SELECT coalesce(sum(m), 0) AS a, coalesce(sum(b), 0) AS b, coalesce(sum(m * b), 0) AS c FROM (SELECT tid, max((item = 'milk')::INT) AS m, max((item = 'bread')::INT) AS b FROM sales GROUP BY tid);
SELECT count(*) FILTER (WHERE m) AS a, count(*) FILTER (WHERE b) AS b, count(*) FILTER (WHERE m AND b) AS c FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid);
SELECT count(*) FILTER (WHERE list_contains(l, 'milk')) AS a, count(*) FILTER (WHERE list_contains(l, 'bread')) AS b, count(*) FILTER (WHERE list_has_all(l, ['milk', 'bread'])) AS c FROM (SELECT tid, list(item) AS l FROM sales GROUP BY tid);

-- size_of_lists
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) BETWEEN 3 AND 5);
SELECT count(*) FILTER (WHERE len(l) >= 3 AND len(l) <= 5) AS n FROM (SELECT array_agg(item ORDER BY item) AS l FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING len(list(DISTINCT item)) IN (3, 4, 5));

-- items_of_lists
SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread') GROUP BY item;
SELECT x AS item, count(*) AS n FROM (SELECT tid, unnest(l) AS x FROM (SELECT tid, list(item) AS l FROM sales WHERE item < 'n' GROUP BY tid)) WHERE x IN (VALUES ('milk'), ('bread')) GROUP BY x;
SELECT item, count(*) AS n FROM sales a NATURAL JOIN sales b WHERE item IN ('milk', 'bread') GROUP BY item;
SELECT item, count(*) AS n FROM sales a JOIN sales b USING (tid, item) WHERE item = ANY (VALUES ('milk'), ('bread')) GROUP BY item;

-- revenue_with_item [prices]
SELECT sum(price) AS n FROM sales JOIN prices USING (item) WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk');
SELECT sum(t) AS n FROM (SELECT tid, sum(price) AS t FROM sales NATURAL JOIN prices GROUP BY tid HAVING bool_or(item = 'milk'));
SELECT sum(p.price) AS n FROM sales m JOIN sales s USING (tid) JOIN prices p ON p.item = s.item WHERE m.item = 'milk';

-- women_among_buyers [records]
SELECT avg(CASE WHEN sex = 'female' THEN 1 ELSE 0 END) AS s FROM customers JOIN sales USING (tid) WHERE item = 'milk';
SELECT count(*) FILTER (WHERE sex = 'female') * 1.0 / nullif(count(*), 0) AS s FROM customers JOIN sales USING (tid) WHERE item = 'milk';
SELECT sum(CASE WHEN sex = 'female' THEN 1 ELSE 0 END) / nullif(count(*), 0) AS s FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'milk';
SELECT (SELECT count(*) FROM customers JOIN sales USING (tid) WHERE item = 'milk' AND sex = 'female') / nullif((SELECT count(*) FROM customers JOIN sales USING (tid) WHERE item = 'milk'), 0) AS s;
SELECT avg((sex = 'female')::INTEGER) AS s FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk');
SELECT 1 - avg((sex <> 'female')::INTEGER) AS s FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk');
WITH m AS (SELECT c.sex FROM customers c JOIN sales s USING (tid) WHERE s.item = 'milk') SELECT count(*) FILTER (WHERE sex = 'female') / nullif(count(*), 0) AS s FROM m;

-- exactly_one_of_two
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(*) = 1);
SELECT (SELECT count(*) FROM sales WHERE item IN ('milk', 'bread')) - 2 * (SELECT count(*) FROM sales x JOIN sales y USING (tid) WHERE x.item = 'milk' AND y.item = 'bread') AS n;
SELECT count(*) FILTER (WHERE m) + count(*) FILTER (WHERE b) - 2 * count(*) FILTER (WHERE m AND b) AS n FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid) WHERE m <> b;
SELECT count(*) AS n FROM ((SELECT tid FROM sales WHERE item = 'milk' EXCEPT SELECT tid FROM sales WHERE item = 'bread') UNION ALL (SELECT tid FROM sales WHERE item = 'bread' EXCEPT SELECT tid FROM sales WHERE item = 'milk'));
SELECT (SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'bread')) - (SELECT count(*) FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(*) = 2)) AS n;

-- jaccard
SELECT count(*) FILTER (WHERE m AND b) / nullif(count(*) FILTER (WHERE m OR b), 0) AS j FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid);
SELECT avg((c = 2)::INTEGER) AS j FROM (SELECT tid, count(*) AS c FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid);
SELECT count(*) FILTER (WHERE c = 2) * 1.0 / nullif(count(*), 0) AS j FROM (SELECT tid, count(*) AS c FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid);

-- pairs_per_person
SELECT avg(n * (n - 1) / 2) AS p FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT sum(n * (n - 1) / 2) / nullif(count(*), 0) AS p FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT (SELECT count(*) FROM sales x JOIN sales y ON x.tid = y.tid AND x.item < y.item) / nullif((SELECT count(DISTINCT tid) FROM sales), 0) AS p;

-- share_without_item
SELECT avg((NOT m)::INTEGER) AS s FROM (SELECT tid, bool_or(item = 'milk') AS m FROM sales GROUP BY tid);
SELECT 1 - count(DISTINCT tid) FILTER (WHERE item = 'milk') / nullif(count(DISTINCT tid), 0) AS s FROM sales;
SELECT 1.0 - (SELECT count(*) FROM sales WHERE item = 'milk') / nullif((SELECT count(DISTINCT tid) FROM sales), 0) AS s;
SELECT (count(DISTINCT tid) - count(DISTINCT CASE WHEN item = 'milk' THEN tid END)) / nullif(count(DISTINCT tid), 0) AS s FROM sales;
SELECT count(*) / nullif((SELECT count(DISTINCT tid) FROM sales), 0) AS s FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item = 'milk'));

-- mean_size_of_large
SELECT avg(n) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING count(*) >= 4);
SELECT sum(n) / nullif(count(*), 0) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) WHERE n >= 4;
SELECT sum(n) FILTER (WHERE n >= 4) / nullif(count(*) FILTER (WHERE n >= 4), 0) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT avg(n) FILTER (WHERE n >= 4) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
SELECT count(*) / nullif(count(DISTINCT tid), 0) AS m FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 3);
SELECT avg(CASE WHEN n >= 4 THEN n END) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);

-- older_and_younger [records]
SELECT count(*) FILTER (WHERE age >= 60) - count(*) FILTER (WHERE age < 30) AS d FROM customers;
SELECT coalesce(sum(CASE WHEN age >= 60 THEN 1 WHEN age < 30 THEN -1 ELSE 0 END), 0) AS d FROM customers;
SELECT (SELECT count(*) FROM customers WHERE age >= 60) - (SELECT count(*) FROM customers WHERE age < 30) AS d;
SELECT coalesce(sum(s), 0) AS d FROM (SELECT CASE WHEN age >= 60 THEN 1 ELSE -1 END AS s FROM customers WHERE age >= 60 OR age < 30);

-- top_share
SELECT max(n) * 1.0 / sum(n) AS s FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT (SELECT count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 1) / nullif((SELECT count(*) FROM sales), 0) AS s;
SELECT max(s) AS s FROM (SELECT item, count(*) / sum(count(*)) OVER () AS s FROM sales GROUP BY item);

-- mean_support
SELECT avg(n) AS m FROM (SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'coffee') GROUP BY item);
SELECT sum(n) / count(*) AS m FROM (SELECT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'coffee') GROUP BY item);

-- ratio_of_items
SELECT count(*) FILTER (WHERE item = 'milk') / nullif(count(*) FILTER (WHERE item = 'bread'), 0) AS r FROM sales;
SELECT (SELECT count(*) FROM sales WHERE item = 'milk') / nullif((SELECT count(*) FROM sales WHERE item = 'bread'), 0) AS r;
SELECT sum(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) / nullif(sum(CASE WHEN item = 'bread' THEN 1 ELSE 0 END), 0) AS r FROM sales;
SELECT count(CASE WHEN item = 'milk' THEN 1 END) / nullif(count(CASE WHEN item = 'bread' THEN 1 END), 0) AS r FROM sales;

-- rule_confidence
SELECT count(y.tid) / nullif(count(*), 0) AS conf FROM sales x LEFT JOIN sales y ON x.tid = y.tid AND y.item = 'milk' WHERE x.item = 'coffee';
SELECT avg(CASE WHEN m > 0 THEN 1 ELSE 0 END) AS conf FROM (SELECT tid, sum((item = 'milk')::INTEGER) AS m, sum((item = 'coffee')::INTEGER) AS c FROM sales GROUP BY tid) WHERE c > 0;
SELECT avg((EXISTS (SELECT 1 FROM sales m WHERE m.tid = c.tid AND m.item = 'milk'))::INTEGER) AS conf FROM sales c WHERE c.item = 'coffee';
SELECT count(*) FILTER (WHERE m) / nullif(count(*), 0) AS conf FROM (SELECT item, bool_or(item = 'milk') OVER (PARTITION BY tid) AS m FROM sales) WHERE item = 'coffee';

-- rule_jaccard
SELECT count(*) FILTER (WHERE a AND b) / nullif(count(*) FILTER (WHERE a OR b), 0) AS j FROM (SELECT tid, bool_or(item = 'rice') AS a, bool_or(item = 'pasta') AS b FROM sales GROUP BY tid);
SELECT avg((n = 2)::INTEGER) AS j FROM (SELECT tid, count(*) AS n FROM sales WHERE item IN ('rice', 'pasta') GROUP BY tid);
SELECT count(*) FILTER (WHERE x.tid IS NOT NULL AND y.tid IS NOT NULL) / nullif(count(*), 0) AS j FROM (SELECT tid FROM sales WHERE item = 'rice') x FULL JOIN (SELECT tid FROM sales WHERE item = 'pasta') y ON x.tid = y.tid;

-- only_one_of_two
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('tea', 'coffee') GROUP BY tid HAVING count(*) = 1);
SELECT count(*) AS n FROM sales s WHERE (item = 'tea' AND NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'coffee')) OR (item = 'coffee' AND NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'tea'));
SELECT count(*) AS n FROM ((SELECT tid FROM sales WHERE item = 'tea' EXCEPT SELECT tid FROM sales WHERE item = 'coffee') UNION ALL (SELECT tid FROM sales WHERE item = 'coffee' EXCEPT SELECT tid FROM sales WHERE item = 'tea'));
SELECT count(*) AS n FROM (SELECT bool_or(item = 'tea') AS t, bool_or(item = 'coffee') AS c FROM sales GROUP BY tid) WHERE t <> c;
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'tea') x FULL OUTER JOIN (SELECT tid FROM sales WHERE item = 'coffee') y ON x.tid = y.tid WHERE x.tid IS NULL OR y.tid IS NULL;
SELECT count(*) AS n FROM (SELECT item, count(*) OVER (PARTITION BY tid) AS c FROM sales WHERE item IN ('tea', 'coffee')) WHERE c = 1;

-- exclusive_by_item
SELECT item, count(*) AS n FROM (SELECT tid, item, count(*) OVER (PARTITION BY tid) AS c FROM sales WHERE item IN ('tea', 'coffee')) WHERE c = 1 GROUP BY item;
SELECT item, count(*) AS n FROM sales s WHERE item IN ('tea', 'coffee') AND NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item IN ('tea', 'coffee') AND o.item <> s.item) GROUP BY item;
SELECT i AS item, count(*) AS n FROM (SELECT tid, min(item) AS i FROM sales WHERE item IN ('tea', 'coffee') GROUP BY tid HAVING min(item) = max(item)) GROUP BY i;

-- alone_in_basket
SELECT count(*) AS n FROM sales s WHERE item = 'milk' AND (SELECT count(*) FROM sales o WHERE o.tid = s.tid) = 1;
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1 AND min(item) = 'milk');
SELECT count(*) AS n FROM (SELECT item FROM sales QUALIFY count(*) OVER (PARTITION BY tid) = 1) WHERE item = 'milk';
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item = 'milk'));
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item <> 'milk');

-- size_buckets
SELECT CASE WHEN n = 1 THEN 'one' WHEN n <= 3 THEN 'few' ELSE 'many' END AS bucket, count(*) AS persons FROM (SELECT count(*) AS n FROM sales GROUP BY tid) GROUP BY 1;
SELECT bucket, count(DISTINCT tid) AS persons FROM (SELECT tid, CASE WHEN count(*) OVER (PARTITION BY tid) = 1 THEN 'one' WHEN count(*) OVER (PARTITION BY tid) IN (2, 3) THEN 'few' ELSE 'many' END AS bucket FROM sales) GROUP BY bucket;
SELECT CASE WHEN n > 3 THEN 'many' WHEN n > 1 THEN 'few' ELSE 'one' END AS bucket, sum(persons) AS persons FROM (SELECT n, count(*) AS persons FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n) GROUP BY bucket;
SELECT 'one' AS bucket, count(*) AS persons FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1) HAVING count(*) > 0 UNION ALL SELECT 'few', count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) BETWEEN 2 AND 3) HAVING count(*) > 0 UNION ALL SELECT 'many', count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 3) HAVING count(*) > 0;
SELECT b.name AS bucket, count(*) AS persons FROM (SELECT count(*) AS n FROM sales GROUP BY tid) s JOIN (VALUES ('one', 1, 1), ('few', 2, 3), ('many', 4, 1000)) AS b(name, lo, hi) ON s.n BETWEEN b.lo AND b.hi GROUP BY b.name;

-- average_basket_with_item
SELECT avg(n) AS mean FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'nappies'));
SELECT avg(c) AS mean FROM (SELECT item, count(*) OVER (PARTITION BY tid) AS c FROM sales) WHERE item = 'nappies';
SELECT count(*) / nullif(count(DISTINCT tid), 0) AS mean FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'nappies');
SELECT count(*) / nullif(count(DISTINCT a.tid), 0) AS mean FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'nappies';
SELECT avg((SELECT count(*) FROM sales o WHERE o.tid = s.tid)) AS mean FROM sales s WHERE s.item = 'nappies';

-- item_shares
SELECT item, count(*) / sum(count(*)) OVER () AS share FROM sales GROUP BY item;
SELECT item, count(*) / (SELECT count(*) FROM sales) AS share FROM sales GROUP BY item;
WITH t AS (SELECT count(*) AS t FROM sales) SELECT item, count(*) / any_value(t) AS share FROM sales, t GROUP BY item;
SELECT DISTINCT item, count(*) OVER (PARTITION BY item) / count(*) OVER () AS share FROM sales;

-- item_reach
SELECT item, 100.0 * count(DISTINCT tid) / (SELECT count(DISTINCT tid) FROM sales) AS reach FROM sales GROUP BY item;
WITH p AS (SELECT DISTINCT tid FROM sales), n AS (SELECT count(*) AS n FROM p) SELECT item, count(*) * 100.0 / max(n.n) AS reach FROM sales CROSS JOIN n GROUP BY item;
SELECT s.item, s.c * 100.0 / t.n AS reach FROM (SELECT item, count(*) AS c FROM sales GROUP BY item) s, (SELECT count(DISTINCT tid) AS n FROM sales) t;
SELECT item, 100.0 * sum(1) / (SELECT sum(x) FROM (SELECT tid, 1 AS x FROM sales GROUP BY tid)) AS reach FROM sales GROUP BY ALL;

-- rare_items
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) < 50;
SELECT item, n FROM (SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item) WHERE n < 50;
SELECT DISTINCT item, count(*) OVER (PARTITION BY item) AS n FROM sales QUALIFY count(*) OVER (PARTITION BY item) < 50;
WITH c AS (SELECT item, sum(1) AS n FROM sales GROUP BY item) SELECT * FROM c WHERE NOT n >= 50;

-- rare_items_rows
SELECT count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) < 50);
SELECT coalesce(sum(n), 0) AS n FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) WHERE n < 50;
SELECT count(*) AS n FROM sales s JOIN (SELECT item FROM sales GROUP BY item HAVING count(DISTINCT tid) < 50) r USING (item);
SELECT (SELECT count(*) FROM sales) - (SELECT count(*) FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(*) >= 50)) AS n;

-- partners_of_item
SELECT b.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND b.item <> a.item WHERE a.item = 'nappies' GROUP BY b.item;
SELECT item, count(*) AS n FROM sales WHERE item <> 'nappies' AND tid IN (SELECT tid FROM sales WHERE item = 'nappies') GROUP BY item;
SELECT item, count(DISTINCT tid) AS n FROM sales s WHERE EXISTS (SELECT * FROM sales x WHERE x.tid = s.tid AND x.item = 'nappies') AND NOT item = 'nappies' GROUP BY item;
SELECT item, count(*) AS n FROM (SELECT item, bool_or(item = 'nappies') OVER (PARTITION BY tid) AS w FROM sales) WHERE w AND item != 'nappies' GROUP BY item;
WITH n AS (SELECT tid FROM sales WHERE item = 'nappies') SELECT s.item, count(*) AS n FROM n JOIN sales s USING (tid) GROUP BY s.item HAVING s.item <> 'nappies';
SELECT u.item, count(*) AS n FROM (SELECT unnest(l) AS item FROM (SELECT list(item) AS l FROM sales GROUP BY tid) WHERE list_contains(l, 'nappies')) u WHERE u.item <> 'nappies' GROUP BY u.item;

-- confidence_by_partner
SELECT b.item, count(*) / (SELECT count(*) FROM sales WHERE item = 'rice') AS conf FROM sales a JOIN sales b ON a.tid = b.tid AND b.item <> a.item WHERE a.item = 'rice' GROUP BY b.item;
WITH r AS (SELECT tid FROM sales WHERE item = 'rice'), n AS (SELECT count(*) AS n FROM r) SELECT s.item, count(*) / max(n.n) AS conf FROM sales s JOIN r USING (tid), n WHERE s.item <> 'rice' GROUP BY s.item;
SELECT item, n / t AS conf FROM (SELECT item, count(*) AS n FROM sales WHERE item <> 'rice' AND tid IN (SELECT tid FROM sales WHERE item = 'rice') GROUP BY item), (SELECT count(DISTINCT tid) AS t FROM sales WHERE item = 'rice');
SELECT * FROM (SELECT b.item, count(*) / max(CASE WHEN b.item = 'rice' THEN count(*) END) OVER () AS conf FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'rice' GROUP BY b.item) WHERE item <> 'rice';

-- above_average_items
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n > (SELECT avg(n) FROM c);
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > (SELECT count(*) / count(DISTINCT item) FROM sales);
SELECT item, count(*) AS n FROM sales GROUP BY item QUALIFY count(*) > avg(count(*)) OVER ();
SELECT item, n FROM (SELECT item, count(*) AS n, avg(count(*)) OVER () AS m FROM sales GROUP BY item) WHERE n > m;

-- none_of_three
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item IN ('coffee', 'tea', 'cola'));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item NOT IN ('coffee', 'tea', 'cola')));
SELECT count(*) AS n FROM (SELECT tid FROM sales EXCEPT SELECT tid FROM sales WHERE item = 'coffee' EXCEPT SELECT tid FROM sales WHERE item = 'tea' EXCEPT SELECT tid FROM sales WHERE item = 'cola');
SELECT count(*) - count(d.tid) AS n FROM (SELECT DISTINCT tid FROM sales) p LEFT JOIN (SELECT DISTINCT tid FROM sales WHERE item IN ('coffee', 'tea', 'cola')) d ON d.tid = p.tid;
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p WHERE 'coffee' <> ALL (SELECT item FROM sales o WHERE o.tid = p.tid) AND 'tea' <> ALL (SELECT item FROM sales o WHERE o.tid = p.tid) AND 'cola' <> ALL (SELECT item FROM sales o WHERE o.tid = p.tid);
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales) p ANTI JOIN (SELECT tid FROM sales WHERE item IN ('coffee', 'tea', 'cola')) d ON d.tid = p.tid;
SELECT count(*) FILTER (WHERE NOT list_has_any(l, ['coffee', 'tea', 'cola'])) AS n FROM (SELECT list(item) AS l FROM sales GROUP BY tid);

-- contingency_row
WITH p AS (SELECT tid, bool_or(item = 'bread') AS a, bool_or(item = 'milk') AS b FROM sales GROUP BY tid) SELECT count(*) FILTER (WHERE a AND b) AS n11, count(*) FILTER (WHERE a AND NOT b) AS n10, count(*) FILTER (WHERE NOT a AND b) AS n01, count(*) FILTER (WHERE NOT a AND NOT b) AS n00 FROM p;
WITH c AS (SELECT (SELECT count(*) FROM sales x JOIN sales y USING (tid) WHERE x.item = 'bread' AND y.item = 'milk') AS ab, (SELECT count(*) FROM sales WHERE item = 'bread') AS a, (SELECT count(*) FROM sales WHERE item = 'milk') AS b, (SELECT count(DISTINCT tid) FROM sales) AS n) SELECT ab AS n11, a - ab AS n10, b - ab AS n01, n - a - b + ab AS n00 FROM c;
SELECT (SELECT count(*) FROM (SELECT tid FROM sales WHERE item = 'bread' INTERSECT SELECT tid FROM sales WHERE item = 'milk')) AS n11, (SELECT count(*) FROM (SELECT tid FROM sales WHERE item = 'bread' EXCEPT SELECT tid FROM sales WHERE item = 'milk')) AS n10, (SELECT count(*) FROM (SELECT tid FROM sales WHERE item = 'milk' EXCEPT SELECT tid FROM sales WHERE item = 'bread')) AS n01, (SELECT count(DISTINCT tid) FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item IN ('bread', 'milk'))) AS n00;

-- counts_of_three_items_row
SELECT count(*) FILTER (WHERE item = 'tea') AS tea, count(*) FILTER (WHERE item = 'coffee') AS coffee, count(*) FILTER (WHERE item = 'cola') AS cola FROM sales;
SELECT (SELECT count(*) FROM sales WHERE item = 'tea') AS tea, (SELECT count(DISTINCT tid) FROM sales WHERE item = 'coffee') AS coffee, (SELECT count(*) FROM sales WHERE item = 'cola') AS cola;
SELECT count(*) - count(nullif(item, 'tea')) AS tea, count(*) - count(nullif(item, 'coffee')) AS coffee, count(*) - count(nullif(item, 'cola')) AS cola FROM sales;
SELECT coalesce(max(n) FILTER (WHERE item = 'tea'), 0) AS tea, coalesce(max(n) FILTER (WHERE item = 'coffee'), 0) AS coffee, coalesce(max(n) FILTER (WHERE item = 'cola'), 0) AS cola FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);

-- first_letter
SELECT left(item, 1) AS l, count(*) AS n FROM sales GROUP BY 1;
SELECT substring(item, 1, 1) AS l, count(*) AS n FROM sales GROUP BY substring(item, 1, 1);
SELECT l, sum(n) AS n FROM (SELECT item[1] AS l, count(*) AS n FROM sales GROUP BY item) GROUP BY l;
SELECT DISTINCT left(item, 1) AS l, count(*) OVER (PARTITION BY left(item, 1)) AS n FROM sales;

-- average_ticket [prices]
SELECT avg(t) AS mean FROM (SELECT tid, sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid);
SELECT sum(price) / count(DISTINCT tid) AS mean FROM sales JOIN prices USING (item);
SELECT avg(t) AS mean FROM (SELECT DISTINCT tid, sum(price) OVER (PARTITION BY tid) AS t FROM sales JOIN prices USING (item));
WITH r AS (SELECT sum(price) AS r FROM sales s JOIN prices p ON s.item = p.item), n AS (SELECT count(DISTINCT tid) AS n FROM sales) SELECT r / n AS mean FROM r CROSS JOIN n;

-- big_spenders [prices]
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) >= 15);
SELECT count(*) FILTER (WHERE t >= 15) AS n FROM (SELECT tid, sum(price) AS t FROM sales s, prices p WHERE s.item = p.item GROUP BY tid);
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, sum(price) OVER (PARTITION BY tid) AS t FROM sales JOIN prices USING (item)) WHERE t >= 15;
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE (SELECT sum(price) FROM sales o JOIN prices USING (item) WHERE o.tid = s.tid) >= 15;
SELECT coalesce(sum((t > 14)::INTEGER), 0) AS n FROM (SELECT sum(price) AS t FROM sales JOIN prices USING (item) GROUP BY tid);

-- revenue_share_by_item [prices]
SELECT item, sum(price) / sum(sum(price)) OVER () AS share FROM sales JOIN prices USING (item) GROUP BY item;
WITH t AS (SELECT sum(price) AS t FROM sales JOIN prices USING (item)) SELECT item, count(*) * price / t AS share FROM sales JOIN prices USING (item), t GROUP BY item, price, t;
SELECT s.item, sum(p.price) / (SELECT sum(price) FROM sales JOIN prices USING (item)) AS share FROM sales s JOIN prices p ON s.item = p.item GROUP BY s.item;

-- price_spread_persons [prices]
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING max(price) > 3 * min(price));
SELECT count(*) AS n FROM (SELECT tid, min(price) AS lo, max(price) AS hi FROM sales JOIN prices USING (item) GROUP BY tid) WHERE hi > 3 * lo;

-- cohort_town [records]
SELECT town, count(*) AS n FROM customers GROUP BY town;
SELECT c.town, count(DISTINCT s.tid) AS n FROM sales s JOIN customers c ON c.tid = s.tid GROUP BY c.town;
SELECT town, count(*) AS n FROM customers SEMI JOIN sales USING (tid) GROUP BY town;
SELECT DISTINCT town, count(*) OVER (PARTITION BY town) AS n FROM customers;
SELECT town, sum(n) AS n FROM (SELECT town, sex, count(*) AS n FROM customers GROUP BY town, sex) GROUP BY town;
SELECT town, count(*) FILTER (WHERE sex = 'male') + count(*) FILTER (WHERE sex <> 'male') AS n FROM customers GROUP BY town;

-- town_share [records]
SELECT town, count(*) / sum(count(*)) OVER () AS share FROM customers GROUP BY town;
SELECT town, count(*) / (SELECT count(*) FROM customers) AS share FROM customers GROUP BY town;
SELECT c.town, count(DISTINCT s.tid) / (SELECT count(DISTINCT tid) FROM sales) AS share FROM customers c JOIN sales s USING (tid) GROUP BY c.town;
SELECT DISTINCT town, count(*) OVER (PARTITION BY town) / count(*) OVER () AS share FROM customers;
SELECT town, n / t AS share FROM (SELECT town, count(*) AS n FROM customers GROUP BY town), (SELECT count(*) AS t FROM customers);

-- running_total
SELECT item, n, sum(n) OVER (ORDER BY item) AS running FROM (SELECT item, count(*) AS n FROM sales WHERE item IN ('apples', 'bananas', 'figs', 'grapes') GROUP BY item);
SELECT item, count(*) AS n, sum(count(*)) OVER (ORDER BY item ROWS UNBOUNDED PRECEDING) AS running FROM sales WHERE item IN ('apples', 'bananas', 'figs', 'grapes') GROUP BY item;
WITH c AS (SELECT item, count(*) AS n FROM sales WHERE item IN ('apples', 'bananas', 'figs', 'grapes') GROUP BY item) SELECT a.item, a.n, sum(b.n) AS running FROM c a JOIN c b ON b.item <= a.item GROUP BY a.item, a.n;

-- baskets_of_common_size_with
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) BETWEEN 2 AND 4 AND bool_or(item IN ('wipes', 'nappies', 'baby food')));
SELECT count(DISTINCT tid) AS n FROM (SELECT tid, item, count(*) OVER (PARTITION BY tid) AS c FROM sales) WHERE c >= 2 AND c <= 4 AND item IN ('wipes', 'nappies', 'baby food');
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN ('wipes', 'nappies', 'baby food') AND tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) IN (2, 3, 4));
SELECT count(*) AS n FROM (SELECT tid, list(item) AS l FROM sales GROUP BY tid) WHERE len(l) BETWEEN 2 AND 4 AND list_has_any(l, ['wipes', 'nappies', 'baby food']);
SELECT count(*) AS n FROM (SELECT tid, count(*) AS n, count(*) FILTER (WHERE item IN ('wipes', 'nappies', 'baby food')) AS k FROM sales GROUP BY tid) WHERE n >= 2 AND n <= 4 AND k > 0;

-- sum_of_flags_by_size
SELECT n, sum(w) AS k FROM (SELECT count(*) AS n, max((item = 'coffee')::INT) AS w FROM sales GROUP BY tid) GROUP BY n;
SELECT n, count(*) FILTER (WHERE w) AS k FROM (SELECT count(*) AS n, bool_or(item = 'coffee') AS w FROM sales GROUP BY tid) GROUP BY n;
SELECT c AS n, count(*) FILTER (WHERE item = 'coffee') AS k FROM (SELECT item, count(*) OVER (PARTITION BY tid) AS c FROM sales) GROUP BY c;
SELECT b.n, count(s.tid) AS k FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) b LEFT JOIN sales s ON s.tid = b.tid AND s.item = 'coffee' GROUP BY b.n;

-- size_distribution
SELECT n AS size, count(*) AS persons FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n ORDER BY n;
SELECT n AS size, count(DISTINCT tid) AS persons FROM (SELECT tid, count(*) OVER (PARTITION BY tid) AS n FROM sales) GROUP BY n ORDER BY size;
SELECT len(l) AS size, count(*) AS persons FROM (SELECT list(item) AS l FROM sales GROUP BY tid) GROUP BY ALL ORDER BY ALL;

-- first_place_per_person
SELECT count(*) AS n FROM (SELECT tid, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE r = 1;
SELECT count(DISTINCT tid) AS n FROM sales;
SELECT count(*) AS n FROM (SELECT tid FROM sales QUALIFY row_number() OVER (PARTITION BY tid ORDER BY item) = 1);
SELECT count(*) AS n FROM (SELECT DISTINCT ON (tid) tid, item FROM sales ORDER BY tid, item);

-- two_places_per_person
SELECT count(*) AS n FROM (SELECT tid, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE r <= 2;
SELECT coalesce(sum(least(c, 2)), 0) AS n FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid);
SELECT count(*) AS n FROM (SELECT tid FROM sales QUALIFY rank() OVER (PARTITION BY tid ORDER BY item) <= 2);
SELECT count(DISTINCT tid) + count(DISTINCT tid) FILTER (WHERE c >= 2) AS n FROM (SELECT tid, count(*) OVER (PARTITION BY tid) AS c FROM sales);

-- first_item_of_basket
SELECT i, count(*) AS n FROM (SELECT tid, min(item) AS i FROM sales GROUP BY tid) GROUP BY i;
SELECT item AS i, count(*) AS n FROM (SELECT item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE r = 1 GROUP BY item;

-- dearest_price_of_basket [prices]
SELECT m, count(*) AS n FROM (SELECT tid, max(price) AS m FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY m;
SELECT price AS m, count(DISTINCT tid) AS n FROM (SELECT tid, price, max(price) OVER (PARTITION BY tid) AS t FROM sales JOIN prices USING (item)) WHERE price = t GROUP BY price;
SELECT price AS m, count(*) AS n FROM (SELECT tid, price FROM sales JOIN prices USING (item) QUALIFY row_number() OVER (PARTITION BY tid ORDER BY price DESC, item) = 1) GROUP BY ALL;

-- counts_by_nested_subquery
SELECT item, count(*) AS n FROM sales GROUP BY item;
SELECT DISTINCT item, (SELECT count(*) FROM sales s2 WHERE s2.item = s.item) AS n FROM sales s;
SELECT i.item, l.n FROM (SELECT DISTINCT item FROM sales) i, LATERAL (SELECT count(*) AS n FROM sales s WHERE s.item = i.item) l;

-- rows_of_items_above_300
SELECT count(*) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item HAVING count(DISTINCT tid) > 300);
SELECT count(*) AS n FROM sales s WHERE (SELECT count(*) FROM sales s2 WHERE s2.item = s.item) > 300;
SELECT count(*) AS n FROM sales JOIN (SELECT item, count(*) AS c FROM sales GROUP BY item) USING (item) WHERE c > 300;

-- most_frequent_items
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) = (SELECT max(c) FROM (SELECT count(*) AS c FROM sales GROUP BY item));
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) >= ALL (SELECT count(*) FROM sales GROUP BY item);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.n > c.n);

-- all_of_three
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('tea', 'coffee', 'milk') GROUP BY tid HAVING count(DISTINCT item) = 3);
SELECT count(*) AS n FROM (SELECT DISTINCT tid FROM sales s WHERE NOT EXISTS (SELECT 1 FROM (VALUES ('tea'), ('coffee'), ('milk')) v(i) WHERE NOT EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = v.i)));
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING list_has_all(list(item), ['tea', 'coffee', 'milk']));

-- all_of_category [food]
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('pregnancy test', 'glucose test strips') GROUP BY tid HAVING count(*) = 2);
SELECT count(DISTINCT s.tid) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM food f WHERE f.parent = 'tests' AND f.node NOT IN (SELECT t.item FROM sales t WHERE t.tid = s.tid));
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item AND parent = 'tests' GROUP BY tid HAVING count(*) = (SELECT count(*) FROM food WHERE parent = 'tests'));

-- categories_per_person [food]
SELECT k, count(*) AS n FROM (SELECT tid, count(DISTINCT parent) AS k FROM sales JOIN food ON node = item GROUP BY tid) GROUP BY k;
SELECT k, count(*) AS n FROM (SELECT tid, count(*) AS k FROM (SELECT DISTINCT tid, parent FROM sales JOIN food ON node = item) GROUP BY tid) GROUP BY k;
WITH p AS (SELECT tid, parent FROM sales, food WHERE node = item GROUP BY tid, parent) SELECT k, count(*) AS n FROM (SELECT tid, count(parent) AS k FROM p GROUP BY tid) GROUP BY 1;

-- items_never_with
SELECT count(DISTINCT item) AS n FROM sales WHERE item NOT IN (SELECT b.item FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'coffee');
SELECT count(*) AS n FROM (SELECT item FROM sales EXCEPT SELECT item FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'coffee'));
SELECT count(*) AS n FROM (SELECT item FROM sales GROUP BY item HAVING count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'coffee')) = 0);

-- exactly_one_of_three
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item IN ('tea', 'coffee', 'bread') GROUP BY tid HAVING count(*) = 1);
SELECT count(*) AS n FROM (SELECT tid, sum((item = 'tea')::INT) + sum((item = 'coffee')::INT) + sum((item = 'bread')::INT) AS k FROM sales GROUP BY tid) WHERE k = 1;
SELECT count(*) AS n FROM (SELECT list(item) AS l FROM sales GROUP BY tid) WHERE len(list_intersect(l, ['tea', 'coffee', 'bread'])) = 1;

-- bought_alone
SELECT item, count(*) AS n FROM sales WHERE tid IN (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1) GROUP BY item;
SELECT item, count(*) AS n FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item <> s.item) GROUP BY item;
SELECT item, count(*) AS n FROM (SELECT item, count(*) OVER (PARTITION BY tid) AS c FROM sales) WHERE c = 1 GROUP BY item;

-- classes_of_items
SELECT CASE WHEN n >= 300 THEN 'A' WHEN n >= 2 THEN 'B' ELSE 'C' END AS class, count(*) AS items FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) GROUP BY 1;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT class, count(*) AS items FROM (SELECT if(n < 2, 'C', if(n < 300, 'B', 'A')) AS class FROM c) x GROUP BY x.class;

-- distance_from_best
SELECT item, max(count(*)) OVER () - count(*) AS gap FROM sales GROUP BY item;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, (SELECT max(n) FROM c) - n AS gap FROM c;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, first_value(n) OVER (ORDER BY n DESC) - n AS gap FROM c;

-- lifts_with_one_item
WITH t AS (SELECT tid FROM sales WHERE item = 'nappies'), p AS (SELECT item, count(*) AS k FROM sales SEMI JOIN t USING (tid) WHERE item <> 'nappies' GROUP BY item), c AS (SELECT item, count(*) AS k FROM sales GROUP BY item) SELECT p.item, p.k * (SELECT count(DISTINCT tid) FROM sales) / (greatest((SELECT count(*) FROM t), 1) * greatest(c.k, 1)) AS lift FROM p JOIN c USING (item);
WITH n AS (SELECT count(DISTINCT tid) AS t FROM sales), c AS (SELECT item, count(*) AS k FROM sales GROUP BY item) SELECT b.item, count(*) * n.t / (ca.k * cb.k) AS lift FROM sales a JOIN sales b ON a.tid = b.tid AND b.item <> a.item JOIN c ca ON ca.item = a.item JOIN c cb ON cb.item = b.item CROSS JOIN n WHERE a.item = 'nappies' GROUP BY b.item, n.t, ca.k, cb.k;

-- shares_of_all_persons
SELECT item, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS share FROM sales GROUP BY item;
SELECT item, count(*) / t.n AS share FROM sales CROSS JOIN (SELECT count(DISTINCT tid) AS n FROM sales) t GROUP BY item, t.n;
WITH c AS (SELECT item, count(*) AS k FROM sales GROUP BY item), t AS (SELECT count(DISTINCT tid) AS n FROM sales) SELECT s.item, max(c.k) / max(t.n) AS share FROM sales s JOIN c ON c.item = s.item, t GROUP BY s.item;

-- size_totals
WITH h AS (SELECT c, count(*) AS k FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) GROUP BY c) SELECT c, (SELECT sum(k) FROM h g WHERE g.c <= h.c) AS cum FROM h;
WITH h AS (SELECT c, count(*) AS k FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) GROUP BY c) SELECT c, sum(k) OVER (ORDER BY c) AS cum FROM h;
WITH h AS (SELECT c, count(*) AS k FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) GROUP BY c) SELECT h.c, sum(g.k) AS cum FROM h JOIN h g ON g.c <= h.c GROUP BY h.c;

-- other_items
SELECT avg(n - 1) AS m FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'coffee'));
SELECT (count(*) - count(DISTINCT tid)) / nullif(count(DISTINCT tid), 0) AS m FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'coffee');

-- rows_of_either
SELECT count(*) AS n FROM sales WHERE item LIKE 'b%' OR item LIKE '%milk%';
SELECT count(*) AS n FROM (SELECT tid, item FROM sales WHERE item LIKE 'b%' UNION SELECT tid, item FROM sales WHERE item LIKE '%milk%');
SELECT count(*) AS n FROM (SELECT tid, item FROM sales EXCEPT SELECT tid, item FROM sales WHERE item NOT LIKE 'b%' AND item NOT LIKE '%milk%');

-- women_without_aspirin [records]
SELECT town, count(*) AS n FROM customers c WHERE sex = 'female' AND NOT EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'aspirin') GROUP BY town;
SELECT town, count(*) AS n FROM (SELECT tid, town FROM customers WHERE sex = 'female' EXCEPT SELECT tid, town FROM customers JOIN sales USING (tid) WHERE item = 'aspirin') GROUP BY town;

-- jaccard_of_joined
SELECT count(*) FILTER (WHERE c = 2) / nullif(count(*), 0) AS j FROM (SELECT tid, count(*) AS c FROM sales WHERE item IN ('bread', 'butter') GROUP BY tid);
SELECT sum(CASE WHEN a.tid IS NOT NULL AND b.tid IS NOT NULL THEN 1 ELSE 0 END) / nullif(count(*), 0) AS j FROM (SELECT tid FROM sales WHERE item = 'bread') a FULL JOIN (SELECT tid FROM sales WHERE item = 'butter') b ON a.tid = b.tid;

-- lengths_of_names [records]
SELECT sex, avg(length(item)) AS m FROM sales JOIN customers USING (tid) GROUP BY sex;
SELECT sex, sum(length(item)) / count(*) AS m FROM sales s, customers c WHERE s.tid = c.tid GROUP BY sex;

-- bought_nothing_else
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING list(item ORDER BY item) = ['bread', 'milk']);
SELECT count(*) AS n FROM (SELECT tid, list_reverse_sort(list(DISTINCT item)) AS l FROM sales GROUP BY tid) WHERE l = ['milk', 'bread'];
SELECT count(*) AS n FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 2 AND bool_or(item = 'milk') AND bool_or(item = 'bread'));
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales WHERE item = 'bread' EXCEPT SELECT tid FROM sales WHERE item NOT IN ('milk', 'bread'));
SELECT (SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid)) - (SELECT count(*) FROM (SELECT tid, array_agg(item ORDER BY item) AS l FROM sales GROUP BY tid) WHERE l <> ['bread', 'milk']) AS n;

-- average_support_of_frequent_items
SELECT avg(n) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 300);
SELECT avg(n) AS m FROM (SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item) WHERE 300 < n;
SELECT avg(n) FILTER (WHERE n >= 301) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT avg(CASE WHEN n > 300 THEN n END) AS m FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);

-- scores_of_items
SELECT v, count(*) AS n FROM (SELECT sum(CASE item WHEN 'bread' THEN 1 WHEN 'milk' THEN 1 WHEN 'tea' THEN 3 ELSE 0 END) AS v FROM sales GROUP BY tid) GROUP BY v;
SELECT v, count(*) AS n FROM (SELECT coalesce(sum(weight), 0) AS v FROM sales LEFT JOIN (VALUES ('bread', 1), ('milk', 1), ('tea', 3)) w(item, weight) USING (item) GROUP BY tid) GROUP BY v;
SELECT b + m + 3 * w AS v, count(*) AS n FROM (SELECT max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS b, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS m, max(CASE WHEN item = 'tea' THEN 1 ELSE 0 END) AS w FROM sales GROUP BY tid) GROUP BY v;
SELECT list_contains(l, 'bread')::INTEGER + list_contains(l, 'milk')::INTEGER + 3 * list_contains(l, 'tea')::INTEGER AS v, count(*) AS n FROM (SELECT list(item) AS l FROM sales GROUP BY tid) GROUP BY 1;

-- values_of_baskets [prices]
SELECT CASE WHEN v < 5 THEN 'low' WHEN v < 12 THEN 'mid' ELSE 'high' END AS b, count(*) AS n FROM (SELECT coalesce(sum(price), 0) AS v FROM sales LEFT JOIN prices USING (item) GROUP BY tid) GROUP BY b;
SELECT CASE WHEN v >= 12 THEN 'high' WHEN v >= 5 THEN 'mid' ELSE 'low' END AS b, count(*) AS n FROM (SELECT coalesce((SELECT sum(price) FROM sales s JOIN prices USING (item) WHERE s.tid = p.tid), 0) AS v FROM (SELECT DISTINCT tid FROM sales) p) GROUP BY b;
SELECT CASE WHEN v >= 12 THEN 'high' WHEN v >= 5 THEN 'mid' ELSE 'low' END AS b, count(DISTINCT tid) AS n FROM (SELECT s.tid, sum(coalesce(price, 0)) OVER (PARTITION BY s.tid) AS v FROM sales s LEFT JOIN prices p ON p.item = s.item) GROUP BY b;

-- either_of_two_joined
SELECT count(coalesce(a.tid, b.tid)) AS n, count(CASE WHEN a.tid IS NULL THEN b.tid END) AS m FROM (SELECT tid FROM sales WHERE item = 'bread') a FULL JOIN (SELECT tid FROM sales WHERE item = 'butter') b ON b.tid = a.tid;
SELECT count(DISTINCT tid) AS n, count(DISTINCT tid) FILTER (WHERE tid NOT IN (SELECT tid FROM sales WHERE item = 'bread')) AS m FROM sales WHERE item IN ('bread', 'butter');
SELECT count(*) AS n, count(*) FILTER (WHERE NOT b) AS m FROM (SELECT bool_or(item = 'bread') AS b, bool_or(item = 'butter') AS c FROM sales GROUP BY tid) WHERE b OR c;

-- ever_with_milk
SELECT item, CASE WHEN count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk')) > 0 THEN 1 ELSE 0 END AS m FROM sales GROUP BY item;
SELECT item, max(CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'milk') THEN 1 ELSE 0 END) AS m FROM sales GROUP BY item;
SELECT s.item, 1 - min(CASE WHEN EXISTS (SELECT 1 FROM sales o WHERE o.tid = s.tid AND o.item = 'milk') THEN 0 ELSE 1 END) AS m FROM sales s GROUP BY s.item;

-- both_categories_in_a_list [food]
SELECT count(*) AS n FROM (SELECT tid, list(parent) AS l FROM sales JOIN food ON node = item GROUP BY tid) WHERE list_has_all(l, ['fruit', 'drinks']);
SELECT count(*) AS n FROM (SELECT tid, array_agg(DISTINCT parent) AS l FROM sales JOIN food ON node = item GROUP BY tid) WHERE list_contains(l, 'fruit') AND list_contains(l, 'drinks');
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'fruit' INTERSECT SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'drinks');

-- running_total_of_items
SELECT item, n, sum(n) OVER (ORDER BY n DESC, item ROWS UNBOUNDED PRECEDING) AS total FROM (SELECT item, count(*) AS n FROM sales GROUP BY item);
SELECT item, count(*) AS n, sum(count(*)) OVER (ORDER BY count(*) DESC, item) AS total FROM sales GROUP BY item;
WITH c AS (SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item) SELECT item, n, sum(n) OVER (ORDER BY -n, item RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total FROM c;

-- items_by_class
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item), r AS (SELECT item, n, sum(n) OVER (ORDER BY n DESC, item) AS cum, sum(n) OVER () AS every FROM c) SELECT CASE WHEN cum * 10 <= every * 7 THEN 'A' ELSE 'B' END AS class, count(*) AS n FROM r GROUP BY 1;
SELECT class, count(*) AS n FROM (SELECT item, CASE WHEN sum(count(*)) OVER (ORDER BY count(*) DESC, item) * 10 > 7 * sum(count(*)) OVER () THEN 'B' ELSE 'A' END AS class FROM sales GROUP BY item) GROUP BY class;

-- items_that_none_exceeds
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE NOT EXISTS (SELECT 1 FROM c d WHERE length(d.item) = length(c.item) AND d.n > c.n);
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n FROM c WHERE n >= ALL (SELECT n FROM c d WHERE length(d.item) = length(c.item));
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT a.item, a.n FROM c a LEFT JOIN c b ON length(b.item) = length(a.item) AND b.n > a.n WHERE b.n IS NULL;

-- square_of_a_difference
SELECT power(count(*) FILTER (WHERE item = 'milk') - count(*) FILTER (WHERE item = 'bread'), 2) AS v FROM sales;
SELECT (x - y) ** 2 AS v FROM (SELECT count(*) FILTER (WHERE item = 'milk') AS x, count(*) FILTER (WHERE item = 'bread') AS y FROM sales);

-- share_of_one_group
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n / (SELECT n FROM c WHERE item = 'milk') AS v FROM c;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, n / (SELECT count(*) FROM sales WHERE item = 'milk' GROUP BY item) AS v FROM c;

-- leverage_of_milk_and_bread
WITH b AS (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) AS y FROM sales GROUP BY tid) SELECT avg(x * y) - avg(x) * avg(y) AS v FROM b;
SELECT covar_pop(x, y) AS v FROM (SELECT CASE WHEN list_contains(l, 'milk') THEN 1 ELSE 0 END AS x, CASE WHEN list_contains(l, 'bread') THEN 1 ELSE 0 END AS y FROM (SELECT list(item) AS l FROM sales GROUP BY tid));

-- units_of_categories [food]
SELECT f.parent AS category, COUNT(*) AS units FROM sales s JOIN food f ON f.node = s.item WHERE f.parent IS NOT NULL GROUP BY f.parent;
SELECT parent, SUM(n) FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item) t, food WHERE food.node = t.item AND parent IS NOT NULL GROUP BY parent;
WITH cats AS (SELECT DISTINCT parent AS c FROM food WHERE parent IS NOT NULL), x AS (SELECT c, (SELECT COUNT(*) FROM sales WHERE item IN (SELECT node FROM food WHERE parent = cats.c)) AS u FROM cats) SELECT * FROM x WHERE u > 0;
SELECT DISTINCT f.parent, COUNT(*) OVER (PARTITION BY f.parent) AS units FROM sales s INNER JOIN food f ON s.item = f.node WHERE f.parent IS NOT NULL;
select g.parent as cat, count(s.tid) as units from food g left join sales s on s.item = g.node where g.parent is not null group by all having count(s.tid) >= 1;

-- baskets_of_departments [food]
WITH RECURSIVE up AS (SELECT node AS leaf, node, parent FROM food UNION ALL SELECT up.leaf, f.node, f.parent FROM up JOIN food f ON f.node = up.parent) SELECT up.node AS dept, COUNT(DISTINCT s.tid) AS baskets FROM sales s JOIN up ON up.leaf = s.item WHERE up.parent = 'everything' GROUP BY up.node;
WITH RECURSIVE down(dept, node) AS (SELECT node, node FROM food WHERE parent = 'everything' UNION ALL SELECT d.dept, f.node FROM down d JOIN food f ON f.parent = d.node) SELECT dept, COUNT(*) FROM (SELECT DISTINCT d.dept, s.tid FROM down d JOIN sales s ON s.item = d.node) q GROUP BY dept;
WITH RECURSIVE t AS (SELECT node, node AS dept FROM food WHERE parent = 'everything' UNION SELECT food.node, t.dept FROM food, t WHERE food.parent = t.node) SELECT d.node, (SELECT COUNT(DISTINCT tid) FROM sales WHERE item IN (SELECT t.node FROM t WHERE t.dept = d.node)) AS n FROM food d WHERE d.parent = 'everything' AND EXISTS (SELECT * FROM sales JOIN t ON t.node = sales.item WHERE t.dept = d.node);

-- buyers_of_grandparents [food]
SELECT p.parent AS grp, COUNT(DISTINCT s.tid) AS buyers FROM sales s JOIN food i ON i.node = s.item JOIN food p ON p.node = i.parent WHERE p.parent IS NOT NULL GROUP BY p.parent;
SELECT grp, COUNT(*) FROM (SELECT s.tid, p.parent AS grp FROM sales s, food i, food p WHERE i.node = s.item AND p.node = i.parent AND p.parent IS NOT NULL GROUP BY s.tid, p.parent) GROUP BY grp;
WITH m AS (SELECT node AS item, (SELECT g.parent FROM food g WHERE g.node = food.parent) AS grp FROM food) SELECT grp, COUNT(DISTINCT tid) FROM m JOIN sales USING (item) WHERE grp IS NOT NULL GROUP BY grp;
SELECT g.grp, l.n FROM (SELECT DISTINCT parent AS grp FROM food WHERE parent IS NOT NULL) g, LATERAL (SELECT COUNT(DISTINCT s.tid) AS n FROM sales s WHERE s.item IN (SELECT i.node FROM food i WHERE i.parent IN (SELECT c.node FROM food c WHERE c.parent = g.grp))) l WHERE l.n > 0;

-- baskets_with_two_categories [food]
SELECT COUNT(*) FROM (SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'fruit' INTERSECT SELECT tid FROM sales JOIN food ON node = item WHERE parent = 'vegetables') x;
SELECT COUNT(DISTINCT a.tid) FROM sales a JOIN food fa ON fa.node = a.item AND fa.parent = 'fruit' JOIN sales b ON b.tid = a.tid JOIN food fb ON fb.node = b.item AND fb.parent = 'vegetables';
SELECT COUNT(*) FROM (SELECT s.tid FROM sales s JOIN food f ON f.node = s.item WHERE f.parent IN ('fruit', 'vegetables') GROUP BY s.tid HAVING COUNT(DISTINCT f.parent) = 2);
SELECT COUNT(*) FROM (SELECT tid, list(parent) AS cats FROM sales JOIN food ON food.node = sales.item GROUP BY tid) WHERE list_has_all(cats, ['fruit', 'vegetables']);
SELECT COUNT(DISTINCT tid) FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item IN (SELECT node FROM food WHERE parent = 'fruit')) AND tid IN (SELECT tid FROM sales WHERE item IN (SELECT node FROM food WHERE parent = 'vegetables'));

-- prevalence_by_sex [records]
SELECT c.sex, COUNT(*) AS n, COUNT(s.tid) AS cases, 1.0 * COUNT(s.tid) / COUNT(*) AS prevalence FROM customers c LEFT JOIN sales s ON s.tid = c.tid AND s.item = 'ibuprofen' GROUP BY c.sex;
SELECT sex, COUNT(*), SUM(dx), AVG(dx) FROM (SELECT sex, CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'ibuprofen') THEN 1 ELSE 0 END AS dx FROM customers) q GROUP BY sex;
WITH dx AS (SELECT tid, MAX((item = 'ibuprofen')::INT) AS ibu FROM sales GROUP BY tid) SELECT sex, COUNT(*), SUM(ibu), SUM(ibu) / COUNT(*)::DOUBLE FROM customers JOIN dx USING (tid) GROUP BY sex;
SELECT DISTINCT c.sex, COUNT(*) OVER w, COUNT(s.item) OVER w, COUNT(s.item) OVER w * 1.0 / COUNT(*) OVER w FROM customers c LEFT JOIN (SELECT * FROM sales WHERE item = 'ibuprofen') s USING (tid) WINDOW w AS (PARTITION BY c.sex);
SELECT sex, COUNT(*) AS n, COUNT(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item LIKE 'ibuprofen')) AS cases, COUNT(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item LIKE 'ibuprofen')) / COUNT(*) AS p FROM customers GROUP BY sex;

-- comorbidity_of_three
SELECT a.item AS dx1, b.item AS dx2, COUNT(*) AS patients FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item WHERE a.item IN ('aspirin', 'ibuprofen', 'migraine tablets') AND b.item IN ('aspirin', 'ibuprofen', 'migraine tablets') GROUP BY a.item, b.item;
WITH d AS (SELECT tid, item FROM sales WHERE item = 'aspirin' OR item = 'ibuprofen' OR item = 'migraine tablets') SELECT x.item, y.item, COUNT(DISTINCT x.tid) FROM d x, d y WHERE x.tid = y.tid AND x.item < y.item GROUP BY 1, 2;
SELECT * FROM (SELECT 'aspirin' AS dx1, 'ibuprofen' AS dx2, COUNT(*) AS n FROM sales WHERE item = 'aspirin' AND tid IN (SELECT tid FROM sales WHERE item = 'ibuprofen') UNION ALL SELECT 'aspirin', 'migraine tablets', COUNT(*) FROM sales WHERE item = 'aspirin' AND tid IN (SELECT tid FROM sales WHERE item = 'migraine tablets') UNION ALL SELECT 'ibuprofen', 'migraine tablets', COUNT(*) FROM sales WHERE item = 'ibuprofen' AND tid IN (SELECT tid FROM sales WHERE item = 'migraine tablets')) u WHERE n > 0;
SELECT p.x, p.y, l.n FROM (VALUES ('aspirin', 'ibuprofen'), ('aspirin', 'migraine tablets'), ('ibuprofen', 'migraine tablets')) AS p(x, y), LATERAL (SELECT COUNT(*) AS n FROM (SELECT tid FROM sales WHERE item = p.x INTERSECT SELECT tid FROM sales WHERE item = p.y) k) l WHERE l.n <> 0;

-- cases_by_age_band [records]
SELECT CASE WHEN age < 40 THEN 'under 40' WHEN age < 65 THEN '40-64' ELSE '65 plus' END AS band, COUNT(*) AS n, COUNT(s.item) AS cases FROM customers c LEFT JOIN sales s ON s.tid = c.tid AND s.item = 'aspirin' GROUP BY 1;
SELECT CASE WHEN age >= 65 THEN '65 plus' WHEN age BETWEEN 40 AND 64 THEN '40-64' ELSE 'under 40' END, COUNT(*), SUM(CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'aspirin') THEN 1 ELSE 0 END) FROM customers GROUP BY 1;
WITH bands(lo, hi, lbl) AS (VALUES (-2147483648, 39, 'under 40'), (40, 64, '40-64'), (65, 2147483647, '65 plus')) SELECT lbl, COUNT(DISTINCT c.tid), COUNT(DISTINCT CASE WHEN s.item = 'aspirin' THEN c.tid END) FROM customers c JOIN sales s ON s.tid = c.tid JOIN bands b ON c.age BETWEEN b.lo AND b.hi GROUP BY lbl;
SELECT * FROM (SELECT 'under 40' AS band, COUNT(*) AS n, COUNT(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'aspirin')) AS cases FROM customers WHERE age < 40 UNION ALL SELECT '40-64', COUNT(*), COUNT(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'aspirin')) FROM customers WHERE age >= 40 AND age < 65 UNION ALL SELECT '65 plus', COUNT(*), COUNT(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'aspirin')) FROM customers WHERE NOT (age < 65)) WHERE n > 0;

-- mean_age_of_cases [records]
SELECT CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'migraine tablets') THEN 'case' ELSE 'control' END AS grp, AVG(age) AS mean_age, COUNT(*) AS n FROM customers GROUP BY 1;
SELECT CASE WHEN s.tid IS NULL THEN 'control' ELSE 'case' END, SUM(c.age) * 1.0 / COUNT(*), COUNT(*) FROM customers c LEFT JOIN sales s ON s.tid = c.tid AND s.item = 'migraine tablets' GROUP BY s.tid IS NULL;
SELECT 'case', AVG(age), COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'migraine tablets') HAVING COUNT(*) > 0 UNION ALL SELECT 'control', AVG(age), COUNT(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'migraine tablets') HAVING COUNT(*) > 0;
WITH f AS (SELECT tid, bool_or(item = 'migraine tablets') AS dx FROM sales GROUP BY tid) SELECT IF(dx, 'case', 'control'), AVG(age), COUNT(*) FROM f JOIN customers USING (tid) GROUP BY dx;

-- leverage_as_covariance
WITH b AS (SELECT tid, MAX((item = 'pasta')::INT) AS p, MAX((item = 'tomatoes')::INT) AS t FROM sales GROUP BY tid) SELECT AVG(p * t) - AVG(p) * AVG(t) AS leverage FROM b;
WITH n AS (SELECT NULLIF(COUNT(DISTINCT tid), 0)::DOUBLE AS n FROM sales) SELECT (SELECT COUNT(*) FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'pasta' AND b.item = 'tomatoes') / n - (SELECT COUNT(*) FROM sales WHERE item = 'pasta') / n * ((SELECT COUNT(*) FROM sales WHERE item = 'tomatoes') / n) FROM n;
SELECT nxy / n - (nx * ny) / (n * n) FROM (SELECT NULLIF(COUNT(DISTINCT tid), 0) * 1.0::DOUBLE AS n, COUNT(*) FILTER (WHERE item = 'pasta') AS nx, COUNT(*) FILTER (WHERE item = 'tomatoes') AS ny, COUNT(*) FILTER (WHERE item = 'pasta' AND EXISTS (SELECT 1 FROM sales t WHERE t.tid = sales.tid AND t.item = 'tomatoes')) AS nxy FROM sales) q;
SELECT covar_pop(p, t) FROM (SELECT CASE WHEN list_contains(l, 'pasta') THEN 1 ELSE 0 END AS p, CASE WHEN list_contains(l, 'tomatoes') THEN 1 ELSE 0 END AS t FROM (SELECT list(item) AS l FROM sales GROUP BY tid));

-- lines_by_bucket
SELECT CASE WHEN k = 1 THEN '1' WHEN k <= 3 THEN '2-3' ELSE '4+' END AS bucket, COUNT(*) AS baskets, SUM(k) AS lines FROM (SELECT tid, COUNT(*) AS k FROM sales GROUP BY tid) AS virtual_table GROUP BY 1;
SELECT b, COUNT(DISTINCT tid), COUNT(*) FROM (SELECT tid, CASE WHEN COUNT(*) OVER (PARTITION BY tid) >= 4 THEN '4+' WHEN COUNT(*) OVER (PARTITION BY tid) >= 2 THEN '2-3' ELSE '1' END AS b FROM sales) q GROUP BY b;
WITH k AS (SELECT COUNT(*) AS k FROM sales GROUP BY tid) SELECT '1', COUNT(*), SUM(k) FROM k WHERE k = 1 HAVING COUNT(*) > 0 UNION ALL SELECT '2-3', COUNT(*), SUM(k) FROM k WHERE k IN (2, 3) HAVING COUNT(*) > 0 UNION ALL SELECT '4+', COUNT(*), SUM(k) FROM k WHERE k > 3 HAVING COUNT(*) > 0;
SELECT bk.lbl, COUNT(*), SUM(k.k) FROM (SELECT tid, COUNT(item) AS k FROM sales GROUP BY tid) k JOIN (VALUES ('1', 1, 1), ('2-3', 2, 3), ('4+', 4, 1000000)) AS bk(lbl, lo, hi) ON k.k BETWEEN bk.lo AND bk.hi GROUP BY bk.lbl;

-- revenue_of_categories [food]
SELECT f.parent, SUM(p.price) AS revenue FROM sales s JOIN prices p ON p.item = s.item JOIN food f ON f.node = s.item GROUP BY f.parent;
SELECT parent, SUM(n * price) FROM (SELECT item, COUNT(*) AS n FROM sales GROUP BY item) u JOIN prices USING (item) JOIN food ON food.node = u.item GROUP BY parent;
SELECT DISTINCT f.parent, SUM(p.price) OVER (PARTITION BY f.parent) FROM sales s, prices p, food f WHERE s.item = p.item AND f.node = p.item;
WITH r AS (SELECT p.item, p.price * (SELECT COUNT(*) FROM sales s WHERE s.item = p.item) AS rev FROM prices p) SELECT f.parent, SUM(r.rev) FROM r JOIN food f ON f.node = r.item WHERE r.rev > 0 GROUP BY f.parent;

-- average_basket_of_cohorts [records]
SELECT strftime(c.since, '%Y-%m') AS cohort, COUNT(*) * 1.0 / COUNT(DISTINCT s.tid) AS avg_items FROM customers c JOIN sales s ON s.tid = c.tid GROUP BY 1;
SELECT cohort, AVG(k) FROM (SELECT strftime(c.since, '%Y-%m') AS cohort, (SELECT COUNT(*) FROM sales s WHERE s.tid = c.tid) AS k FROM customers c) q GROUP BY cohort;
WITH b AS (SELECT tid, COUNT(item) AS k FROM sales GROUP BY tid) SELECT strftime(since, '%Y-%m'), SUM(k)::DOUBLE / COUNT(*) FROM b NATURAL JOIN customers GROUP BY ALL;
SELECT strftime(c.since, '%Y-%m') AS ym, AVG(len(b.l)) FROM customers c, (SELECT tid, list(item) AS l FROM sales GROUP BY tid) b WHERE b.tid = c.tid GROUP BY strftime(c.since, '%Y-%m');

-- chi_square_of_two
WITH t AS (SELECT COUNT(DISTINCT tid) AS n, COUNT(*) FILTER (WHERE item = 'milk') AS r, COUNT(*) FILTER (WHERE item = 'muesli') AS c, (SELECT COUNT(*) FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'milk' AND b.item = 'muesli') AS o FROM sales) SELECT CASE WHEN r * (n - r) * c * (n - c) > 0 THEN n::DOUBLE * (o * n - r * c) * (o * n - r * c) / (r::DOUBLE * (n - r) * c * (n - c)) END AS chi2 FROM t;
WITH f AS (SELECT tid, MAX(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) AS x, MAX(CASE WHEN item = 'muesli' THEN 1 ELSE 0 END) AS y FROM sales GROUP BY tid), k AS (SELECT SUM(x * y)::DOUBLE AS a, SUM(x * (1 - y))::DOUBLE AS b, SUM((1 - x) * y)::DOUBLE AS c, SUM((1 - x) * (1 - y))::DOUBLE AS d FROM f) SELECT (a + b + c + d) * POWER(a * d - b * c, 2) / NULLIF((a + b) * (c + d) * (a + c) * (b + d), 0) FROM k;
WITH f AS (SELECT tid, bool_or(item = 'milk') AS x, bool_or(item = 'muesli') AS y FROM sales GROUP BY tid), m AS (SELECT COUNT(*)::DOUBLE AS n, COUNT(*) FILTER (WHERE x)::DOUBLE AS nx, COUNT(*) FILTER (WHERE y)::DOUBLE AS ny FROM f), e AS (SELECT v.x, v.y, IF(v.x, nx, n - nx) * IF(v.y, ny, n - ny) / NULLIF(n, 0) AS ex, (SELECT COUNT(*) FROM f WHERE f.x = v.x AND f.y = v.y) AS ob FROM m, (VALUES (true, true), (true, false), (false, true), (false, false)) AS v(x, y)) SELECT CASE WHEN MIN(ex) > 0 THEN SUM(CASE WHEN ex > 0 THEN (ob - ex) * (ob - ex) / ex END) END FROM e;

-- gap_of_two_averages [records]
SELECT (SELECT AVG(age) FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'coffee')) - (SELECT AVG(age) FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'tea')) AS gap;
SELECT AVG(CASE WHEN s.item = 'coffee' THEN c.age END) - AVG(CASE WHEN s.item = 'tea' THEN c.age END) FROM sales s JOIN customers c ON c.tid = s.tid;
SELECT AVG(age) FILTER (WHERE item = 'coffee') - AVG(age) FILTER (WHERE item = 'tea') FROM sales NATURAL JOIN customers WHERE item IN ('coffee', 'tea');
WITH m AS (SELECT item, SUM(age) / COUNT(*)::DOUBLE AS a FROM sales JOIN customers USING (tid) WHERE item = 'coffee' OR item = 'tea' GROUP BY item) SELECT (SELECT a FROM m WHERE item = 'coffee') - (SELECT a FROM m WHERE item = 'tea');

-- abc_classes
WITH c AS (SELECT item, COUNT(*) AS n FROM sales GROUP BY item), r AS (SELECT item, n, SUM(n) OVER (ORDER BY n DESC, item) AS cum, SUM(n) OVER () AS tot FROM c) SELECT CASE WHEN cum * 100 <= tot * 70 THEN 'A' WHEN cum * 100 <= tot * 90 THEN 'B' ELSE 'C' END AS class, COUNT(*) AS items, SUM(n) AS lines FROM r GROUP BY 1;
WITH c AS (SELECT item, COUNT(*) AS n FROM sales GROUP BY item), r AS (SELECT c.item, c.n, (SELECT SUM(d.n) FROM c d WHERE d.n > c.n OR (d.n = c.n AND d.item <= c.item)) AS cum FROM c) SELECT CASE WHEN 10 * cum > 9 * (SELECT COUNT(*) FROM sales) THEN 'C' WHEN 10 * cum > 7 * (SELECT COUNT(*) FROM sales) THEN 'B' ELSE 'A' END, COUNT(*), SUM(n) FROM r GROUP BY 1;
SELECT class, COUNT(*), SUM(n) FROM (SELECT item, COUNT(*) AS n, CASE WHEN SUM(COUNT(*)) OVER (ORDER BY COUNT(*) DESC, item ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) * 10 <= 7 * SUM(COUNT(*)) OVER () THEN 'A' WHEN SUM(COUNT(*)) OVER (ORDER BY COUNT(*) DESC, item ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) * 10 <= 9 * SUM(COUNT(*)) OVER () THEN 'B' ELSE 'C' END AS class FROM sales GROUP BY item) z GROUP BY class;

-- weighted_scores
SELECT score, COUNT(*) AS patients FROM (SELECT tid, SUM(CASE item WHEN 'aspirin' THEN 1 WHEN 'migraine tablets' THEN 1 WHEN 'glucose test strips' THEN 2 WHEN 'nappies' THEN 3 ELSE 0 END) AS score FROM sales GROUP BY tid) t GROUP BY score;
WITH w(item, weight) AS (VALUES ('aspirin', 1), ('migraine tablets', 1), ('glucose test strips', 2), ('nappies', 3)) SELECT score, COUNT(*) FROM (SELECT s.tid, COALESCE(SUM(w.weight), 0) AS score FROM sales s LEFT JOIN w ON w.item = s.item GROUP BY s.tid) GROUP BY score;
WITH f AS (SELECT tid, MAX(CASE WHEN item = 'aspirin' THEN 1 ELSE 0 END) AS asp, MAX(CASE WHEN item = 'migraine tablets' THEN 1 ELSE 0 END) AS mig, MAX(CASE WHEN item = 'glucose test strips' THEN 1 ELSE 0 END) AS glu, MAX(CASE WHEN item = 'nappies' THEN 1 ELSE 0 END) AS nap FROM sales GROUP BY tid) SELECT asp + mig + 2 * glu + 3 * nap AS score, COUNT(*) FROM f GROUP BY asp + mig + 2 * glu + 3 * nap;
SELECT list_contains(b, 'aspirin')::INT + list_contains(b, 'migraine tablets')::INT + list_contains(b, 'glucose test strips')::INT * 2 + list_contains(b, 'nappies')::INT * 3 AS score, COUNT(*) AS n FROM (SELECT tid, list(item) AS b FROM sales GROUP BY tid) GROUP BY 1;
SELECT sc, COUNT(*) FROM (SELECT p.tid, (SELECT COUNT(*) FROM sales s WHERE s.tid = p.tid AND s.item IN ('aspirin', 'migraine tablets')) + 2 * (SELECT COUNT(*) FROM sales s WHERE s.tid = p.tid AND s.item = 'glucose test strips') + 3 * (SELECT COUNT(*) FROM sales s WHERE s.tid = p.tid AND s.item = 'nappies') AS sc FROM (SELECT DISTINCT tid FROM sales) p) GROUP BY sc;

-- two_of_five_by_sex [records]
SELECT c.sex, COUNT(*) AS multimorbid FROM customers c WHERE (SELECT COUNT(*) FROM sales s WHERE s.tid = c.tid AND s.item IN ('aspirin', 'ibuprofen', 'pregnancy test', 'glucose test strips', 'sun cream')) >= 2 GROUP BY c.sex;
SELECT sex, COUNT(*) FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item IN ('aspirin', 'ibuprofen', 'pregnancy test', 'glucose test strips', 'sun cream') GROUP BY tid HAVING COUNT(*) > 1) GROUP BY sex;
SELECT sex, COUNT(*) FROM (SELECT c.tid, c.sex FROM customers c JOIN sales s ON c.tid = s.tid GROUP BY c.tid, c.sex HAVING COUNT(*) FILTER (WHERE s.item IN ('aspirin', 'ibuprofen', 'pregnancy test', 'glucose test strips', 'sun cream')) >= 2) q GROUP BY sex;
SELECT c.sex, COUNT(DISTINCT c.tid) FROM customers c, sales a, sales b WHERE a.tid = c.tid AND b.tid = c.tid AND a.item < b.item AND a.item IN ('aspirin', 'ibuprofen', 'pregnancy test', 'glucose test strips', 'sun cream') AND b.item IN ('aspirin', 'ibuprofen', 'pregnancy test', 'glucose test strips', 'sun cream') GROUP BY c.sex;
SELECT sex, COUNT(*) FROM (SELECT c.sex, ROW_NUMBER() OVER (PARTITION BY c.tid ORDER BY s.item) AS k FROM customers c JOIN sales s USING (tid) WHERE s.item IN ('aspirin', 'ibuprofen', 'pregnancy test', 'glucose test strips', 'sun cream')) WHERE k = 2 GROUP BY sex;

-- rank_of_every_item
SELECT item, rank() OVER (ORDER BY count(*) DESC) AS r FROM sales GROUP BY item;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, 1 + (SELECT count(*) FROM c x WHERE x.n > c.n) AS r FROM c;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT a.item, count(b.item) + 1 AS r FROM c a LEFT JOIN c b ON b.n > a.n GROUP BY a.item;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT c.item, 1 + l.k AS r FROM c, LATERAL (SELECT count(*) AS k FROM c d WHERE d.n > c.n) l;

-- place_of_chocolate
SELECT r FROM (SELECT item, rank() OVER (ORDER BY count(*) DESC) AS r FROM sales GROUP BY item) WHERE item = 'chocolate';
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT (SELECT count(*) FROM c WHERE c.n > ch.n) + 1 AS r FROM c ch WHERE ch.item = 'chocolate';
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT 1 + count(*) FILTER (WHERE o.n > ch.n) AS r FROM c ch CROSS JOIN c o WHERE ch.item = 'chocolate' GROUP BY ch.item;

-- pairs_by_both_items
SELECT a.item AS i, b.item AS j, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item GROUP BY a.item, b.item;
SELECT least(a.item, b.item) AS i, greatest(a.item, b.item) AS j, count(*) // 2 AS n FROM sales a JOIN sales b USING (tid) WHERE a.item <> b.item GROUP BY i, j;
SELECT s.item AS i, l.item AS j, count(*) AS n FROM sales s, LATERAL (SELECT item FROM sales t WHERE t.tid = s.tid AND t.item > s.item) l GROUP BY ALL;

-- mean_age_of_coffee_buyers [records]
SELECT avg(age) AS a FROM customers JOIN sales USING (tid) WHERE item = 'coffee';
SELECT avg((SELECT age FROM customers c WHERE c.tid = s.tid)) AS a FROM sales s WHERE item = 'coffee';
SELECT sum(age * n) / nullif(sum(n), 0) AS a FROM (SELECT age, count(*) AS n FROM customers NATURAL JOIN sales WHERE item = 'coffee' GROUP BY age);

-- shares_of_every_item
SELECT item, count(*) / (SELECT count(DISTINCT tid) FROM sales) AS p FROM sales GROUP BY item;
SELECT DISTINCT item, count(*) OVER (PARTITION BY item) / (SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid)) AS p FROM sales;
SELECT DISTINCT item, n / (SELECT count(DISTINCT tid) FROM sales) AS p FROM (SELECT item, count(*) OVER (PARTITION BY item) AS n FROM sales);

-- mean_price_of_towns [records]
SELECT town, sum(price) / count(DISTINCT tid) AS m FROM customers JOIN sales USING (tid) JOIN prices USING (item) GROUP BY town;
SELECT town, avg(v) AS m FROM customers JOIN (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid) USING (tid) GROUP BY town;

-- mean_age_of_large_towns [records]
SELECT town, avg(age) AS m FROM customers GROUP BY town HAVING count(*) > 600;
WITH t AS (SELECT town, count(tid) AS n, sum(age) AS s FROM customers GROUP BY town) SELECT town, s / n AS m FROM t WHERE n > 600;
SELECT town, avg(age) AS m FROM customers WHERE town IN (SELECT town FROM customers GROUP BY town HAVING count(DISTINCT tid) > 600) GROUP BY town;

-- persons_up_to_each_age [records]
SELECT age // 20 AS d, sum(count(*)) OVER (ORDER BY age // 20) AS n FROM customers GROUP BY 1;
WITH c AS (SELECT age // 20 AS d, count(DISTINCT tid) AS k FROM customers GROUP BY ALL) SELECT x.d, sum(y.k) AS n FROM c x JOIN c y ON y.d <= x.d GROUP BY x.d;
WITH c AS (SELECT age // 20 AS d, count(*) AS k FROM customers GROUP BY 1) SELECT d, sum(k) OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) AS n FROM c;

-- rows_up_to_each_item
SELECT item, sum(count(*)) OVER (ORDER BY count(*) DESC, item) AS n FROM sales GROUP BY item;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT a.item, sum(b.n) AS n FROM c a, c b WHERE (b.n = a.n AND b.item <= a.item) OR b.n > a.n GROUP BY a.item;

-- steps_from_milk_to_tea
SELECT count(*) FILTER (WHERE a) AS x, count(*) FILTER (WHERE a AND b) AS y, count(*) FILTER (WHERE a AND b AND c) AS z FROM (SELECT tid, bool_or(item = 'milk') AS a, bool_or(item = 'coffee') AS b, bool_or(item = 'tea') AS c FROM sales GROUP BY tid);
SELECT count(a.tid) AS x, count(b.tid) AS y, count(c.tid) AS z FROM (SELECT tid FROM sales WHERE item = 'milk') a LEFT JOIN (SELECT tid FROM sales WHERE item = 'coffee') b ON a.tid = b.tid LEFT JOIN (SELECT tid FROM sales WHERE item = 'tea') c ON c.tid = b.tid;
SELECT count(DISTINCT s.tid) AS x, count(t.tid) AS y, count(u.tid) AS z FROM sales s LEFT JOIN sales t ON t.tid = s.tid AND t.item = 'coffee' LEFT JOIN sales u ON u.tid = t.tid AND u.item = 'tea' WHERE s.item = 'milk';

-- both_and_one_of_two
SELECT count(*) FILTER (WHERE a AND b) AS x, count(*) FILTER (WHERE NOT a AND b) AS y FROM (SELECT tid, bool_or(item = 'tea') AS a, bool_or(item = 'coffee') AS b FROM sales GROUP BY tid);
SELECT count(*) FILTER (WHERE b.tid = a.tid) AS x, count(*) FILTER (WHERE a.tid IS NULL) AS y FROM (SELECT tid FROM sales WHERE item = 'tea') a FULL JOIN (SELECT tid FROM sales WHERE item = 'coffee') b ON a.tid = b.tid;

-- takings_of_items [prices]
SELECT item, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY item;
SELECT s.item, count(*) * any_value(p.price) AS v FROM sales s JOIN prices p ON s.item = p.item GROUP BY s.item;
SELECT s.item, max(price) * count(DISTINCT tid) AS v FROM sales s JOIN prices p ON s.item = p.item GROUP BY s.item;

-- two_first_of_each_category [food]
SELECT category, item, n FROM (SELECT parent AS category, item, count(*) AS n, row_number() OVER (PARTITION BY parent ORDER BY count(*) DESC, item) AS r FROM sales JOIN food ON node = item GROUP BY 1, 2) WHERE r <= 2 AND category IN ('drinks', 'bakery');
SELECT v.category, l.item, l.n FROM (VALUES ('drinks'), ('bakery')) v(category) CROSS JOIN LATERAL (SELECT item, count(*) AS n FROM sales JOIN food ON node = item WHERE parent = v.category GROUP BY item ORDER BY count(*) DESC, item LIMIT 2) l;

-- shares_within_categories [food]
WITH i AS (SELECT parent, item, count(*) AS n FROM sales JOIN food ON item = node GROUP BY ALL), c AS (SELECT parent, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent) SELECT item, i.n / c.n AS s FROM i JOIN c USING (parent);
SELECT item, count(*) / sum(count(*)) OVER (PARTITION BY parent) AS s FROM sales JOIN food ON item = node GROUP BY parent, item;

-- prevalence_by_town [records]
SELECT c.town, count(DISTINCT s.tid) / count(DISTINCT c.tid) AS n FROM customers c LEFT JOIN sales s ON s.tid = c.tid AND s.item = 'milk' GROUP BY c.town;
SELECT town, avg(CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'milk') THEN 1.0 ELSE 0 END) AS n FROM customers GROUP BY town;
WITH b AS (SELECT c.town, count(DISTINCT s.tid) AS k FROM customers c JOIN sales s USING (tid) WHERE s.item = 'milk' GROUP BY 1), p AS (SELECT town, count(*) AS k FROM customers GROUP BY 1) SELECT p.town, coalesce(b.k, 0) / p.k AS n FROM p LEFT JOIN b USING (town);
SELECT c.town, (SELECT count(DISTINCT s.tid) FROM sales s JOIN customers d USING (tid) WHERE s.item = 'milk' AND d.town = c.town) / count(*) AS n FROM customers c GROUP BY c.town;

-- share_town_rows [records]
SELECT c.town, count(*) / (SELECT count(*) FROM sales) AS n FROM sales s JOIN customers c USING (tid) GROUP BY c.town;
SELECT c.town, count(*) / sum(count(*)) OVER () AS n FROM sales s JOIN customers c USING (tid) GROUP BY c.town;
WITH g AS (SELECT c.town, count(*) AS k FROM sales s JOIN customers c ON c.tid = s.tid GROUP BY 1), t AS (SELECT sum(k) AS a FROM g) SELECT town, k / a AS n FROM g, t;

-- items_across_towns [records]
SELECT s.item, count(*) FILTER (WHERE c.town = 'Aarhus') AS aarhus, count(*) FILTER (WHERE c.town = 'Bergen') AS bergen, count(*) FILTER (WHERE c.town = 'Cork') AS cork, count(*) FILTER (WHERE c.town = 'Delft') AS delft FROM sales s JOIN customers c ON c.tid = s.tid WHERE s.item IN ('apples', 'tomatoes', 'potatoes') GROUP BY s.item;
SELECT item, sum(CASE WHEN town = 'Aarhus' THEN 1 ELSE 0 END) AS aarhus, sum(CASE WHEN town = 'Bergen' THEN 1 ELSE 0 END) AS bergen, sum(CASE WHEN town = 'Cork' THEN 1 ELSE 0 END) AS cork, sum(CASE WHEN town = 'Delft' THEN 1 ELSE 0 END) AS delft FROM sales NATURAL JOIN customers WHERE item = 'apples' OR item = 'tomatoes' OR item = 'potatoes' GROUP BY item;
SELECT item, "Aarhus" AS aarhus, "Bergen" AS bergen, "Cork" AS cork, "Delft" AS delft FROM (PIVOT (SELECT s.item, c.town FROM sales s JOIN customers c USING (tid) WHERE s.item IN ('apples', 'tomatoes', 'potatoes')) ON town IN ('Aarhus', 'Bergen', 'Cork', 'Delft') USING count(*) GROUP BY item);
WITH k AS (SELECT s.item, c.town, count(DISTINCT s.tid) AS n FROM sales s JOIN customers c USING (tid) WHERE s.item IN ('apples', 'tomatoes', 'potatoes') GROUP BY 1, 2) SELECT i.item, coalesce((SELECT n FROM k WHERE k.item = i.item AND k.town = 'Aarhus'), 0) AS aarhus, coalesce((SELECT n FROM k WHERE k.item = i.item AND k.town = 'Bergen'), 0) AS bergen, coalesce((SELECT n FROM k WHERE k.item = i.item AND k.town = 'Cork'), 0) AS cork, coalesce((SELECT n FROM k WHERE k.item = i.item AND k.town = 'Delft'), 0) AS delft FROM (SELECT DISTINCT item FROM sales WHERE item IN ('apples', 'tomatoes', 'potatoes')) i;

-- customers_so_far [records]
SELECT date_trunc('month', since)::DATE AS joined, sum(count(*)) OVER (ORDER BY date_trunc('month', since)::DATE) AS total FROM customers GROUP BY date_trunc('month', since)::DATE;
SELECT DISTINCT date_trunc('month', since)::DATE AS joined, count(*) OVER (ORDER BY date_trunc('month', since)::DATE) AS total FROM customers;
WITH m AS (SELECT DISTINCT date_trunc('month', since)::DATE AS joined FROM customers) SELECT m.joined, (SELECT count(*) FROM customers d WHERE date_trunc('month', d.since)::DATE <= m.joined) AS total FROM m;
WITH m AS (SELECT DISTINCT make_date(year(since), month(since), 1) AS joined FROM customers) SELECT m.joined, count(*) AS total FROM m JOIN customers c ON c.since < m.joined + INTERVAL 1 MONTH GROUP BY m.joined;

-- spend_per_customer_by_sex [records]
SELECT c.sex, avg(coalesce(v.euros, 0)) AS m FROM customers c LEFT JOIN (SELECT s.tid, sum(p.price) AS euros FROM sales s JOIN prices p ON p.item = s.item GROUP BY s.tid) v ON v.tid = c.tid GROUP BY c.sex;
SELECT c.sex, coalesce(sum(p.price), 0) / count(DISTINCT c.tid) AS m FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN prices p ON p.item = s.item GROUP BY c.sex;
SELECT sex, avg(euros) AS m FROM (SELECT c.sex, coalesce((SELECT sum(p.price) FROM sales s JOIN prices p USING (item) WHERE s.tid = c.tid), 0) AS euros FROM customers c) GROUP BY sex;
WITH k AS (SELECT c.sex, s.item, count(*) AS n FROM customers c JOIN sales s USING (tid) GROUP BY c.sex, s.item), v AS (SELECT k.sex, sum(k.n * p.price) AS euros FROM k JOIN prices p ON p.item = k.item GROUP BY k.sex) SELECT g.sex, coalesce(v.euros, 0) / g.people AS m FROM (SELECT sex, count(*) AS people FROM customers GROUP BY sex) g LEFT JOIN v ON v.sex = g.sex;

-- pharmacy_items_per_person_in_delft [records]
SELECT count(g.node) / nullif(count(DISTINCT c.tid), 0) AS m FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN food f ON f.node = s.item LEFT JOIN food g ON g.node = f.parent AND g.parent = 'pharmacy' WHERE c.town = 'Delft';
SELECT avg(k) AS m FROM (SELECT (SELECT count(*) FROM sales s WHERE s.tid = c.tid AND s.item IN (SELECT f.node FROM food f JOIN food g ON g.node = f.parent WHERE g.parent = 'pharmacy')) AS k FROM customers c WHERE c.town = 'Delft');
SELECT (SELECT count(*) FROM customers c JOIN sales s ON s.tid = c.tid JOIN food f ON f.node = s.item WHERE c.town = 'Delft' AND f.parent IN (SELECT node FROM food WHERE parent = 'pharmacy')) / nullif((SELECT count(*) FROM customers WHERE town = 'Delft'), 0) AS m;
WITH remedies AS (SELECT tid, count(*) AS k FROM sales JOIN food f ON f.node = item JOIN food g ON g.node = f.parent WHERE g.parent = 'pharmacy' GROUP BY tid) SELECT avg(coalesce(k, 0)) AS m FROM customers LEFT JOIN remedies USING (tid) WHERE town = 'Delft';

-- glucose_prevalence_by_age [records]
SELECT CASE WHEN c.age < 30 THEN 'under 30' WHEN c.age < 45 THEN '30-44' WHEN c.age < 65 THEN '45-64' ELSE '65+' END AS band, avg(CASE WHEN s.tid IS NULL THEN 0.0 ELSE 1.0 END) AS prevalence FROM customers c LEFT JOIN sales s ON s.tid = c.tid AND s.item = 'glucose test strips' GROUP BY 1;
SELECT band, count(*) FILTER (WHERE ill) / count(*) AS prevalence FROM (SELECT CASE WHEN age >= 65 THEN '65+' WHEN age >= 45 THEN '45-64' WHEN age >= 30 THEN '30-44' ELSE 'under 30' END AS band, EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'glucose test strips') AS ill FROM customers c) GROUP BY band;
WITH b AS (SELECT tid, CASE WHEN age < 30 THEN 'under 30' WHEN age BETWEEN 30 AND 44 THEN '30-44' WHEN age BETWEEN 45 AND 64 THEN '45-64' ELSE '65+' END AS band FROM customers), n AS (SELECT band, count(*) AS people FROM b GROUP BY band), k AS (SELECT band, count(*) AS cases FROM b JOIN sales USING (tid) WHERE item = 'glucose test strips' GROUP BY band) SELECT n.band, coalesce(k.cases, 0) / n.people AS prevalence FROM n LEFT JOIN k ON k.band = n.band;
SELECT b.band, avg(if(c.tid IN (SELECT tid FROM sales WHERE item = 'glucose test strips'), 1, 0)) AS prevalence FROM (VALUES ('under 30', 0, 29), ('30-44', 30, 44), ('45-64', 45, 64), ('65+', 65, 1000)) b(band, lo, hi) JOIN customers c ON c.age BETWEEN b.lo AND b.hi GROUP BY b.band;

-- items_per_customer_by_joining_month [records]
SELECT date_trunc('month', c.since)::DATE AS joined, count(s.tid) / count(DISTINCT c.tid) AS m FROM customers c LEFT JOIN sales s ON s.tid = c.tid GROUP BY 1;
SELECT make_date(year(since), month(since), 1) AS joined, avg(n) AS m FROM (SELECT c.since, (SELECT count(*) FROM sales s WHERE s.tid = c.tid) AS n FROM customers c) GROUP BY ALL;
WITH b AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT CAST(date_trunc('month', c.since) AS DATE) AS joined, avg(coalesce(b.n, 0)) AS m FROM customers c LEFT JOIN b USING (tid) GROUP BY joined;
WITH c AS (SELECT tid, strptime(strftime(since, '%Y-%m') || '-01', '%Y-%m-%d')::DATE AS joined FROM customers), p AS (SELECT joined, count(*) AS people FROM c GROUP BY joined), r AS (SELECT joined, count(*) AS pieces FROM c JOIN sales USING (tid) GROUP BY joined) SELECT p.joined, coalesce(r.pieces, 0) / p.people AS m FROM p LEFT JOIN r ON r.joined = p.joined;

-- size_cdf
SELECT n, sum(count(*)) OVER (ORDER BY n) / sum(count(*)) OVER () AS share FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n;
SELECT DISTINCT n, cume_dist() OVER (ORDER BY n) AS share FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid);
WITH b AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT v.n, (SELECT count(*) FROM b WHERE b.n <= v.n) / (SELECT count(*) FROM b) AS share FROM (SELECT DISTINCT n FROM b) v;
WITH h AS (SELECT n, count(*) AS c FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n) SELECT x.n, sum(y.c) / (SELECT count(DISTINCT tid) FROM sales) AS share FROM h x JOIN h y ON y.n <= x.n GROUP BY x.n;

-- category_pairs [food]
WITH t AS (SELECT DISTINCT s.tid, f.parent AS category FROM sales s JOIN food f ON f.node = s.item) SELECT x.category AS a, y.category AS b, count(*) AS n FROM t x JOIN t y ON x.tid = y.tid AND x.category < y.category GROUP BY x.category, y.category;
SELECT f.parent AS a, g.parent AS b, count(DISTINCT s.tid) AS n FROM sales s JOIN food f ON f.node = s.item JOIN sales o ON o.tid = s.tid JOIN food g ON g.node = o.item WHERE f.parent < g.parent GROUP BY 1, 2;
SELECT a, b, count(*) AS n FROM (SELECT DISTINCT s.tid, f.parent AS a, g.parent AS b FROM sales s, sales o, food f, food g WHERE s.tid = o.tid AND s.item = f.node AND o.item = g.node AND f.parent < g.parent) GROUP BY a, b;

-- at_least_this_old [records]
SELECT t.age, count(c.tid) AS n FROM (VALUES (30), (50), (70)) t(age) LEFT JOIN customers c ON c.age >= t.age GROUP BY t.age;
SELECT t.age, (SELECT count(*) FROM customers c WHERE c.age >= t.age) AS n FROM (VALUES (30), (50), (70)) t(age);
SELECT t.age, l.n FROM (VALUES (30), (50), (70)) t(age), LATERAL (SELECT count(*) AS n FROM customers c WHERE NOT c.age < t.age) l;
SELECT 30 AS age, count(*) AS n FROM customers WHERE age >= 30 UNION ALL SELECT 50, count(*) FROM customers WHERE age >= 50 UNION ALL SELECT 70, count(*) FROM customers WHERE age >= 70;
SELECT t AS age, (SELECT coalesce(sum(k), 0) FROM (SELECT age, count(*) AS k FROM customers GROUP BY age) h WHERE h.age >= t) AS n FROM unnest([30, 50, 70]) u(t);

-- two_counts_by_town [records]
SELECT coalesce(a.town, b.town) AS town, coalesce(a.k, 0) AS x, coalesce(b.k, 0) AS y FROM (SELECT c.town, count(*) AS k FROM sales s JOIN customers c USING (tid) WHERE s.item = 'milk' GROUP BY 1) a FULL JOIN (SELECT c.town, count(*) AS k FROM sales s JOIN customers c USING (tid) WHERE s.item = 'bread' GROUP BY 1) b ON a.town = b.town;
SELECT coalesce(b.town, a.town) AS town, coalesce(a.k, 0) AS x, coalesce(b.k, 0) AS y FROM (SELECT c.town, count(*) AS k FROM sales s JOIN customers c USING (tid) WHERE s.item = 'milk' GROUP BY 1) a FULL JOIN (SELECT d.town, count(*) AS k FROM customers d JOIN sales s ON s.tid = d.tid WHERE s.item = 'bread' GROUP BY d.town) b ON a.town = b.town;
SELECT town, coalesce(a.k, 0) AS x, coalesce(b.k, 0) AS y FROM (SELECT c.town, count(*) AS k FROM sales s JOIN customers c USING (tid) WHERE s.item = 'milk' GROUP BY 1) a FULL JOIN (SELECT d.town, count(*) AS k FROM customers d JOIN sales s ON s.tid = d.tid WHERE s.item = 'bread' GROUP BY d.town) b USING (town) ORDER BY town;
SELECT c.town, count(*) FILTER (WHERE s.item = 'milk') AS x, count(*) FILTER (WHERE s.item = 'bread') AS y FROM sales s JOIN customers c USING (tid) WHERE s.item IN ('milk', 'bread') GROUP BY c.town;

-- persons_and_rows_by_town [records]
SELECT coalesce(a.town, b.town) AS town, coalesce(a.k, 0) AS x, coalesce(b.k, 0) AS y FROM (SELECT town, count(*) AS k FROM customers GROUP BY 1) a FULL JOIN (SELECT d.town, count(*) AS k FROM customers d JOIN sales s ON s.tid = d.tid WHERE s.item = 'bread' GROUP BY d.town) b ON a.town = b.town;
SELECT town, count(*) AS x, count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'bread')) AS y FROM customers GROUP BY town;
SELECT p.town, p.k AS x, coalesce(b.k, 0) AS y FROM (SELECT d.town, count(DISTINCT s.tid) AS k FROM customers d JOIN sales s ON s.tid = d.tid WHERE s.item = 'bread' GROUP BY d.town) b RIGHT JOIN (SELECT town, count(*) AS k FROM customers GROUP BY 1) p ON p.town = b.town;
SELECT c.town, count(*) AS x, (SELECT count(DISTINCT s.tid) FROM sales s JOIN customers d USING (tid) WHERE s.item = 'bread' AND d.town = c.town) AS y FROM customers c GROUP BY c.town;

-- rows_per_person_of_a_town [records]
SELECT (SELECT count(*) FROM customers c JOIN sales s ON s.tid = c.tid WHERE c.town = 'Delft') / nullif((SELECT count(*) FROM customers WHERE town = 'Delft'), 0) AS m;
SELECT count(*) / nullif((SELECT count(*) FROM customers WHERE town = 'Delft'), 0) AS m FROM customers c JOIN sales s ON s.tid = c.tid WHERE c.town = 'Delft';
SELECT count(s.tid) / nullif(count(DISTINCT c.tid), 0) AS m FROM customers c LEFT JOIN sales s ON s.tid = c.tid WHERE c.town = 'Delft';
SELECT avg((SELECT count(*) FROM sales s WHERE s.tid = c.tid)) AS m FROM customers c WHERE c.town = 'Delft';

-- customers_without_sweets_by_town [records]
SELECT c.town, count(*) AS n FROM customers c WHERE NOT EXISTS (SELECT 1 FROM sales s JOIN food f ON f.node = s.item WHERE s.tid = c.tid AND f.parent = 'sweets') GROUP BY c.town;
SELECT town, count(*) AS n FROM customers WHERE tid NOT IN (SELECT s.tid FROM sales s JOIN food f ON f.node = s.item WHERE f.parent = 'sweets') GROUP BY town;
SELECT c.town, count(*) AS n FROM customers c LEFT JOIN (SELECT DISTINCT tid FROM sales WHERE item IN (SELECT node FROM food WHERE parent = 'sweets')) b ON b.tid = c.tid WHERE b.tid IS NULL GROUP BY c.town;
WITH k AS (SELECT c.tid, c.town, count(f.node) AS sweets FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN food f ON f.node = s.item AND f.parent = 'sweets' GROUP BY c.tid, c.town) SELECT town, count(*) AS n FROM k WHERE sweets = 0 GROUP BY town;

-- basket_size_of_buyers_by_age_band [records]
SELECT CASE WHEN c.age < 30 THEN 'young' WHEN c.age < 60 THEN 'middle' ELSE 'old' END AS band, count(*) / count(DISTINCT c.tid) AS items FROM customers c JOIN sales s ON s.tid = c.tid GROUP BY 1;
SELECT CASE WHEN c.age >= 60 THEN 'old' WHEN c.age >= 30 THEN 'middle' ELSE 'young' END AS band, avg(b.n) AS items FROM customers c JOIN (SELECT tid, count(*) AS n FROM sales GROUP BY tid) b ON b.tid = c.tid GROUP BY band;
WITH p AS (SELECT c.tid, CASE WHEN c.age < 30 THEN 'young' WHEN c.age BETWEEN 30 AND 59 THEN 'middle' ELSE 'old' END AS band, count(s.item) AS n FROM customers c JOIN sales s ON s.tid = c.tid GROUP BY c.tid, c.age) SELECT band, sum(n) * 1.0 / count(*) AS items FROM p GROUP BY band;
SELECT a.band, count(*) * 1.0 / count(DISTINCT s.tid) AS items FROM sales s JOIN customers c USING (tid) JOIN (VALUES ('young', 0, 29), ('middle', 30, 59), ('old', 60, 200)) a(band, youngest, oldest) ON c.age >= a.youngest AND c.age <= a.oldest GROUP BY a.band;

-- ibuprofen_rate_older_minus_younger [records]
SELECT (SELECT count(*) FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'ibuprofen' AND c.age >= 65) / nullif((SELECT count(*) FROM customers WHERE age >= 65), 0) - (SELECT count(*) FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'ibuprofen' AND c.age < 65) / nullif((SELECT count(*) FROM customers WHERE age < 65), 0) AS difference;
SELECT avg(CASE WHEN c.age >= 65 THEN CASE WHEN s.tid IS NULL THEN 0 ELSE 1 END END) - avg(CASE WHEN c.age < 65 THEN CASE WHEN s.tid IS NULL THEN 0 ELSE 1 END END) AS difference FROM customers c LEFT JOIN sales s ON s.tid = c.tid AND s.item = 'ibuprofen';
WITH p AS (SELECT c.age >= 65 AS older, CASE WHEN EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'ibuprofen') THEN 1.0 ELSE 0.0 END AS x FROM customers c) SELECT avg(x) FILTER (WHERE older) - avg(x) FILTER (WHERE NOT older) AS difference FROM p;
WITH r AS (SELECT CASE WHEN age >= 65 THEN 'older' ELSE 'younger' END AS band, avg(CASE WHEN tid IN (SELECT tid FROM sales WHERE item = 'ibuprofen') THEN 1.0 ELSE 0.0 END) AS rate FROM customers GROUP BY 1) SELECT (SELECT rate FROM r WHERE band = 'older') - (SELECT rate FROM r WHERE band = 'younger') AS difference;

-- baby_food_conversion_by_sex [records]
SELECT c.sex, count(*) AS buyers, count(b.tid) / count(*) AS conversion FROM customers c JOIN sales n ON n.tid = c.tid AND n.item = 'nappies' LEFT JOIN sales b ON b.tid = c.tid AND b.item = 'baby food' GROUP BY c.sex;
SELECT c.sex, count(*) AS buyers, avg(CASE WHEN EXISTS (SELECT 1 FROM sales b WHERE b.tid = c.tid AND b.item = 'baby food') THEN 1.0 ELSE 0.0 END) AS conversion FROM customers c WHERE EXISTS (SELECT 1 FROM sales n WHERE n.tid = c.tid AND n.item = 'nappies') GROUP BY c.sex;
SELECT sex, count(*) AS buyers, count(*) FILTER (WHERE tid IN (SELECT tid FROM sales WHERE item = 'baby food')) * 1.0 / count(*) AS conversion FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'nappies') GROUP BY sex;
WITH f AS (SELECT c.tid, c.sex, max(CASE WHEN s.item = 'nappies' THEN 1 ELSE 0 END) AS nappies, max(CASE WHEN s.item = 'baby food' THEN 1 ELSE 0 END) AS food FROM customers c JOIN sales s ON s.tid = c.tid GROUP BY c.tid, c.sex) SELECT sex, sum(nappies) AS buyers, sum(nappies * food) / nullif(sum(nappies), 0) AS conversion FROM f GROUP BY sex HAVING sum(nappies) > 0;

-- big_spenders_by_town [records]
SELECT c.town, count(*) AS people, count(v.tid) AS big, count(v.tid) / count(*) AS share FROM customers c LEFT JOIN (SELECT s.tid FROM sales s JOIN prices p ON p.item = s.item GROUP BY s.tid HAVING sum(p.price) >= 15) v ON v.tid = c.tid GROUP BY c.town;
WITH v AS (SELECT c.tid, c.town, sum(p.price) AS euros FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN prices p ON p.item = s.item GROUP BY c.tid, c.town) SELECT town, count(*) AS people, count(*) FILTER (WHERE euros >= 15) AS big, count(*) FILTER (WHERE euros >= 15) / count(*) AS share FROM v GROUP BY town;
SELECT town, count(*) AS people, sum(big) AS big, avg(big) AS share FROM (SELECT town, CASE WHEN tid IN (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) >= 15) THEN 1 ELSE 0 END AS big FROM customers) GROUP BY town;
WITH spend AS (SELECT tid, sum(price) AS euros FROM sales JOIN prices USING (item) GROUP BY tid) SELECT c.town, count(*) AS people, sum(CASE WHEN spend.euros >= 15 THEN 1 ELSE 0 END) AS big, avg(CASE WHEN spend.euros >= 15 THEN 1.0 ELSE 0.0 END) AS share FROM customers c LEFT JOIN spend ON spend.tid = c.tid GROUP BY c.town;

-- spend_of_new_and_old_customers [records]
SELECT CASE WHEN c.since >= DATE '2026-05-01' THEN 'new' ELSE 'old' END AS kind, count(DISTINCT c.tid) AS people, coalesce(sum(p.price), 0) / count(DISTINCT c.tid) AS spend FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN prices p ON p.item = s.item GROUP BY 1;
WITH v AS (SELECT s.tid, sum(p.price) AS euros FROM sales s JOIN prices p ON p.item = s.item GROUP BY s.tid) SELECT CASE WHEN c.since < DATE '2026-05-01' THEN 'old' ELSE 'new' END AS kind, count(*) AS people, avg(coalesce(v.euros, 0)) AS spend FROM customers c LEFT JOIN v ON v.tid = c.tid GROUP BY kind;
WITH v AS (SELECT c.tid, c.since, coalesce(sum(p.price), 0) AS euros FROM customers c LEFT JOIN sales s ON s.tid = c.tid LEFT JOIN prices p ON p.item = s.item GROUP BY c.tid, c.since) SELECT 'new' AS kind, count(*) AS people, avg(euros) AS spend FROM v WHERE since >= '2026-05-01' HAVING count(*) > 0 UNION ALL SELECT 'old', count(*), avg(euros) FROM v WHERE since < '2026-05-01' HAVING count(*) > 0;
SELECT kind, count(*) AS people, sum(euros) / count(*) AS spend FROM (SELECT CASE WHEN c.since >= DATE '2026-05-01' THEN 'new' ELSE 'old' END AS kind, coalesce((SELECT sum(p.price) FROM sales s JOIN prices p ON p.item = s.item WHERE s.tid = c.tid), 0) AS euros FROM customers c) GROUP BY kind;

-- buyers_by_named_segment
SELECT CASE WHEN item IN ('nappies', 'baby food', 'wipes') THEN 'parents' WHEN item IN ('aspirin', 'ibuprofen') THEN 'in pain' WHEN item IN ('chocolate', 'crisps', 'cola') THEN 'snackers' END AS segment, count(DISTINCT tid) AS n FROM sales WHERE item IN ('nappies', 'baby food', 'wipes', 'aspirin', 'ibuprofen', 'chocolate', 'crisps', 'cola') GROUP BY 1;
SELECT v.segment, count(DISTINCT s.tid) AS n FROM sales s JOIN (VALUES ('nappies', 'parents'), ('baby food', 'parents'), ('wipes', 'parents'), ('aspirin', 'in pain'), ('ibuprofen', 'in pain'), ('chocolate', 'snackers'), ('crisps', 'snackers'), ('cola', 'snackers')) v(item, segment) ON v.item = s.item GROUP BY v.segment;
SELECT segment, count(*) AS n FROM (SELECT tid, 'parents' AS segment FROM sales WHERE item IN ('nappies', 'baby food', 'wipes') UNION SELECT tid, 'in pain' FROM sales WHERE item IN ('aspirin', 'ibuprofen') UNION SELECT tid, 'snackers' FROM sales WHERE item IN ('chocolate', 'crisps', 'cola')) GROUP BY segment;
SELECT 'parents' AS segment, count(DISTINCT tid) AS n FROM sales WHERE item IN ('nappies', 'baby food', 'wipes') HAVING count(*) > 0 UNION ALL SELECT 'in pain', count(DISTINCT tid) FROM sales WHERE item IN ('aspirin', 'ibuprofen') HAVING count(*) > 0 UNION ALL SELECT 'snackers', count(DISTINCT tid) FROM sales WHERE item IN ('chocolate', 'crisps', 'cola') HAVING count(*) > 0;

-- people_of_no_listed_band [records]
SELECT sex, count(*) FILTER (WHERE age > 64) AS n FROM customers GROUP BY sex;
SELECT sex, count(*) - count(*) FILTER (WHERE age < 30) - count(*) FILTER (WHERE age BETWEEN 30 AND 49) - count(*) FILTER (WHERE age BETWEEN 50 AND 64) AS n FROM customers GROUP BY sex;

-- rows_of_frequent_items
SELECT item AS i, count(*) AS n FROM sales WHERE item LIKE 'b%' GROUP BY item HAVING count(*) > 100;
SELECT i, count(*) AS n FROM (SELECT tid, item AS i FROM sales WHERE item IN (SELECT s.item FROM sales s GROUP BY s.item HAVING count(*) > 100)) q WHERE i LIKE 'b%' GROUP BY q.i;
SELECT item AS i, count(*) AS n FROM (SELECT tid, item FROM sales s WHERE item LIKE 'b%' QUALIFY count(tid) OVER (PARTITION BY item) > 100) GROUP BY item;
SELECT item AS i, count(*) AS n FROM sales WHERE item LIKE 'b%' AND item IN (SELECT x.item FROM sales x WHERE x.item LIKE 'b%' GROUP BY x.item HAVING count(*) > 100) GROUP BY 1;

-- two_rows_of_each_basket
SELECT count(*) AS n FROM (SELECT tid, item, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales QUALIFY r <= 2);
SELECT count(*) AS n FROM (SELECT tid, row_number() OVER (PARTITION BY tid ORDER BY item) AS r FROM sales) WHERE r <= 2;
SELECT count(*) AS n FROM (SELECT tid FROM sales QUALIFY row_number() OVER (PARTITION BY tid ORDER BY item) < 3);

-- dairy_by_existence_of_a_named_column
SELECT count(*) AS n FROM (SELECT tid, item AS c1 FROM sales) q WHERE EXISTS (SELECT 1 FROM (SELECT node FROM food WHERE parent = 'dairy' AND node = c1) p);
SELECT count(*) AS n FROM (SELECT tid, item AS k FROM sales) q WHERE EXISTS (SELECT 1 FROM food WHERE parent = 'dairy' AND node = k);
SELECT count(*) AS n FROM sales WHERE item IN (SELECT node FROM food WHERE parent = 'dairy');

-- milk_with_others_by_town [records]
SELECT a.item || b.item AS town, town AS k, count(*) AS n FROM sales a JOIN sales b USING (tid) JOIN customers c USING (tid) WHERE a.item = 'milk' AND b.item IN ('bread', 'butter') GROUP BY 1, 2;
SELECT a.item || b.item AS pair, c.town AS k, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid JOIN customers c ON c.tid = a.tid WHERE a.item = 'milk' AND b.item IN ('bread', 'butter') GROUP BY a.item || b.item, c.town;

-- frequent_items_but_one
SELECT item, count(*) AS n FROM sales WHERE (item IN (SELECT item FROM sales WHERE item <> 'butter' GROUP BY item HAVING count(*) > 100) AND item <> 'bread') GROUP BY item;
SELECT item, count(*) AS n FROM sales WHERE item NOT IN ('bread', 'butter') GROUP BY item HAVING count(*) > 100;

-- share_of_an_item_in_its_town [records]
SELECT town, item, count(*) * 1.0 / sum(count(*)) OVER (PARTITION BY town) AS n FROM customers JOIN sales USING (tid) GROUP BY 1, 2;
WITH t AS (SELECT town, count(*) AS rows FROM customers JOIN sales USING (tid) GROUP BY 1) SELECT c.town, item, count(*) * 1.0 / max(t.rows) AS n FROM customers c JOIN sales s USING (tid) JOIN t ON t.town = c.town GROUP BY 1, 2;
WITH t AS (SELECT town, count(*) AS rows FROM customers JOIN sales USING (tid) GROUP BY 1) SELECT c.town, item, count(*) * 1.0 / t.rows AS n FROM customers c JOIN sales s USING (tid) JOIN t ON t.town = c.town GROUP BY 1, 2, t.rows;
WITH t AS (SELECT town, count(*) AS rows FROM customers JOIN sales USING (tid) GROUP BY 1), x AS (SELECT town, item, count(*) AS k FROM customers JOIN sales USING (tid) GROUP BY 1, 2) SELECT x.town, item, k * 1.0 / rows AS n FROM x JOIN t USING (town);

-- share_of_an_item_in_its_category [food]
SELECT f.parent, s.item, count(*) * 1.0 / sum(count(*)) OVER (PARTITION BY f.parent) AS n FROM sales s JOIN food f ON f.node = s.item GROUP BY 1, 2;
WITH t AS (SELECT parent, count(*) AS rows FROM sales JOIN food ON node = item GROUP BY 1) SELECT f.parent, s.item, count(*) * 1.0 / any_value(t.rows) AS n FROM sales s JOIN food f ON f.node = s.item JOIN t ON t.parent = f.parent GROUP BY 1, 2;
SELECT x.parent, x.item, x.n * 1.0 / t.n AS n FROM (SELECT parent, item, count(*) AS n FROM sales JOIN food ON node = item GROUP BY ALL) x JOIN (SELECT parent, count(*) AS n FROM sales JOIN food ON node = item GROUP BY ALL) t ON t.parent = x.parent;

-- pairs_of_the_old [records]
SELECT a.item AS x, b.item AS y, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item JOIN customers c ON c.tid = a.tid WHERE c.age >= 60 GROUP BY 1, 2;
SELECT a.item AS x, b.item AS y, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item WHERE a.tid IN (SELECT tid FROM customers WHERE age >= 60) GROUP BY 1, 2;
WITH old AS (SELECT s.tid, s.item FROM sales s JOIN customers c USING (tid) WHERE age >= 60) SELECT a.item AS x, b.item AS y, count(*) AS n FROM old a JOIN old b ON a.tid = b.tid AND a.item < b.item GROUP BY 1, 2;
SELECT a.item AS x, b.item AS y, count(DISTINCT a.tid) AS n FROM sales a, sales b, customers c WHERE a.tid = b.tid AND b.tid = c.tid AND a.item < b.item AND NOT c.age < 60 GROUP BY 1, 2;

-- pairs_without_an_item
SELECT a.item AS x, b.item AS y, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item WHERE a.tid NOT IN (SELECT tid FROM sales WHERE item = 'milk') GROUP BY 1, 2;
SELECT a.item AS x, b.item AS y, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item WHERE NOT EXISTS (SELECT 1 FROM sales m WHERE m.tid = b.tid AND m.item = 'milk') GROUP BY 1, 2;

-- distinct_of_one_row
SELECT DISTINCT count(*) AS n FROM sales WHERE item = 'milk';
SELECT DISTINCT n FROM (SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk');
SELECT count(CASE WHEN item = 'milk' THEN 1 END) AS n FROM sales;
SELECT count(*) AS n FROM sales WHERE NOT (NOT (item = 'milk'));

-- distinct_groups
SELECT DISTINCT item, count(*) AS n FROM sales WHERE item IN ('milk', 'bread', 'tea') GROUP BY item;
SELECT DISTINCT s.item, count(*) AS n FROM sales s WHERE s.item IN ('milk', 'bread', 'tea') GROUP BY ALL;
SELECT item, sum(1) AS n FROM sales WHERE item IN ('milk', 'bread', 'tea') GROUP BY 1;

-- place_with_case
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT 1 + count(CASE WHEN o.n > ch.n THEN 1 END) AS r FROM c ch CROSS JOIN c o WHERE ch.item = 'chocolate' GROUP BY ch.item;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT 1 + count(*) FILTER (WHERE o.n > ch.n) AS r FROM c ch CROSS JOIN c o WHERE ch.item = 'chocolate' GROUP BY ch.item;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT (SELECT count(*) FROM c WHERE NOT (NOT (c.n > ch.n))) + 1 AS r FROM c ch WHERE NOT (NOT (ch.item = 'chocolate'));

-- persons_up_to_a_size
WITH h AS (SELECT c, sum(1) AS k FROM (SELECT tid, sum(1) AS c FROM sales GROUP BY tid) GROUP BY c) SELECT h.c, sum(g.k) AS n FROM h JOIN h g ON g.c <= h.c GROUP BY h.c;
WITH h AS (SELECT c, count(*) AS k FROM (SELECT tid, count(*) AS c FROM sales GROUP BY tid) GROUP BY c) SELECT h.c, sum(g.k) AS n FROM h JOIN h g ON g.c <= h.c GROUP BY h.c;

-- baskets_above_the_average
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT count(*) AS k FROM t WHERE n > (SELECT avg(n) FROM t);
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m FROM t) SELECT count(*) AS k FROM t, a WHERE t.n > a.m;
SELECT count(*) AS k FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING count(*) > (SELECT count(*) / count(DISTINCT tid) FROM sales));
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT count(*) FILTER (WHERE NOT n <= m) AS k FROM t CROSS JOIN (SELECT avg(n) AS m FROM t);
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT sum(CASE WHEN (SELECT avg(n) FROM t) < n THEN 1 ELSE 0 END) AS k FROM t;

-- items_of_baskets_above_the_average
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT item, count(*) AS k FROM sales WHERE tid IN (SELECT tid FROM t WHERE n > (SELECT avg(n) FROM t)) AND item IN ('milk', 'bread', 'tea') GROUP BY item;
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m FROM t) SELECT s.item, count(*) AS k FROM sales s JOIN t USING (tid), a WHERE t.n > a.m AND s.item IN ('milk', 'bread', 'tea') GROUP BY s.item;

-- far_from_the_average
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m, stddev_pop(n) AS s FROM t) SELECT count(*) AS k FROM t, a WHERE t.n NOT BETWEEN m - 2 * s AND m + 2 * s;
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m, stddev_pop(n) AS s FROM t) SELECT count(*) AS k FROM t, a WHERE t.n < m - 2 * s OR t.n > m + 2 * s;

-- baskets_of_the_largest_size
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT count(*) AS k FROM t WHERE n = (SELECT max(n) FROM t);
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT count(*) AS k FROM t WHERE n >= (SELECT max(n) FROM t);
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), m AS (SELECT max(n) AS top FROM t) SELECT count(*) AS k FROM t JOIN m ON n = top;

-- rows_of_long_names
SELECT count(*) AS k FROM sales WHERE length(item) > (SELECT avg(length(item)) FROM sales);
WITH a AS (SELECT avg(length(item)) AS m FROM sales) SELECT count(*) AS k FROM sales, a WHERE length(item) > m;

-- older_than_the_average [records]
SELECT count(*) AS k FROM customers WHERE age > (SELECT avg(age) FROM customers);
WITH a AS (SELECT avg(age) AS m FROM customers) SELECT count(*) AS k FROM customers, a WHERE age > m;
SELECT count(*) FILTER (WHERE age > (SELECT avg(age) FROM customers)) AS k FROM customers;
SELECT count(*) AS k FROM customers WHERE NOT age <= (SELECT sum(age) / count(age) FROM customers);

-- older_than_the_average_by_town [records]
SELECT town, count(*) AS k FROM customers WHERE age > (SELECT avg(age) FROM customers) GROUP BY town;
SELECT c.town, count(*) AS k FROM customers c, (SELECT avg(age) AS m FROM customers) a WHERE c.age > a.m GROUP BY c.town;

-- shares_of_places
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, percent_rank() OVER (ORDER BY n) AS q FROM c;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, least((rank() OVER (ORDER BY n) - 1) / greatest(count(*) OVER () - 1, 1), 1) AS q FROM c;
SELECT item, percent_rank() OVER (ORDER BY count(*)) AS q FROM sales GROUP BY item;

-- places_from_below
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, cume_dist() OVER (ORDER BY n) AS q FROM c;
WITH c AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT item, count(*) OVER (ORDER BY n) / count(*) OVER () AS q FROM c;

-- quarters_of_sizes
WITH c AS (SELECT n, count(*) AS k FROM (SELECT count(*) AS n FROM sales GROUP BY tid) GROUP BY n) SELECT n, ntile(4) OVER (ORDER BY k DESC, n) AS q FROM c;
WITH c AS (SELECT count(*) AS n FROM sales GROUP BY tid) SELECT n, ntile(4) OVER (ORDER BY count(*) DESC, n) AS q FROM c GROUP BY n;

-- above_beside_the_average
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m FROM t) SELECT count(*) FILTER (WHERE n > m) AS k, max(a.m) AS mean FROM t, a;
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid) SELECT count(*) FILTER (WHERE n > (SELECT avg(n) FROM t)) AS k, avg(n) AS mean FROM t;

-- outliers
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m, stddev_pop(n) AS s FROM t) SELECT count(*) AS k FROM t, a WHERE abs(n - m) > 2 * s;
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m, stddev_pop(n) AS s FROM t) SELECT count(*) AS k FROM t, a WHERE n > m + 2 * s OR n < m - 2 * s;
WITH t AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), a AS (SELECT avg(n) AS m, stddev_pop(n) AS s FROM t) SELECT count(*) AS k FROM t CROSS JOIN a WHERE NOT 2 * s >= abs(n - m);
