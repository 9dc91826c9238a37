-- A hundred and sixty-five questions of a basket analyst. Tables: sales(tid, item); customers(tid, age, town, day), the records;
-- food(node, parent), the taxonomy; prices(item, price), the analyst's own.
-- 01 number of baskets
SELECT count(DISTINCT tid) FROM sales
-- 02 number of line items
SELECT count(*) FROM sales
-- 03 number of products
SELECT count(DISTINCT item) FROM sales
-- 04 top 10 products
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC LIMIT 10
-- 05 five rarest products
SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n LIMIT 5
-- 06 baskets with milk
SELECT count(DISTINCT tid) FROM sales WHERE item = 'milk'
-- 07 baskets with milk or bread
SELECT count(DISTINCT tid) FROM sales WHERE item IN ('milk', 'bread')
-- 08 average basket size
SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 09 share of baskets with milk
SELECT count(DISTINCT tid) FILTER (WHERE item = 'milk') * 100.0 / count(DISTINCT tid) AS pct FROM sales
-- 10 largest basket
SELECT max(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 11 baskets of each size
SELECT n, count(*) AS baskets FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) GROUP BY n ORDER BY n
-- 12 all pairs, top 20
SELECT a.item, b.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item GROUP BY a.item, b.item ORDER BY n DESC LIMIT 20
-- 13 what is bought with milk
SELECT b.item, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item = 'milk' AND b.item <> 'milk' GROUP BY b.item ORDER BY n DESC LIMIT 10
-- 14 confidence milk -> bread
WITH m AS (SELECT DISTINCT tid FROM sales WHERE item = 'milk'), b AS (SELECT DISTINCT tid FROM sales WHERE item = 'bread') SELECT count(b.tid) * 1.0 / count(*) FROM m LEFT JOIN b USING (tid)
-- 15 lift of milk and bread
WITH c AS (SELECT count(*) AS n, count(*) FILTER (WHERE m) AS m, count(*) FILTER (WHERE b) AS b, count(*) FILTER (WHERE m AND b) AS mb FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid)) SELECT mb * 1.0 * n / (m * b) AS lift FROM c
-- 16 milk but no bread
SELECT count(DISTINCT tid) FROM sales s WHERE item = 'milk' AND NOT EXISTS (SELECT 1 FROM sales t WHERE t.tid = s.tid AND t.item = 'bread')
-- 17 baskets without milk
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING NOT bool_or(item = 'milk'))
-- 18 all of a list
SELECT count(*) FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread') GROUP BY tid HAVING count(DISTINCT item) = 2) q
-- 19 at least two of a list
SELECT count(*) FROM (SELECT tid FROM sales WHERE item IN ('milk', 'bread', 'butter') GROUP BY tid HAVING count(*) >= 2)
-- 20 large baskets
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) > 5)
-- 21 baskets with a single item
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING count(*) = 1)
-- 22 name search
SELECT count(DISTINCT tid) FROM sales WHERE item ILIKE '%food%'
-- 23 products by first letter
SELECT left(item, 1) AS letter, count(*) AS n FROM sales GROUP BY letter ORDER BY letter
-- 24 baskets by category
SELECT parent, count(DISTINCT tid) FROM sales JOIN food ON item = node GROUP BY parent ORDER BY 2 DESC
-- 25 lines by category
SELECT parent, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent ORDER BY n DESC
-- 26 average basket value
SELECT avg(v) FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid)
-- 27 revenue
SELECT sum(price) AS revenue FROM sales JOIN prices USING (item)
-- 28 baskets above 20 euros
SELECT count(*) FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING sum(price) > 20)
-- 29 revenue by product
SELECT item, sum(price) AS revenue FROM sales JOIN prices USING (item) GROUP BY item ORDER BY revenue DESC LIMIT 5
-- 30 two counts side by side
SELECT count(*) FILTER (WHERE item = 'milk') AS milk, count(*) FILTER (WHERE item = 'bread') AS bread FROM sales
-- 31 revenue by category
SELECT parent, sum(price) AS revenue FROM sales JOIN prices USING (item) JOIN food ON node = sales.item GROUP BY parent
-- 32 boolean mix
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_or(item = 'milk') AND bool_or(item IN ('bread', 'rolls')) AND NOT bool_or(item = 'butter'))
-- 33 rank of products
SELECT item, rank() OVER (ORDER BY count(*) DESC) AS place, count(*) AS n FROM sales GROUP BY item QUALIFY place <= 5
-- 34 share of each product of all lines
SELECT item, count(*) * 100.0 / sum(count(*)) OVER () AS pct FROM sales GROUP BY item ORDER BY pct DESC
-- 35 products above 2 percent of all lines
SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 0.02 * (SELECT count(*) FROM sales)
-- 36 how many products sell in at least 100 baskets
SELECT count(*) FROM (SELECT item FROM sales GROUP BY item HAVING count(DISTINCT tid) >= 100)
-- 37 products by category
SELECT parent, count(*) AS products FROM (SELECT DISTINCT item FROM sales) JOIN food ON item = node GROUP BY parent
-- 38 list of products
SELECT DISTINCT item FROM sales ORDER BY item
-- 39 crosstab of milk and bread
SELECT m, b, count(*) AS n FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid) GROUP BY m, b
-- 40 baskets as lists
SELECT count(*) FROM (SELECT tid, list(item) AS items FROM sales GROUP BY tid) WHERE list_contains(items, 'milk') AND list_contains(items, 'bread')
-- 41 spelling in any case
SELECT count(DISTINCT tid) FROM sales WHERE lower(item) = lower('MILK')
-- 42 own grouping by CASE
SELECT CASE WHEN item IN ('milk', 'butter', 'yogurt') THEN 'dairy' ELSE 'other' END AS grp, count(DISTINCT tid) FROM sales GROUP BY grp
-- 43 dairy or not, by lines
SELECT sum(CASE WHEN item IN ('milk', 'butter', 'yogurt') THEN 1 ELSE 0 END) AS dairy, sum(CASE WHEN item IN ('milk', 'butter', 'yogurt') THEN 0 ELSE 1 END) AS other FROM sales
-- 44 average size of baskets with milk
SELECT avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid HAVING bool_or(item = 'milk'))
-- 45 milk and bread side by side
SELECT 'milk' AS what, count(DISTINCT tid) AS n FROM sales WHERE item = 'milk' UNION ALL SELECT 'bread', count(DISTINCT tid) FROM sales WHERE item = 'bread'
-- 46 only pain killers in the basket
SELECT count(*) FROM (SELECT tid FROM sales GROUP BY tid HAVING bool_and(item IN ('aspirin', 'ibuprofen', 'migraine tablets')))
-- 47 customers by decade of age
SELECT age // 10 * 10 AS decade, count(*) AS n FROM customers GROUP BY decade ORDER BY decade
-- 48 customers by town
SELECT town, count(*) FROM customers GROUP BY town
-- 49 average age by town
SELECT town, avg(age) AS mean FROM customers GROUP BY town
-- 50 average age of buyers of nappies
SELECT avg(age) FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'nappies')
-- 51 milk by town
SELECT town, count(DISTINCT tid) AS n FROM sales JOIN customers USING (tid) WHERE item = 'milk' GROUP BY town
-- 52 customers aged 20 to 29 who buy coffee
SELECT count(DISTINCT c.tid) FROM customers c JOIN sales s ON s.tid = c.tid WHERE s.item = 'coffee' AND c.age BETWEEN 20 AND 29
-- 53 products of the young
SELECT item, count(*) AS n FROM sales JOIN customers USING (tid) WHERE age < 30 GROUP BY item ORDER BY n DESC LIMIT 5
-- 54 customers without purchases
SELECT count(*) FROM customers c LEFT JOIN sales s ON s.tid = c.tid WHERE s.tid IS NULL
-- 55 baskets by month
SELECT date_trunc('month', day) AS month, count(*) AS n FROM customers GROUP BY month ORDER BY month
-- 56 milk by weekday
SELECT dayname(day) AS d, count(DISTINCT tid) FROM sales JOIN customers USING (tid) WHERE item = 'milk' GROUP BY d
-- 57 customers over 60 without milk
SELECT count(*) FROM customers c WHERE age > 60 AND NOT EXISTS (SELECT 1 FROM sales s WHERE s.tid = c.tid AND s.item = 'milk')
-- 58 average basket size by town
SELECT town, avg(n) FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) JOIN customers USING (tid) GROUP BY town
-- 59 average size by decade of age
SELECT age // 10 * 10 AS decade, avg(n) AS mean FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) JOIN customers USING (tid) GROUP BY decade
-- 60 is there any basket with saffron and figs
SELECT count(*) > 0 FROM sales a JOIN sales b USING (tid) WHERE a.item = 'saffron' AND b.item = 'figs'
-- 61 group by two attributes
SELECT town, age // 10 * 10 AS decade, count(*) AS n FROM customers GROUP BY town, decade ORDER BY town, decade
-- 62 item and attribute
SELECT town, item, count(*) AS n FROM sales JOIN customers USING (tid) GROUP BY town, item ORDER BY town, n DESC
-- 63 median basket size
SELECT median(n) AS mid FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 64 ninetieth percentile of basket size
SELECT quantile_cont(n, 0.9) AS p90 FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 65 regular expression
SELECT count(DISTINCT tid) AS n FROM sales WHERE regexp_matches(item, '^(milk|butter|yogurt)$')
-- 66 best item of each category by window rank
SELECT parent, item, n FROM (SELECT parent, item, count(*) AS n, row_number() OVER (PARTITION BY parent ORDER BY count(*) DESC) AS r FROM sales JOIN food ON item = node GROUP BY parent, item) WHERE r = 1
-- 67 baskets per week
SELECT date_trunc('week', day) AS week, count(*) AS n FROM customers GROUP BY week ORDER BY week
-- 68 weekend against weekday
SELECT CASE WHEN dayname(day) IN ('Saturday', 'Sunday') THEN 'weekend' ELSE 'weekday' END AS part, count(*) AS n FROM customers GROUP BY part
-- 69 lines per month and category
SELECT date_trunc('month', day) AS month, parent, count(*) AS n FROM sales JOIN customers USING (tid) JOIN food ON item = node GROUP BY month, parent
-- 70 HAVING between
SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item HAVING count(DISTINCT tid) BETWEEN 100 AND 200 ORDER BY n
-- 71 baskets with one of the three most frequent products
SELECT count(DISTINCT tid) AS n FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT 3)
-- 72 crosstab of category by town with FILTER
SELECT town, count(*) FILTER (WHERE item = 'milk') AS milk, count(*) FILTER (WHERE item = 'coffee') AS coffee, count(*) AS lines FROM sales JOIN customers USING (tid) GROUP BY town
-- 73 pairs with a minimum support
SELECT a.item AS one, b.item AS other, count(*) AS n FROM sales a JOIN sales b USING (tid) WHERE a.item < b.item GROUP BY ALL HAVING count(*) >= 20 ORDER BY n DESC
-- 74 lift of all pairs by CTEs
WITH t AS (SELECT count(DISTINCT tid) AS total FROM sales), f AS (SELECT item, count(DISTINCT tid) AS n FROM sales GROUP BY item), p AS (SELECT a.item AS x, b.item AS y, count(*) AS n FROM sales a JOIN sales b ON a.tid = b.tid AND a.item < b.item GROUP BY a.item, b.item) SELECT p.x, p.y, p.n, p.n * 1.0 * t.total / (fx.n * fy.n) AS lift FROM p JOIN f fx ON fx.item = p.x JOIN f fy ON fy.item = p.y CROSS JOIN t WHERE p.n >= 10 ORDER BY lift DESC LIMIT 10
-- 75 confidence of all rules
WITH f AS (SELECT item, count(*) AS n FROM sales GROUP BY item) SELECT a.item AS lhs, b.item AS rhs, count(*) * 1.0 / any_value(f.n) AS confidence FROM sales a JOIN sales b ON a.tid = b.tid AND a.item <> b.item JOIN f ON f.item = a.item GROUP BY a.item, b.item ORDER BY confidence DESC LIMIT 10
-- 76 baskets above a price with milk
SELECT count(*) AS n FROM (SELECT tid, sum(price) AS v, bool_or(item = 'milk') AS m FROM sales JOIN prices USING (item) GROUP BY tid) WHERE v > 10 AND m
-- 77 value classes of baskets
SELECT CASE WHEN v < 10 THEN 'small' WHEN v < 20 THEN 'medium' ELSE 'large' END AS class, count(*) AS n FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY class
-- 78 ILIKE with several patterns
SELECT item, count(*) AS n FROM sales WHERE item ILIKE 'c%' OR item ILIKE '%tea%' GROUP BY item
-- 79 distinct lists of items
SELECT count(*) AS n FROM (SELECT tid, list(item) AS items FROM sales GROUP BY tid) WHERE list_has_any(items, ['milk', 'cream'])
-- 80 union of two groups of questions
SELECT 'milk' AS what, count(*) AS n FROM sales WHERE item = 'milk' UNION ALL SELECT 'all lines', count(*) FROM sales UNION ALL SELECT 'baskets', count(DISTINCT tid) FROM sales
-- 81 cumulative share of products
SELECT item, n, sum(n) OVER (ORDER BY n DESC, item) * 1.0 / sum(n) OVER () AS share FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) ORDER BY n DESC
-- 82 average number of distinct products per basket by CTE
WITH b AS (SELECT tid, count(DISTINCT item) AS n FROM sales GROUP BY tid) SELECT avg(n) AS mean, stddev(n) AS sd FROM b
-- 83 average price of a line
SELECT avg(price) AS mean FROM sales JOIN prices USING (item)
-- 84 median age of buyers of coffee
SELECT median(age) AS mid FROM customers WHERE tid IN (SELECT tid FROM sales WHERE item = 'coffee')
-- 85 youngest and oldest buyers
SELECT min(age) AS youngest, max(age) AS oldest FROM customers JOIN sales USING (tid) WHERE item = 'wine'
-- 86 top product of each town
SELECT town, item, n FROM (SELECT town, item, count(*) AS n, rank() OVER (PARTITION BY town ORDER BY count(*) DESC) AS r FROM sales JOIN customers USING (tid) GROUP BY town, item) WHERE r <= 3
-- 87 baskets without any dairy
SELECT count(DISTINCT tid) AS n FROM sales WHERE tid NOT IN (SELECT tid FROM sales WHERE item IN ('milk', 'butter', 'yogurt', 'cheese', 'cream'))
-- 88 number of categories in a basket
SELECT c, count(*) AS n FROM (SELECT tid, count(DISTINCT parent) AS c FROM sales JOIN food ON item = node GROUP BY tid) GROUP BY c ORDER BY c
-- 89 share of each age class that buys milk
SELECT age // 20 * 20 AS class, avg(CASE WHEN m THEN 1 ELSE 0 END) AS share FROM customers JOIN (SELECT tid, bool_or(item = 'milk') AS m FROM sales GROUP BY tid) USING (tid) GROUP BY class
-- 90 products that never occur with milk
SELECT count(DISTINCT item) AS n FROM sales WHERE item NOT IN (SELECT b.item FROM sales a JOIN sales b USING (tid) WHERE a.item = 'milk')
-- 91 value of products by the price list
SELECT p.item, p.price, s.n, p.price * s.n AS value FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) s JOIN prices p ON p.item = s.item ORDER BY value DESC LIMIT 5
-- 92 spread of the basket size
SELECT stddev(n) AS sd, var_pop(n) AS v FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 93 average number of categories in a basket
SELECT avg(c) AS mean FROM (SELECT tid, count(DISTINCT parent) AS c FROM sales JOIN food ON item = node GROUP BY tid)
-- 94 baskets with at least three categories
SELECT count(*) AS n FROM (SELECT tid FROM sales JOIN food ON item = node GROUP BY tid HAVING count(DISTINCT parent) >= 3)
-- 95 products that are never bought with milk, by an anti-join
SELECT DISTINCT item FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'milk' AND b.item = s.item)
-- 96 first and last day
SELECT min(day) AS first, max(day) AS last FROM customers
-- 97 first and last day by town
SELECT town, min(day) AS first, max(day) AS last, count(*) AS n FROM customers GROUP BY town
-- 98 baskets of at least so many products
SELECT t.k, count(*) AS baskets FROM generate_series(1, 5) t(k) JOIN (SELECT tid, count(*) AS n FROM sales GROUP BY tid) b ON b.n >= t.k GROUP BY t.k ORDER BY t.k
-- 99 bread with one of the five most frequent products
SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'bread' AND tid IN (SELECT tid FROM sales WHERE item IN (SELECT item FROM sales GROUP BY item ORDER BY count(*) DESC LIMIT 5))
-- 100 products in order of all columns
SELECT item, count(*) AS n FROM sales GROUP BY ALL ORDER BY ALL LIMIT 10
-- 101 products without a price
SELECT item FROM sales EXCEPT SELECT item FROM prices
-- 102 frequent products of a category
SELECT item FROM sales GROUP BY item HAVING count(*) > 100 INTERSECT SELECT node FROM food WHERE parent = 'dairy'
-- 103 milk and bread by INTERSECT
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' INTERSECT SELECT tid FROM sales WHERE item = 'bread')
-- 104 milk without bread by EXCEPT
SELECT count(*) AS n FROM (SELECT tid FROM sales WHERE item = 'milk' EXCEPT SELECT tid FROM sales WHERE item = 'bread')
-- 105 lines for each customer by decade of age
SELECT age // 10 * 10 AS decade, count(*) * 1.0 / count(DISTINCT tid) AS lines_each FROM sales JOIN customers USING (tid) GROUP BY decade ORDER BY decade
-- 106 share of baskets with a single product
SELECT avg((n = 1)::INTEGER) AS share FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid)
-- 107 overlap of milk and bread
SELECT count(*) FILTER (WHERE m AND b) * 1.0 / count(*) FILTER (WHERE m OR b) AS jaccard FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid)
-- 108 lines by category and product with subtotals
SELECT parent, item, count(*) AS n FROM sales JOIN food ON item = node GROUP BY ROLLUP (parent, item)
-- 109 milk and bread lines by town
SELECT town, sum((item = 'milk')::INTEGER) AS milk, sum((item = 'bread')::INTEGER) AS bread FROM sales JOIN customers USING (tid) GROUP BY town ORDER BY town
-- 110 products in a tenth of the baskets of people under 40
SELECT item, count(DISTINCT tid) AS n FROM sales JOIN customers USING (tid) WHERE age < 40 GROUP BY item HAVING count(DISTINCT tid) > 0.1 * (SELECT count(*) FROM customers WHERE age < 40) ORDER BY n DESC
-- 111 average number of categories per basket
SELECT avg(c) AS mean FROM (SELECT tid, count(DISTINCT parent) AS c FROM sales JOIN food ON item = node GROUP BY tid)
-- 112 customers by town with a total line
SELECT town, count(*) AS n FROM customers GROUP BY ROLLUP (town)
-- 113 lines by category and product with subtotals
SELECT parent, item, count(*) AS n FROM sales JOIN food ON item = node GROUP BY GROUPING SETS ((parent), (parent, item), ())
-- 114 customers of each week of a calendar
SELECT w.week, count(c.tid) AS n FROM (SELECT unnest(generate_series(DATE '2026-03-01', DATE '2026-04-30', INTERVAL 7 DAY))::DATE AS week) w LEFT JOIN customers c ON c.day >= w.week AND c.day < w.week + 7 GROUP BY w.week ORDER BY w.week
-- 115 days without customers
SELECT count(*) AS days FROM (SELECT range::DATE AS d FROM range(DATE '2026-03-01', DATE '2026-05-01', INTERVAL 1 DAY)) WHERE d NOT IN (SELECT day FROM customers)
-- 116 baskets by classes of sizes in a table
SELECT b.lo, count(*) AS n FROM (VALUES (1, 3), (4, 6), (7, 99)) AS b(lo, hi) JOIN (SELECT tid, count(*) AS n FROM sales GROUP BY tid) s ON s.n BETWEEN b.lo AND b.hi GROUP BY b.lo
-- 117 Jaccard index of milk and bread
SELECT count(*) FILTER (WHERE m AND b) * 1.0 / count(*) FILTER (WHERE m OR b) AS jaccard FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid)
-- 118 three best products of each town
SELECT town, item, n FROM (SELECT town, item, count(*) AS n, rank() OVER (PARTITION BY town ORDER BY count(*) DESC) AS r FROM sales JOIN customers USING (tid) GROUP BY town, item) WHERE r <= 3
-- 119 baskets with three products by lists
SELECT count(*) AS n FROM (SELECT tid, list(item) AS items FROM sales GROUP BY tid) WHERE list_has_all(items, ['milk', 'butter', 'bread'])
-- 120 share of baskets with milk by town
SELECT town, count(DISTINCT tid) FILTER (WHERE item = 'milk') * 1.0 / count(DISTINCT tid) AS pct FROM sales JOIN customers USING (tid) GROUP BY town ORDER BY pct DESC
-- 121 pivot of two products by town
PIVOT (SELECT item, town FROM sales JOIN customers USING (tid) WHERE item IN ('milk', 'bread')) ON town USING count(*) GROUP BY item
-- 122 most frequent product
SELECT mode(item) AS most FROM sales
-- 123 baskets by steps of 5 euros
SELECT floor(v / 5) * 5 AS bin, count(*) AS n FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid) GROUP BY bin ORDER BY bin
-- 124 change from month to month
SELECT month, n, n - lag(n) OVER (ORDER BY month) AS change FROM (SELECT date_trunc('month', day) AS month, count(*) AS n FROM customers GROUP BY month)
-- 125 frequent products as one text
SELECT string_agg(item, ', ' ORDER BY item) AS items FROM (SELECT item FROM sales GROUP BY item HAVING count(*) > 300)
-- 126 basket size of buyers of milk against others
SELECT m, avg(n) AS mean FROM (SELECT tid, count(*) AS n, bool_or(item = 'milk') AS m FROM sales GROUP BY tid) GROUP BY m
-- 127 share of one-item baskets that are milk
SELECT count(*) FILTER (WHERE n = 1 AND m) * 1.0 / count(*) FILTER (WHERE n = 1) AS share FROM (SELECT tid, count(*) AS n, bool_or(item = 'milk') AS m FROM sales GROUP BY tid)
-- 128 top categories with share
SELECT parent, count(*) AS n, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS pct FROM sales JOIN food ON item = node GROUP BY parent ORDER BY n DESC
-- 129 baskets with an item of dairy and of bakery
SELECT count(*) FROM (SELECT tid FROM sales JOIN food ON item = node GROUP BY tid HAVING bool_or(parent = 'dairy') AND bool_or(parent = 'bakery'))
-- 130 category pairs
SELECT fa.parent AS a, fb.parent AS b, count(DISTINCT s.tid) AS n FROM sales s JOIN sales t ON s.tid = t.tid JOIN food fa ON s.item = fa.node JOIN food fb ON t.item = fb.node WHERE fa.parent < fb.parent GROUP BY 1, 2 ORDER BY n DESC
-- 131 cross selling of coffee with confidence
SELECT b.item, count(*) AS n, count(*) * 1.0 / (SELECT count(*) FROM sales WHERE item = 'coffee') AS conf FROM sales a JOIN sales b ON a.tid = b.tid WHERE a.item = 'coffee' AND b.item <> 'coffee' GROUP BY b.item ORDER BY conf DESC LIMIT 5
-- 132 most expensive baskets
SELECT max(v) FROM (SELECT tid, sum(price) AS v FROM sales JOIN prices USING (item) GROUP BY tid)
-- 133 revenue of baskets with milk
SELECT sum(price) FROM sales JOIN prices USING (item) WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk')
-- 134 share of revenue by category
SELECT parent, sum(price) * 100 / (SELECT sum(price) FROM sales JOIN prices USING (item)) AS pct FROM sales JOIN prices USING (item) JOIN food ON node = item GROUP BY parent
-- 135 pareto: number of products that make 80 percent of lines
SELECT count(*) FROM (SELECT item, sum(count(*)) OVER (ORDER BY count(*) DESC) AS cum, sum(count(*)) OVER () AS total FROM sales GROUP BY item) WHERE cum <= 0.8 * total
-- 136 triples
SELECT count(*) FROM sales a JOIN sales b ON a.tid = b.tid JOIN sales c ON a.tid = c.tid WHERE a.item = 'milk' AND b.item = 'bread' AND c.item = 'butter'
-- 137 products bought mostly alone
SELECT item, count(*) FILTER (WHERE n = 1) AS alone, count(*) AS n FROM (SELECT tid, item, count(*) OVER (PARTITION BY tid) AS n FROM sales) GROUP BY item ORDER BY alone DESC LIMIT 5
-- 138 products whose mean basket is large
SELECT item, avg(n) AS mean FROM sales JOIN (SELECT tid, count(*) AS n FROM sales GROUP BY tid) USING (tid) GROUP BY item ORDER BY mean DESC LIMIT 5
-- 139 penetration by town with HAVING
SELECT town, count(DISTINCT tid) AS n FROM sales JOIN customers USING (tid) WHERE item IN ('milk', 'cream') GROUP BY town HAVING count(DISTINCT tid) > 20
-- 140 z-score of product counts
SELECT item, (n - avg(n) OVER ()) / stddev(n) OVER () AS z FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)
-- 141 quartiles of product counts
SELECT quantile_cont(n, [0.25, 0.5, 0.75]) AS q FROM (SELECT item, count(*) AS n FROM sales GROUP BY item)
-- 142 ntile of products
SELECT item, ntile(4) OVER (ORDER BY count(*) DESC) AS quartile FROM sales GROUP BY item
-- 143 baskets by age class and size class
SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS who, CASE WHEN n <= 3 THEN 'small' ELSE 'large' END AS size, count(*) AS baskets FROM (SELECT tid, count(*) AS n FROM sales GROUP BY tid) JOIN customers USING (tid) GROUP BY who, size
-- 144 a view of named groups by VALUES
SELECT g.grp, count(DISTINCT tid) AS n FROM sales JOIN (VALUES ('milk', 'white'), ('cream', 'white'), ('coffee', 'black')) AS g(item, grp) USING (item) GROUP BY g.grp
-- 145 chi-square ingredients
SELECT sum(CASE WHEN m AND b THEN 1 ELSE 0 END) AS mb, sum(CASE WHEN m AND NOT b THEN 1 ELSE 0 END) AS m_only, sum(CASE WHEN b AND NOT m THEN 1 ELSE 0 END) AS b_only, sum(CASE WHEN NOT m AND NOT b THEN 1 ELSE 0 END) AS none FROM (SELECT tid, max(CASE WHEN item = 'milk' THEN 1 ELSE 0 END) = 1 AS m, max(CASE WHEN item = 'bread' THEN 1 ELSE 0 END) = 1 AS b FROM sales GROUP BY tid)
-- 146 leverage and conviction
WITH s AS (SELECT count(DISTINCT tid) AS n FROM sales), a AS (SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'), b AS (SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'bread'), ab AS (SELECT count(DISTINCT x.tid) AS n FROM sales x JOIN sales y USING (tid) WHERE x.item = 'milk' AND y.item = 'bread') SELECT ab.n * 1.0 / s.n - (a.n * 1.0 / s.n) * (b.n * 1.0 / s.n) AS leverage FROM s, a, b, ab
-- 147 items with at least twice the support of milk
SELECT item FROM sales GROUP BY item HAVING count(*) >= 2 * (SELECT count(*) FROM sales WHERE item = 'milk')
-- 148 customers per month and town as a crosstab
SELECT date_trunc('month', day) AS month, count(*) FILTER (WHERE town = 'Cork') AS cork, count(*) AS n FROM customers GROUP BY 1 ORDER BY 1
-- 149 average revenue per customer by town
SELECT town, sum(price) / count(DISTINCT tid) AS each FROM sales JOIN prices USING (item) JOIN customers USING (tid) GROUP BY town
-- 150 baskets that hold only products under 3 euros
SELECT count(*) FROM (SELECT tid FROM sales JOIN prices USING (item) GROUP BY tid HAVING max(price) < 3)
-- 151 cheapest item in milk baskets
SELECT count(*) FROM (SELECT tid, min(price) AS p FROM sales JOIN prices USING (item) GROUP BY tid) WHERE p < 1
-- 152 distinct products per town
SELECT town, count(DISTINCT item) AS n FROM sales JOIN customers USING (tid) GROUP BY town
-- 153 repeat: exists by lateral
SELECT count(*) FROM customers c WHERE (SELECT count(*) FROM sales s WHERE s.tid = c.tid) >= 5
-- 154 correlation of two flags
SELECT corr(m::INTEGER, b::INTEGER) FROM (SELECT tid, bool_or(item = 'milk') AS m, bool_or(item = 'bread') AS b FROM sales GROUP BY tid)
-- 155 first letter with at least 3 products
SELECT left(item, 1) AS l, count(DISTINCT item) AS n FROM sales GROUP BY l HAVING count(DISTINCT item) >= 3 ORDER BY l
-- 156 length of the item names
SELECT length(item) AS len, count(*) AS n FROM sales GROUP BY len ORDER BY len
-- 157 products above the average count
SELECT count(*) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item) WHERE n > (SELECT avg(n) FROM (SELECT item, count(*) AS n FROM sales GROUP BY item))
-- 158 top product by category with DISTINCT ON
SELECT DISTINCT ON (parent) parent, item, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent, item ORDER BY parent, n DESC
-- 159 arg_max
SELECT parent, arg_max(item, n) AS best FROM (SELECT parent, item, count(*) AS n FROM sales JOIN food ON item = node GROUP BY parent, item) GROUP BY parent
-- 160 running total by month
SELECT month, sum(n) OVER (ORDER BY month) AS total FROM (SELECT date_trunc('month', day) AS month, count(*) AS n FROM customers GROUP BY month)
-- 161 share of customers over 60 in each town
SELECT town, avg((age > 60)::INTEGER) AS share FROM customers GROUP BY town
-- 162 baskets with more dairy than bakery
SELECT count(*) FROM (SELECT tid, count(*) FILTER (WHERE parent = 'dairy') AS d, count(*) FILTER (WHERE parent = 'bakery') AS b FROM sales JOIN food ON item = node GROUP BY tid) WHERE d > b
-- 163 average dairy items in a basket
SELECT avg(d) FROM (SELECT tid, count(*) FILTER (WHERE item IN ('milk', 'butter', 'cheese')) AS d FROM sales GROUP BY tid)
-- 164 items in milk baskets per basket
SELECT count(*) * 1.0 / count(DISTINCT tid) AS lines FROM sales WHERE tid IN (SELECT tid FROM sales WHERE item = 'milk')
-- 165 approx count distinct
SELECT approx_count_distinct(tid) AS n FROM sales
-- 166 lines by category from a staging query
WITH lines AS (SELECT s.tid, s.item, f.parent AS category, p.price FROM sales s LEFT JOIN food f ON f.node = s.item LEFT JOIN prices p ON p.item = s.item) SELECT category, count(DISTINCT tid) AS baskets, sum(price) AS revenue FROM lines GROUP BY category ORDER BY revenue DESC
-- 167 value of baskets from a staging query
WITH lines AS (SELECT s.tid, s.item, coalesce(p.price, 0) AS price FROM sales s LEFT JOIN prices p USING (item)), baskets AS (SELECT tid, count(*) AS n, sum(price) AS total FROM lines GROUP BY tid) SELECT avg(total) AS mean, count(*) FILTER (WHERE total > 20) AS large FROM baskets
-- 168 baskets by two flags of categories from a staging query
WITH lines AS (SELECT tid, parent AS category FROM sales JOIN food ON item = node), flags AS (SELECT tid, bool_or(category = 'dairy') AS dairy, bool_or(category = 'bakery') AS bakery FROM lines GROUP BY tid) SELECT dairy, bakery, count(*) AS n FROM flags GROUP BY ALL
-- 169 lines and baskets by price class
WITH lines AS (SELECT tid, item, CASE WHEN price < 2 THEN 'low' WHEN price < 5 THEN 'middle' ELSE 'high' END AS class FROM sales JOIN prices USING (item)) SELECT class, count(*) AS n, count(DISTINCT tid) AS baskets FROM lines GROUP BY class
-- 170 share of each price class
WITH lines AS (SELECT tid, CASE WHEN price < 2 THEN 'low' ELSE 'high' END AS class FROM sales JOIN prices USING (item)) SELECT class, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM lines GROUP BY class
-- 171 share of milk in the lines of a town
WITH lines AS (SELECT s.*, c.town FROM sales s JOIN customers c USING (tid)) SELECT town, count(*) FILTER (WHERE item = 'milk') * 1.0 / count(*) AS share FROM lines GROUP BY town
-- 172 lines without a price
SELECT count(*) FROM sales LEFT JOIN prices USING (item) WHERE price IS NULL
-- 173 first five by a rank in a CTE
WITH t AS (SELECT item, count(*) AS n FROM sales GROUP BY item), r AS (SELECT *, rank() OVER (ORDER BY n DESC) AS place FROM t) SELECT item, n, place FROM r WHERE place <= 5 ORDER BY place
-- 174 counts by cleaned names
WITH clean AS (SELECT tid, lower(trim(item)) AS name FROM sales) SELECT name, count(DISTINCT tid) AS n FROM clean GROUP BY name
-- 175 a CASE in WHERE
SELECT count(DISTINCT tid) FROM sales WHERE CASE WHEN item LIKE '%milk%' THEN 'milk' ELSE 'other' END = 'milk'
-- 176 share of revenue by category
WITH c AS (SELECT parent, sum(price) AS revenue FROM sales JOIN prices USING (item) JOIN food ON item = node GROUP BY parent) SELECT parent, revenue / sum(revenue) OVER () AS share FROM c
-- 177 classes of basket sizes in two steps
WITH b AS (SELECT tid, count(*) AS n FROM sales GROUP BY tid), k AS (SELECT *, CASE WHEN n = 1 THEN 'single' WHEN n <= 3 THEN 'few' ELSE 'many' END AS class FROM b) SELECT class, count(*) AS baskets FROM k GROUP BY class
-- 178 buyers of dairy by age class
WITH d AS (SELECT DISTINCT tid FROM sales JOIN food ON item = node WHERE parent = 'dairy'), a AS (SELECT tid, CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS who FROM customers) SELECT who, count(*) AS n FROM a JOIN d USING (tid) GROUP BY who
-- 179 mean price of a dairy line
WITH lines AS (SELECT s.tid, f.parent AS category, p.price FROM sales s JOIN food f ON f.node = s.item JOIN prices p USING (item)) SELECT avg(price) AS mean FROM lines WHERE category = 'dairy'
-- 180 pairs of products of two categories from one staging query
WITH lines AS (SELECT tid, item, parent FROM sales JOIN food ON item = node) SELECT a.item AS one, b.item AS two, count(*) AS n FROM lines a JOIN lines b ON a.tid = b.tid WHERE a.parent = 'dairy' AND b.parent = 'bakery' GROUP BY ALL ORDER BY n DESC LIMIT 5
