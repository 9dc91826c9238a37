# Two commands on a fresh machine: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test quick check nightly bench bench-supports bench-scale bench-defaults bench-papers examples clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	$(BIN)/python -m compileall -q anondb
	touch $(STAMP)

demo: $(STAMP)
	rm -rf anondb-demo
	$(BIN)/anondb demo anondb-demo

SPARK := $(VENV)/.spark

$(SPARK): $(STAMP)
	$(BIN)/python -m pip install --quiet --group spark
	touch $(SPARK)

# Both workers take whole files in their order: what a file makes once is not made twice, and small files come last.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test: $(STAMP)
	$(PYTEST) -m "not slow and not nightly"

quick: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(PYTEST) -m "not slow and not nightly" tests/unit tests/papers tests/sql

check: $(SPARK)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -m "not nightly"

nightly: $(SPARK)
	$(PYTEST)

bench: $(STAMP)
	$(BIN)/python benchmarks/queries.py
	$(BIN)/python benchmarks/main_job.py
	$(BIN)/python benchmarks/coat.py
	$(BIN)/python benchmarks/multi_anatomy_paper.py
	$(BIN)/python benchmarks/local.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/rt_paper.py --limits

# All supported items and pairs of the real data: some minutes.
bench-supports: $(STAMP)
	$(BIN)/python benchmarks/item_supports.py

# Up to a million transactions: some minutes, 4 GB.
bench-scale: $(STAMP)
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/quest.py

# Every algorithm of km on all data with a taxonomy: an hour.
bench-defaults: $(STAMP)
	$(BIN)/python benchmarks/defaults.py

bench-papers: $(STAMP)
	$(BIN)/python benchmarks/papers.py

# The dbt project is built where dbt is installed: pip install "dbt-core>=1.10,<2" dbt-duckdb
examples: $(STAMP)
	rm -rf anondb-examples
	$(BIN)/anondb demo anondb-examples
	$(BIN)/anondb run anondb-examples/shop.duckdb examples/policy.sql
	$(BIN)/anondb verify anondb-examples/shop.duckdb --release weekly --against-source
	$(BIN)/anondb explain anondb-examples/shop.duckdb --release weekly --item saffron
	$(BIN)/python examples/notebook.py
	if command -v dbt >/dev/null; then cd examples/dbt_project && dbt build --profiles-dir .; fi
	rm -rf anondb-examples

clean:
	rm -rf $(VENV) anondb-demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
