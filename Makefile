# Everything that one does with lawful from its source. `make` alone lists the targets.
#   PYTHON=...  the interpreter to make the environment with, instead of the first fit one
#   ARGS=...    more arguments for demo, the tests and bench

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
# Written last, so that it exists only if the whole installation went well, and is up to date only if the
# project's requirements have not changed since: no target asks pip a second time.
INSTALLED := $(VENV)/.installed
# Numba keeps compiled kernels beside their source and looks at that one file's time alone: a kernel that calls
# another would go on with the old one. So when any has changed, all are compiled anew at their next use.
KERNELS := $(VENV)/.kernels
READY := $(INSTALLED) $(KERNELS)

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-clusters test-slow lint bench docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r target what; do \
	    printf '%-18s %s\n' "$$target" "$$what"; done

setup: $(READY) ## make .venv with lawful, Spark, a Java and the development tools

demo: $(READY) ## find the laws of a small table, as a first look
	$(BIN)/lawful demo $(ARGS)

# Two processes: one computes while the other waits for Java. Which tests stay together is said in tests/groups.py.
test: $(READY) ## run the tests, except those on clusters and the slow ones
	$(BIN)/python -m pytest -n 2 --dist loadscope -m "not slow and not cluster" $(ARGS)

# Masters, workers, Connect servers: Java processes that mostly wait for each other.
test-clusters: $(READY) ## run the tests on Spark clusters of several processes
	$(BIN)/python -m pytest -m "cluster and not slow" $(ARGS)

# Properties again, on thousands of examples each instead of a few.
test-slow: $(READY) ## run the slow tests, and every property on thousands of examples
	$(BIN)/python -m pytest -m "slow or hypothesis" --hypothesis-profile thousands --timeout 3600 $(ARGS)

# The lowest versions that pyproject.toml allows, of what it names itself: these use what newer packages below them deprecate. Kernels are kept apart: they belong to one Numba.
LOWEST := .venv-lowest
LOWEST_TESTS := tests/test_imports.py tests/test_api.py tests/checks/test_check.py tests/tables/test_typed_columns.py \
    tests/tables/test_csv_sources.py tests/tables/test_parquet_sources.py tests/tables/test_arrow_functions.py \
    tests/tables/test_spark_frames.py tests/engines/test_session.py tests/exports/test_queries.py \
    tests/cli/test_check.py tests/cli/test_options.py tests/cli/test_export.py tests/cli/test_report.py
.PHONY: test-lowest test-packages
test-lowest: $(LOWEST)/.installed ## run some tests with the lowest versions that are allowed
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/kernels $(LOWEST)/bin/python -m pytest -W ignore::DeprecationWarning \
	    -m "not slow and not cluster" $(or $(ARGS),$(LOWEST_TESTS))

$(LOWEST)/.installed: pyproject.toml $(INSTALLED)
	$(BIN)/uv venv --quiet --clear --python $(or $(PYTHON),$(BIN)/python) $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --editable '.[all]'
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --editable '.[test]'
	@touch $@

#   PYTHONS="python3.12 python3.13"  the interpreters to install into, instead of the one of .venv
test-packages: $(READY) ## build wheel and sdist, install them into empty environments and use them
	LAWFUL_PYTHONS="$(PYTHONS)" $(BIN)/python -m pytest tests/packages -m slow --timeout 1800 $(ARGS)

lint: $(INSTALLED) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY) ## measure speed
	$(BIN)/python -m bench $(ARGS)

# The tools that laws are exported to do not fit into one environment, nor into lawful's own.
TOOLS := .tools
TOOLS_OF_dbt := "dbt-core~=1.10.0" "dbt-duckdb~=1.10.0"
TOOLS_OF_gx := "great-expectations[postgresql]"
TOOLS_OF_dqx := databricks-labs-dqx "pyspark==4.0.*" "pandas<3" pyarrow
TOOLS_OF_soda := soda-duckdb
TOOLS_OF_odcs := "datacontract-cli[duckdb]"
.PHONY: tools
tools: $(INSTALLED) $(foreach tool,dbt gx dqx soda odcs,$(TOOLS)/$(tool)/.installed) ## make environments for the tools that laws are exported to

$(TOOLS)/%/.installed:
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(TOOLS)/$*
	$(BIN)/uv pip install --quiet --python $(TOOLS)/$*/bin/python $(TOOLS_OF_$*)
	@touch $@

docs: $(INSTALLED) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean: ## remove what the other targets leave, except .venv
	rm -rf site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(KERNELS): $(INSTALLED) src/lawful/common/compiled.py $(shell find src -path '*/kernels/*.py')
	@find src -name '*.nb[ic]' -delete
	@touch $@

# A name on the PATH proves nothing: version managers put programs there that only print an error. So each
# candidate is run, and has to be new enough and able to make an environment with pip in it.
$(INSTALLED): pyproject.toml
	@rm -f $(INSTALLED)
	@fit='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; \
	if ! $(BIN)/python -c "$$fit" 2>/dev/null || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	    found=; \
	    for candidate in $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python); do \
	        if "$$candidate" -c "$$fit" >/dev/null 2>&1; then found=$$candidate; break; fi; \
	    done; \
	    if [ -z "$$found" ]; then \
	        echo "lawful needs Python 3.11 or newer with the modules venv and ensurepip; none of these is:" >&2; \
	        echo "  $(or $(PYTHON),python3.13 python3.12 python3.11 python3 python)" >&2; \
	        echo "Install one (on Debian and Ubuntu with its package python3-venv)," >&2; \
	        echo "or say where it is: make setup PYTHON=/path/to/python3" >&2; \
	        exit 1; \
	    fi; \
	    echo "Making $(VENV) with $$("$$found" --version)"; \
	    "$$found" -m venv --clear $(VENV) || exit 1; \
	fi
	@echo "Installing lawful with Spark, Java and its tools into $(VENV), which takes a minute or two"; \
	log=$(VENV)/install.log; \
	PYTHONUNBUFFERED=1 $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --editable '.[dev]' \
	    >$$log 2>&1 & pip=$$!; \
	while kill -0 $$pip 2>/dev/null; do \
	    sleep 1; \
	    if [ -t 1 ]; then printf '\r  %-70.70s' "$$(tail -n 1 $$log)"; fi; \
	done; \
	if [ -t 1 ]; then printf '\r%-72s\r' ''; fi; \
	wait $$pip || { echo "The installation failed:" >&2; tail -n 15 $$log >&2; exit 1; }
	@touch $(INSTALLED)
