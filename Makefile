# Two commands do everything on a machine that has Python 3.11 or newer and make: `make demo` and `make test`.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Test processes; `make test WORKERS=2` where memory is short.
WORKERS ?= auto

.PHONY: demo test lint check-proto proto bench test-nightly test-cuda clean

demo: $(READY)
	$(BIN)/python samples/demo.py

test: lint check-proto
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "not nightly"

test-nightly: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) -m nightly

# On a machine with a CUDA device, after: pip uninstall onnxruntime; pip install onnxruntime-gpu
test-cuda: $(READY)
	$(BIN)/python -m pytest -q -m cuda -rs tests/cuda

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy maxgraph cli
	$(BIN)/lint-imports

proto: $(READY)
	$(BIN)/python tools/gen_proto.py

check-proto: $(READY)
	$(BIN)/python tools/gen_proto.py --check

bench: $(READY)
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/parts.py
	$(BIN)/python benchmarks/load.py

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed, and none was found" >&2; exit 2; }
	@# An environment that was left half made, or whose Python is gone, is made anew.
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=24" "setuptools>=80" wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,test,samples]"
	touch $(READY)

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .import_linter_cache
