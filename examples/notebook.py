# %% [markdown]
# # An anonymized release, cell by cell
#
# Open this file in an editor that knows `# %%` cells, or run it: `python examples/notebook.py`.

# %%
import tempfile
from pathlib import Path

import duckdb

import anondb
from anondb.demo import make_shop

directory = tempfile.TemporaryDirectory()
place = Path(directory.name)
db = anondb.connect(place / "shop.duckdb")
make_shop(db)
print(db.sql("SELECT * FROM sales LIMIT 3"))

# %% [markdown]
# ## The policy, as SQL

# %%
created = db.sql("""
    CREATE ANONYMIZED VIEW spring AS SELECT tid, item FROM sales
    WITH (model = 'km', k = 5, m = 2, taxonomy = 'food', queries = 200)
""")
print(created.words)
print(f"LM {created.report.loss.lm:.4f}")
errors = created.report.accuracy.relative_error
print(f"median error of the {errors.frequent} COUNT queries with a truth of 5 or more: {errors.median_frequent:.3f}")
print(f"of all queries: {errors.median:.3f}; always answering 0 scores {errors.always_zero:.0f}")

# %% [markdown]
# ## Why does saffron look as it does?

# %%
why = db.explain("spring", "saffron")
for step in why.steps:
    print(f"round {step.round_number}, step {step.step}: {step.words}")
print(why.conclusion)

# %% [markdown]
# ## The analyst's side: any DuckDB client, and nothing but the release

# %%
db.release("spring").publish(place / "spring.duckdb")
with duckdb.connect(str(place / "spring.duckdb"), read_only=True) as analyst:
    bounds = analyst.sql("FROM count_bounds(['milk', 'bread'])").fetchall()[0]
print("milk and bread:", bounds)
truth = db.sql("""
    SELECT count(*) FROM sales AS a JOIN sales AS b ON a.tid = b.tid WHERE a.item = 'milk' AND b.item = 'bread'
""")
(true_count,) = truth.fetchall()[0]
print("the truth:", true_count)
assert bounds[0] <= true_count <= bounds[2]

# %% [markdown]
# ## New sales come in

# %%
print(db.sql("REFRESH ANONYMIZED VIEW spring").words)
db.sql("DELETE FROM sales WHERE tid % 10 = 0")
check = db.check_view("spring")
print("today's data keep the policy" if check.holds else f"violations: {check.verification.violations}")
print(db.sql("REFRESH ANONYMIZED VIEW spring").words)

# %%
db.close()
directory.cleanup()
