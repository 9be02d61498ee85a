# Everything that one does with lawful from its source. `make` alone lists the targets.
#   PYTHON=...  the interpreter to make the environment with, instead of the first fit one
#   ARGS=...    more arguments for demo, test, test-slow and bench

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
.PHONY: help setup demo test test-slow lint bench docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r target what; do \
	    printf '%-18s %s\n' "$$target" "$$what"; done

setup: $(READY) ## make .venv with lawful, Spark, a Java and the development tools

demo: $(READY) ## find the laws of a small table, as a first look
	$(BIN)/lawful demo $(ARGS)

# Two processes: one computes while the other waits for Java. Which tests stay together is said in tests/groups.py.
test: $(READY) ## run the tests, except the slow ones
	$(BIN)/python -m pytest -n 2 --dist loadscope -m "not slow" $(ARGS)

# Properties again, on thousands of examples each instead of a few.
test-slow: $(READY) ## run the slow tests, and every property on thousands of examples
	$(BIN)/python -m pytest -m "slow or hypothesis" --hypothesis-profile thousands --timeout 3600 $(ARGS)

lint: $(INSTALLED) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY) ## measure speed
	$(BIN)/python -m bench $(ARGS)

docs: $(INSTALLED) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean: ## remove what the other targets leave, except .venv
	rm -rf site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(KERNELS): $(INSTALLED) $(wildcard src/lawful/common/compiled.py src/lawful/*/kernels/*.py src/lawful/*/*/kernels/*.py)
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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(INSTALLED)
