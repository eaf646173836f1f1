# Needs only Node >= 20 with npm, and make. Everything else is brought by npm into node_modules, Node 24 included.
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
SYSTEM_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
BIN := node_modules/.bin

SEEDS ?= 5000
export SLIPWAY_SEEDS := $(SEEDS)

# CASES=script,reboot: some cases of the conformance suite only.
comma := ,
CASE_FILES = $(patsubst %,/%.test.ts,$(subst $(comma), ,$(CASES)))

INSTALLED := node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help demo test e2e e2e-full conformance torture drivers-table check typecheck lint generated house fix bench bench-scale proof-preview build image crds reference clean

help: ## this list
	@echo 'Slipway keeps the machines under Kubernetes up to date. Targets:'
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{ printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## watch a simulated cluster being upgraded: no cluster needed, about a minute
	@./slipway demo

test: $(INSTALLED) ## all tests, real API server included; SEEDS=100000 for more fault runs (default 5000)
	@$(BIN)/vitest run

e2e: image ## booted machines, kubeadm clusters, most drivers: needs root; builds Kubernetes once, into the user's cache folder
	@[ "$$(id -u)" = 0 ] || { echo 'make e2e boots machines and needs root: run it as root' >&2; exit 1; }
	@SLIPWAY_E2E=1 $(BIN)/vitest run --project e2e

e2e-full: image ## all of that on more and larger clusters, and all drivers: more than an hour
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
	@echo 'types'; $(BIN)/tsc --noEmit

lint: $(INSTALLED)
	@echo 'lint and layers'; $(BIN)/biome check --colors=off --error-on-warnings .

generated: $(INSTALLED)
	@echo 'generated files'; $(BIN)/node src/main/generate-crds.ts --check
	@$(BIN)/node src/main/generate-reference.ts --check

house: $(INSTALLED)
	@echo 'house rules'; $(BIN)/vitest run --project house --reporter=dot

fix: $(INSTALLED) ## format, and repair what the linter can repair
	@$(BIN)/biome check --colors=off --write .

bench: $(INSTALLED) ## measure speed and memory: a table, and bench-results.json
	@$(BIN)/node bench/run.ts

bench-scale: $(INSTALLED) ## 5,000 nodes and 150,000 pods on a real API server: minutes, some GiB of memory
	@$(BIN)/node bench/scale.ts

CLUSTERS ?= 500

proof-preview: $(INSTALLED) ## plan 500 invented clusters, carry each plan out, print how right the plans were; CLUSTERS=50 for fewer
	@$(BIN)/node test/proof/preview.ts --clusters $(CLUSTERS)

build: $(INSTALLED) ## a folder to ship: dist/slipway.mjs and its parts, with source maps
	@$(BIN)/rolldown -c rolldown.config.ts --log-level warn >/dev/null
	@$(BIN)/node dist/slipway.mjs --version >/dev/null

image: build ## a container image for this architecture: dist/image/slipway.tar, for ctr, podman or docker to import
	@$(BIN)/node src/main/image/build-image.ts

crds: $(INSTALLED) ## write deploy/crds from the schemas in src/api
	@$(BIN)/node src/main/generate-crds.ts

reference: $(INSTALLED) ## write docs/reference from the catalogues in src/api
	@$(BIN)/node src/main/generate-reference.ts

clean: ## remove what was built; downloads in the user's cache folder stay
	@rm -rf dist coverage .cache bench-results.json

# The stamp is npm's own: it is written last, so a half-finished installation is never taken for a whole one.
# A linked node_modules (a second work tree) is not ours to install into. npm runs on the machine's own Node, not on the one it replaces.
$(INSTALLED): package.json package-lock.json
	@if [ -L node_modules ]; then :; else \
	  echo 'installing dependencies' >&2; PATH='$(SYSTEM_PATH)' npm ci --no-fund --no-audit --loglevel=error >/dev/null && touch $@; fi
