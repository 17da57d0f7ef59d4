# Everything runs in .venv/, which `make setup` makes from locked versions; Python, make and git are all a machine needs.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
# Byte code is kept when a module is first imported, not for all that is installed: tests start a hundred processes.
unexport PYTHONDONTWRITEBYTECODE
# Processes of each run of tests; 0 is the process of pytest itself. Tests of a file or group stay in one, and the long ones start first.
WORKERS ?= 2
SPLIT = -n $(WORKERS) --dist loadgroup --no-loadscope-reorder

.PHONY: setup paper test digests digests-all test-all test-numba test-matrix test-package lint types imports unit interpreted format mutants torture tables benchmark bench bench-ours bench-bulk bench-quick docs docs-lock results lock clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(STAMP)

paper: setup  ## reproduce the paper: figures, tables and a report under results/paper
	$(BIN)/driftbandits reproduce --trials 20 --horizon 6000 --seed 0 --out results/paper

# Three targets at a time, each run of tests in one process: nothing is collected or compiled twice, and while one waits for a page, a
# database or the last long test, the others use its core. Their output comes when they are done.
test: setup lint  ## what CI runs
	$(MAKE) --no-print-directory --jobs 3 --output-sync=target WORKERS=0 unit interpreted types imports digests

test-all: COVER_FIRST = --cov --cov-report= --cov-fail-under=0
test-all: COVER = --cov --cov-append --cov-report=term
test-all: export EXAMPLES = 100
test-all: setup lint types imports unit interpreted digests docs test-numba test-package digests-all  ## with the slow statistical checks, every strategy compiled, and the lines that tests reach: at least 90 %
	$(BIN)/python -m pytest $(SPLIT) -m "slow or interpreted" tests src --doctest-modules

test-numba: setup  ## a smoke set on the oldest and the newest numba we promise, each in its own environment
	$(BIN)/python tests/versions/run.py

test-matrix: setup  ## a smoke set on Python 3.11, 3.12 and 3.13, where they are installed, with the locked versions
	$(BIN)/python tools/matrix.py

test-package: setup  ## wheel and sdist, built, installed in clean environments and used
	$(BIN)/python tools/package.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy --num-workers 2

imports: setup
	$(BIN)/lint-imports --no-cache

unit: setup  ## compiled: what is about kernels, and what uses Bandit
	$(BIN)/python -m pytest $(SPLIT) -m "not slow and not interpreted" tests $(COVER_FIRST)

interpreted: setup  ## the same kernels without compilation; all that is not a kernel; docstring examples
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(SPLIT) -m "not slow and not compiled" tests src --doctest-modules $(COVER)

digests: setup  ## choices and numbers of every learner against tests/digests/golden.json, without the compiler
	NUMBA_DISABLE_JIT=1 OMP_NUM_THREADS=1 $(BIN)/python tests/digests/run.py --quick --jobs 2

digests-all: setup  ## the same compiled, and what takes minutes without the compiler
	OMP_NUM_THREADS=1 $(BIN)/python tests/digests/run.py

mutants: COUNT ?= 200
mutants: SEED ?= $(shell date +%Y%m%d)
mutants: setup  ## change one thing at a time and see whether a test notices: COUNT mutants drawn with SEED (today's date), survivors listed
	$(BIN)/python tools/mutate.py sample $(COUNT) $(SEED)

torture: setup  ## attack files, processes and calls for some minutes; HOURS=4 for longer. Counts belong into docs/reliability.md
	PYTHONPATH=tests $(BIN)/python -m torture $(if $(HOURS),--hours $(HOURS))

tables: setup  ## write the tables of algorithms in docs from the zoo's records
	$(BIN)/python docs/tables.py

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: setup  ## the kernels and fronts alone
	for f in benchmarks/bench_*.py; do $(BIN)/python $$f; done

docs: .venv-docs/.ready  ## the site, into build/site: offline, in an environment of its own, every warning an error
	.venv-docs/bin/python -m sphinx -q -W --keep-going -b html docs build/site
	@echo "build/site/index.html"

.venv-docs/.ready: docs/requirements.lock
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement docs/requirements.lock
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch .venv-docs/.ready

docs-lock: .venv-docs/.ready  ## write the versions of the site's environment
	.venv-docs/bin/python -m pip freeze --exclude-editable | $(BIN)/python tools/lock.py docs/requirements.lock

STUDY ?= paper norm-5 beyond piecewise scaling successors learners which drift replay adaptive_study
results: setup  ## rerun studies and put their results where the tables of the site find them; STUDY="drift which" names some of them
	for s in $(STUDY); do $(BIN)/driftbandits study $$s --out docs || exit 1; done
	$(BIN)/python docs/tables.py

bench: setup  ## side by side with the peers, which are installed into .venv-bench; what benchmarks/results/cells has is not played again. DRIFTBANDITS_DATA names the folder of the real streams
	$(BIN)/python benchmarks/bench/environment.py
	PYTHONPATH=src:benchmarks .venv-bench/bin/python -m bench

bench-ours: setup  ## the same, but only our learners play; peers as far as they are kept
	$(BIN)/python benchmarks/bench/environment.py
	PYTHONPATH=src:benchmarks .venv-bench/bin/python -m bench --only bandit bandit_explore_0 self_tuning

bench-bulk: setup  ## what a row of a log costs, beside what the peers take for the same rows
	$(BIN)/python benchmarks/bench/environment.py
	PYTHONPATH=src:benchmarks .venv-bench/bin/python benchmarks/bench_bulk.py

bench-quick: setup  ## in 90 seconds: what got worse than the committed results by more than 20 %
	PYTHONPATH=benchmarks $(BIN)/python -m bench.quick

lock: setup  ## write the versions in use, with the hashes of their files
	$(BIN)/python -m pip freeze --exclude-editable | $(BIN)/python tools/lock.py requirements.lock

clean:
	rm -rf .venv .venv-docs results build dist
