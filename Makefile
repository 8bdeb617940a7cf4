# Two commands do the work: `make run` shows a small evaluation from start to report, `make test` proves everything.
# Both install what they need into this folder (.tools, .venv). Only the Chromium of the browser tests comes from the
# system: `make test` installs Debian's package where there is none, if it may.

UV := .tools/uv/bin/uv
export UV_PYTHON_DOWNLOADS = never
export UV_PROJECT_ENVIRONMENT = .venv
# What Python compiles is kept in .tools, whatever the environment says: tests start hundreds of processes, and compiling
# its imports takes a gym server as long as everything else until it is ready. Nothing is written beside the sources.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX = $(CURDIR)/.tools/pycache
# What mypy has learned of unchanged files is kept beside what the test cluster keeps: a fresh clone is checked in seconds.
export MYPY_CACHE_DIR ?= $(HOME)/.cache/opsgym/mypy
RUN := $(UV) run --frozen --no-sync
STORE := results
PYTEST_ARGS :=
IMAGES := operator runner domains console

.PHONY: help run test checked prepared test-cluster cluster-up cluster-down kind-up lint format generate bench paper fleet soak flaky mutants pictures site images release clean
.DEFAULT_GOAL := help

help: ## Lists what make can do
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: .venv/.ready ## Runs the quickstart evaluation: live progress, score table, HTML report
	@.venv/bin/opsgym run examples/quickstart.yaml --store $(STORE); code=$$?; \
	 .venv/bin/opsgym report quickstart --store $(STORE) --out report && exit $$code

test: ## Checks and tests everything: the quick tests first, then the cluster beside the rest
	@$(MAKE) --no-print-directory --jobs=2 checked prepared
	$(RUN) python -m tools.test_run unit cluster $(if $(PYTEST_ARGS),--options="$(PYTEST_ARGS)")

checked: lint
	$(RUN) python -m tools.test_run quick $(if $(PYTEST_ARGS),--options="$(PYTEST_ARGS)")

prepared: .venv/.dev .tools/chromium
	@$(MAKE) --no-print-directory images || [ -z "$$CI" ]
	@$(RUN) python -m devcluster.prepare
# In a fresh clone, pytest compiles all tests; five processes that begin at the same time would each do all of it.
	@[ -z "$$CI" ] || $(RUN) pytest --collect-only -q >.tools/collected 2>&1 || true

test-cluster: .venv/.dev images ## Tests opsgym in a real Kubernetes, which it starts and removes (Linux, root)
	@$(RUN) python -m devcluster.prepare
	$(RUN) python -m tools.test_run cluster $(if $(PYTEST_ARGS),--options="$(PYTEST_ARGS)")

cluster-up: .venv/.dev images ## Starts that Kubernetes with opsgym's images, and leaves it running
	@$(RUN) python -m devcluster.up $(foreach name,$(IMAGES),--image .images/$(name).tar)

cluster-down: .venv/.dev ## Removes that Kubernetes
	@$(RUN) python -m devcluster.down

kind-up: images ## Starts a cluster on kind with opsgym's images (Docker)
	@command -v kind >/dev/null || { echo "kind is missing; see https://kind.sigs.k8s.io" >&2; exit 1; }
	@kind get clusters 2>/dev/null | grep -qx opsgym || kind create cluster --config kind-config.yaml
	@for name in $(IMAGES); do kind load image-archive .images/$$name.tar --name opsgym || exit; done

lint: .venv/.dev ## Style, types, layers, words, generated files
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) lint-imports
	$(RUN) python tools/words.py
	$(RUN) python -m opsgym_api.kinds.crd_schema --check
	$(RUN) python -m opsgym_api.tasks.json_schema --check
	$(RUN) python -m opsgym_core.metrics.registry --check
	$(RUN) python -m tools.charts --check
	$(RUN) python -m tools.dashboards --check
	$(RUN) python -m tools.provider_matrix --check
	$(RUN) python -m tools.tool_names --check
	$(RUN) python -m tools.reference --check
	$(RUN) python -m tools.workflows
	@$(MAKE) --no-print-directory site
	$(RUN) python -m opsgym_suites --check

format: .venv/.dev ## Formats the code
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

generate: .venv/.dev ## Writes the generated files: CRDs, tables of metrics, what charts repeat, dashboards, built-in suites
	$(RUN) python -m opsgym_api.kinds.crd_schema
	$(RUN) python -m opsgym_api.tasks.json_schema
	$(RUN) python -m opsgym_core.metrics.registry
	$(RUN) python -m tools.charts
	$(RUN) python -m tools.dashboards
	$(RUN) python -m tools.provider_matrix
	$(RUN) python -m tools.tool_names
	$(RUN) python -m tools.reference
	$(RUN) python -m opsgym_suites

bench: .venv/.dev ## Measures what docs/benchmarks.md shows
	$(RUN) python -m benchmarks

paper: .venv/.dev ## Runs every experiment of the paper and writes its tables and figures as pages
	@$(RUN) python -m tools.paper

fleet: .venv/.dev ## Measures the operator with 50,000 trials on simulated nodes (Linux, root; most of an hour)
	@$(RUN) python -m benchmarks.fleet

soak: .venv/.dev images ## Fuzz tests at length, the rules of the kit on every tool, every task in full, ten thousand flaky episodes, an hour of chaos and what else takes long in a cluster
	OPSGYM_SOAK=1 $(RUN) pytest -n auto --dist loadgroup tests/domains tests/suites tests/kit/test_fuzz.py tests/runner/test_foreign_text.py tests/soak
	OPSGYM_SOAK=1 $(RUN) pytest -n auto --dist loadgroup -m soak --ignore tests/cluster
	@$(RUN) python -m tests.cluster.previous
	@$(RUN) python -m devcluster.prepare
	OPSGYM_SOAK=1 $(RUN) pytest -s -m soak tests/cluster

flaky: .venv/.dev .tools/chromium ## Runs tests that were or may be flaky 100 times on a busy machine (hours); TESTS=… chooses
	@$(RUN) python -m tools.test_run.repeat $(TESTS)

mutants: .venv/.dev ## Puts 200 faults into lines that judge, count and pay; tests must notice nine of ten (hours)
	@$(RUN) python -m tools.mutants

site: .venv/.dev .tools/site/.ready ## Builds the documentation as a site into dist/site: links checked, search, readable from a disk
	@$(RUN) python -m tools.site

pictures: .venv/.dev .tools/chromium ## Takes the pictures of report, console and explore from runs of today, and records the quickstart
	@$(RUN) python -m tools.pictures
	@$(RUN) python -m tools.recording

images: ## Builds the images operator, runner, domains and console; archives of them in .images
	@python3 -m tools.image.build .images

release: .venv/.dev images ## Builds wheels, images, charts, SBOM and checksums of a tagged commit into dist/VERSION; PUBLISH=1 publishes them
	@$(RUN) python -m tools.release $(or $(VERSION),$(error name the version: make release VERSION=0.1.0)) $(if $(PUBLISH),--publish)

clean: ## Removes what make installed and wrote
	rm -rf .tools .venv .images dist results report

MANIFESTS := uv.lock pyproject.toml $(wildcard */pyproject.toml)

.venv/.ready: $(MANIFESTS) | $(UV)
	@echo "Installing (first time: about a minute) …"
	@$(UV) sync --quiet --frozen --inexact --no-dev --all-extras --no-extra inspect --all-packages
	@touch $@

.venv/.dev: $(MANIFESTS) | $(UV)
	@echo "Installing development tools (first time: about a minute) …"
	@$(UV) sync --quiet --frozen --all-extras --all-packages
	@touch $@ .venv/.ready

.tools/site/.ready: uv.lock | $(UV)
	@UV_PROJECT_ENVIRONMENT=.tools/site $(UV) sync --quiet --frozen --only-group site
	@touch $@

.tools/chromium:
	@python3 tools/get_chromium.py $@

$(UV):
	@python3 tools/get_uv.py .tools/uv
