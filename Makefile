# Two commands on a fresh machine: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test quick check bench examples clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $(STAMP)

demo: $(STAMP)
	rm -rf anondb-demo
	$(BIN)/anondb demo anondb-demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m "not slow"

quick: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n 2 -m "not slow" tests/unit tests/papers tests/sql

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

bench: $(STAMP)
	$(BIN)/python benchmarks/main_job.py

clean:
	rm -rf $(VENV) anondb-demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
