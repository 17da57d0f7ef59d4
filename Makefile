# Everything runs in .venv/, which `make setup` makes from locked versions; Python, make and git are all a machine needs.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready

.PHONY: setup paper test test-all lint types imports unit interpreted doctest format benchmark lock clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(STAMP)

paper: setup  ## reproduce the paper: figures, tables and a report under results/paper
	$(BIN)/driftbandits reproduce --trials 20 --horizon 6000 --seed 0 --out results/paper

test: setup lint types imports unit interpreted  ## what CI runs

test-all: test  ## with the slow statistical checks
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "slow or interpreted"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports --no-cache

unit: setup  ## compiled, docstring examples included
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow and not interpreted" tests src --doctest-modules

interpreted: setup  ## the same kernels without compilation, where coverage can see them
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow and not compiled" tests --cov --cov-report=term

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: setup
	for f in benchmarks/bench_*.py; do $(BIN)/python $$f; done

lock: setup  ## write the versions in use
	$(BIN)/python -m pip freeze --exclude-editable > requirements.lock

clean:
	rm -rf .venv results build dist
