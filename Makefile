# Two commands on a fresh machine: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROGRAM := $(VENV)/.program
STAMP := $(VENV)/.installed

# Tests start hundreds of processes: without compiled files each of them compiles anondb again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs test quick check nightly bench bench-limits bench-supports bench-scale bench-defaults bench-papers examples clean

$(PROGRAM): pyproject.toml
	@echo "1/3 Making a virtual environment in $(VENV) (some seconds)"
	@$(PYTHON) -m venv $(VENV)
	@echo "2/3 Installing anondb there with DuckDB, pandas and PyArrow: about 100 MB to download the first time, a minute or so"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@echo "3/3 Compiling"
	@$(BIN)/python -m compileall -q anondb
	@touch $(PROGRAM)

$(STAMP): $(PROGRAM)
	@echo "Installing what the tests need (a minute or two the first time)"
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

demo: $(PROGRAM)
	@rm -rf anondb-demo
	@echo "Making a shop and publishing two releases of it (some seconds)"
	@$(BIN)/anondb demo anondb-demo

SPARK := $(VENV)/.spark

$(SPARK): $(STAMP)
	$(BIN)/python -m pip install --quiet --group spark
	touch $(SPARK)

DOCS := $(VENV)/.docs

$(DOCS): $(PROGRAM)
	@echo "Installing what the site and the notebooks need (a minute or so the first time)"
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --group docs
	@touch $(DOCS)

docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html; for the search box, run $(BIN)/mkdocs serve"

# Both workers take whole files in their order: what a file makes once is not made twice.
# A worker that dies ends the run, which would wait for ever otherwise.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0

test: $(STAMP)
	$(PYTEST) --timeout 300 -m "not slow and not nightly"

quick: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(PYTEST) -m "not slow and not nightly" tests/unit tests/papers tests/sql

# mypy and the ratios, which are of CPU times, take a core each.
check: $(SPARK) $(DOCS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; $(BIN)/python benchmarks/ratios.py --check; ratios=$$?; wait $$types && exit $$ratios
	$(PYTEST) --timeout 600 -m "not nightly"

nightly: $(SPARK) $(DOCS)
	$(PYTEST)

# Needs no data, some minutes.
bench: $(STAMP)
	$(BIN)/python benchmarks/ratios.py

# What has a limit, on real data.
bench-limits: $(STAMP)
	$(BIN)/python benchmarks/queries.py
	$(BIN)/python benchmarks/modelled.py
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
examples: $(DOCS)
	rm -rf anondb-examples
	$(BIN)/anondb demo anondb-examples
	$(BIN)/anondb run anondb-examples/shop.duckdb examples/policy.sql
	$(BIN)/anondb verify anondb-examples/shop.duckdb --release weekly --against-source
	$(BIN)/anondb explain anondb-examples/shop.duckdb --release weekly --item saffron
	$(BIN)/jupyter-execute examples/owner.ipynb examples/analyst.ipynb
	if command -v dbt >/dev/null; then cd examples/dbt_project && dbt build --profiles-dir .; fi
	rm -rf anondb-examples

clean:
	rm -rf $(VENV) anondb-demo site dist build .pytest_cache .mypy_cache .ruff_cache
