# Needs only Node >= 20 with npm, and make. Everything else is brought by npm into node_modules, Node 24 included.
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
SYSTEM_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
BIN := node_modules/.bin

# Twenty thousand take ten minutes of two cores; continuous integration runs the first three thousand.
SEEDS ?= $(if $(CI),3000,20000)
export SLIPWAY_SEEDS := $(SEEDS)

# CASES=script,reboot: some cases of the conformance suite only.
comma := ,
CASE_FILES = $(patsubst %,/%.test.ts,$(subst $(comma), ,$(CASES)))

INSTALLED := node_modules/.package-lock.json
PAGE := dist/console/index.html

.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*$$/\1/p' $(MAKEFILE_LIST))

help: ## this list
	@echo 'Slipway keeps the machines under Kubernetes up to date. Targets:'
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{ \
	  line = sprintf("  make %-14s", $$1); count = split($$2, words, " "); \
	  for (i = 1; i <= count; i++) { \
	    if (length(line words[i]) > 79) { print line; line = sprintf("%21s", "") } \
	    line = line " " words[i] } \
	  print line }' $(MAKEFILE_LIST)

demo: $(PAGE) ## watch a simulated cluster being upgraded: no cluster needed, about a minute
	@./slipway demo

test: $(INSTALLED) ## all tests, real API server included; SEEDS=3000 for fewer fault runs (default 20000)
	@$(BIN)/vitest run

e2e: image host-bundle release-image ## booted machines, kubeadm clusters, most drivers: needs root; builds Kubernetes once, into the user's cache folder
	@[ "$$(id -u)" = 0 ] || { echo 'make e2e boots machines and needs root: run it as root' >&2; exit 1; }
	@SLIPWAY_E2E=1 $(BIN)/vitest run --project e2e

bed: image ## a kubeadm cluster on three booted machines, to try things on, until Ctrl-C; needs root
	@[ "$$(id -u)" = 0 ] || { echo 'make bed boots machines and needs root: run it as root' >&2; exit 1; }
	@$(BIN)/node test/bed/keep-cluster.ts

e2e-full: image host-bundle release-image ## all of that on more and larger clusters, and all drivers: more than an hour
	@[ "$$(id -u)" = 0 ] || { echo 'make e2e-full boots machines and needs root: run it as root' >&2; exit 1; }
	@SLIPWAY_E2E=full $(BIN)/vitest run --project e2e

conformance: $(INSTALLED) ## every driver on booted machines, then docs/reference/drivers.md; needs root; CASES=script,reboot for some
	@[ "$$(id -u)" = 0 ] || { echo 'make conformance boots machines and needs root: run it as root' >&2; exit 1; }
	@rm -rf .cache/conformance
	@SLIPWAY_E2E=1 $(BIN)/vitest run --passWithNoTests=false --project conformance $(CASE_FILES)
	@[ -n '$(CASES)' ] || rm -f docs/reference/drivers.md
	@$(MAKE) drivers-table

torture: $(INSTALLED) ## the same with 30 power losses a driver: hours
	@[ "$$(id -u)" = 0 ] || { echo 'make torture boots machines and needs root: run it as root' >&2; exit 1; }
	@SLIPWAY_E2E=1 SLIPWAY_POWER_LOSSES=30 $(BIN)/vitest run --passWithNoTests=false --project conformance $(CASE_FILES)

drivers-table: $(INSTALLED) ## write docs/reference/drivers.md from the last make conformance
	@$(BIN)/node test/conformance/write-drivers-table.ts

check: typecheck lint generated house ## types, lint and layers, generated files, house rules: under half a minute

typecheck: $(INSTALLED)
	@echo 'types'; $(BIN)/tsc --noEmit && $(BIN)/tsc --noEmit -p src/console

lint: $(INSTALLED)
	@echo 'lint and layers'; $(BIN)/biome check --colors=off --error-on-warnings .

generated: $(INSTALLED)
	@echo 'generated files'; $(BIN)/node src/main/generate-crds.ts --check
	@$(BIN)/node src/main/generate-chart.ts --check
	@$(BIN)/node src/main/generate-reference.ts --check
	@$(BIN)/node test/proof/write-reliability-page.ts --check

house: $(INSTALLED)
	@echo 'house rules'; $(BIN)/vitest run --project house --reporter=dot

fix: $(INSTALLED) ## format, and repair what the linter can repair
	@$(BIN)/biome check --colors=off --write .

bench: $(INSTALLED) ## measure speed and memory: a table, bench-results.json and docs/proof
	@$(BIN)/node bench/run.ts

bench-scale: $(INSTALLED) ## 5,000 nodes and 150,000 pods on a real API server: minutes, some GiB of memory
	@$(BIN)/node bench/scale.ts

# Other numbers than these leave docs/proof/preview.json as it is.
CLUSTERS ?= 500
REAL ?= 20
FIRST ?= 1
SHARE ?= 1
KEEP = $(if $(filter 500/20/1,$(CLUSTERS)/$(REAL)/$(SHARE)),--keep)

proof-preview: $(INSTALLED) ## plan 500 drawn clusters and 20 on a real API server, carry each plan out, print how right they were; CLUSTERS=50 REAL=0; SHARE=0.6 rehearses a part of the nodes
	@$(BIN)/node test/proof/preview.ts --clusters $(CLUSTERS) --first $(FIRST) --real $(REAL) --share $(SHARE) $(KEEP)

proof-why: $(INSTALLED) ## ask why in every situation there is, and keep the figures
	@SLIPWAY_KEEP_FIGURES=1 $(BIN)/vitest run --project simulated test/scenario/why.test.ts
	@$(MAKE) reliability

proof-scale: $(INSTALLED) ## plan an update of ten thousand nodes and keep the figures
	@$(BIN)/node bench/large-plan.ts
	@$(MAKE) reliability

reliability: $(INSTALLED) ## write docs/reliability.md and docs/scale.md from the results in docs/proof
	@$(BIN)/node test/proof/write-reliability-page.ts

RUNS ?= 500000

fault-runs: $(INSTALLED) ## drawn histories with faults, hours; goes on where it was stopped; RUNS=20000 for fewer
	@$(BIN)/node test/proof/fault-runs.ts --runs $(RUNS)

NODES ?= 200

proof-apiserver: $(INSTALLED) ## five writers race for one budget on a real API server, judged by foreign witnesses; NODES=60 for fewer
	@SLIPWAY_PROOF=1 SLIPWAY_NODES=$(NODES) $(if $(SEED),SLIPWAY_SEED=$(SEED)) \
	  $(BIN)/vitest run --passWithNoTests=false --project apiserver test/apiserver/five-writers.test.ts

exhaustive: $(INSTALLED) ## an update of three nodes with a crash at every point and every pair of points: can be stopped and gone on with
	@$(BIN)/node test/proof/exhaustive.ts
	@$(MAKE) reliability

# Whatever NODE_ENV is outside: the page of another would be larger, and tell where it was built.
PAGE_BUILD := NODE_ENV=production $(BIN)/vite build -c console.vite.config.ts

build: $(INSTALLED) ## a folder to ship: dist/slipway.mjs and its parts, with source maps, and the console's page
	@$(BIN)/rolldown -c rolldown.config.ts --log-level warn >/dev/null
	@$(PAGE_BUILD)
	@$(BIN)/node dist/slipway.mjs --version >/dev/null

# What `slipway demo` and `slipway console` serve from a checkout.
$(PAGE): $(INSTALLED) console.vite.config.ts $(shell find src/console -type f)
	@$(PAGE_BUILD)

image: build ## a container image for this architecture: dist/image/slipway.tar, for ctr, podman or docker to import
	@$(BIN)/node src/main/image/build-image.ts

host-bundle: build ## the program for hosts without a container, for this architecture: dist/host/slipway-VERSION-linux-ARCH.tar.gz
	@$(BIN)/node src/main/host-bundle/build-host-bundle.ts

# KEY=FILE signs for others to trust; DEBIAN_MIRROR names another mirror.
export KEY DEBIAN_MIRROR

release: build ## all of a release into dist/release/VERSION: image, bundles, chart, manifests, SBOM, sums; KEY=FILE signs it for others
	@$(BIN)/node src/main/release/build-release.ts

release-image: build ## its image alone, for amd64 and arm64: dist/image/slipway-VERSION-image.tar
	@$(BIN)/node src/main/release/build-release.ts --image

release-inputs: $(INSTALLED) ## take the newest Node and Debian packages into deploy/release/inputs.json: what the next release is made of
	@$(BIN)/node src/main/release/lock-inputs.ts

release-key: $(INSTALLED) ## make a key for releases: KEY=FILE gets its private half, deploy/release/keys.json its public one
	@$(BIN)/node src/main/release/make-key.ts "$(KEY)"

crds: $(INSTALLED) ## write deploy/crds from the schemas in src/api, and the chart's copies
	@$(BIN)/node src/main/generate-crds.ts
	@$(BIN)/node src/main/generate-chart.ts

chart: $(INSTALLED) ## write the generated parts of deploy/chart: rights, admission policies, definitions, version
	@$(BIN)/node src/main/generate-chart.ts

reference: $(INSTALLED) ## write docs/reference from the catalogues in src/api
	@$(BIN)/node src/main/generate-reference.ts

clean: ## remove what was built; downloads in the user's cache folder stay
	@rm -rf dist coverage .cache bench-results.json

# The stamp is npm's own: it is written last, so a half-finished installation is never taken for a whole one.
# A linked node_modules (a second work tree) is not ours to install into. npm runs on the machine's own Node, not on the one it replaces.
$(INSTALLED): package.json package-lock.json
	@if [ -L node_modules ]; then :; else \
	  echo 'installing dependencies' >&2; PATH='$(SYSTEM_PATH)' npm ci --no-fund --no-audit --loglevel=error >/dev/null && touch $@; fi
