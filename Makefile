# `make` alone explains itself. Every target installs what it needs first; when that is there, it costs milliseconds.

HOST ?= 127.0.0.1
PORT ?= 8081
DATA ?= data
VENV ?= .venv
export VENV

bin := $(VENV)/bin
# What `make setup` brought stands before what the machine has.
export PATH := $(abspath $(bin)):$(PATH)
# Who forbids bytecode has pytest and its plug-ins compiled anew in each worker, seconds of it.
unexport PYTHONDONTWRITEBYTECODE
python_code := layers/sigla/python functions infra pipelines/sigla_pipelines localstack benchmarks tests
# A room that has nothing yet is not made; tools are shown those that exist.
rooms = $(wildcard $(python_code))
UNITS := tests/unit tests/benchmarks tests/corpus tests/contract
ATTACKS := tests/attack
BROWSER := tests/browser

# Runs one stage and, where STAGES names a file, notes its seconds there; .ci/run prints them against their budgets.
STAGES ?= /dev/null
stage = @printf '── %s\n' '$(1)'; start=$$(date +%s); $(2); done=$$?; \
	echo "$(1) $$(( $$(date +%s) - start ))" >>$(STAGES); exit $$done

.DEFAULT_GOAL := help
.PHONY: help setup playground test browser attack unit check lint types imports cover house tests bench bench-herd soak native spark pipeline-demo localstack localstack-test localstack-down first-day dynamodb layer stage deploy synth templates wheel release lock format clean

help: ## this list
	@printf 'Sigla: a schema registry for Kafka that has no servers.\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1mmake %-16s\033[0m %s\n", $$1, $$2 }' Makefile
	@printf '\nSettings: PORT=8081 HOST=127.0.0.1 DATA=data (playground), PYTHON=/path/to/python (setup), ARGS="-k word" (test, attack, soak, bench).\n'

setup: ## everything a developer needs, in .venv
	@requirements/install.sh dev

playground: ## a registry on http://127.0.0.1:8081, its data in ./data
	@requirements/install.sh runtime
	@exec $(bin)/sigla serve --host $(HOST) --port $(PORT) --data $(DATA)

# Three at a time on two cores: a quarter of what tests take is waiting for servers.
at_once := -n 3 --dist loadfile --no-loadscope-reorder

test: setup ## set-up and what a developer runs: all tests that need neither LocalStack nor Spark's clusters nor a browser, without the attacks
	$(bin)/python -m pytest $(at_once) --ignore $(ATTACKS) --ignore $(BROWSER) $(ARGS)

browser: setup ## the console in a real browser: tasks by mouse and by keyboard, every page by axe, failures of each call (Chromium)
	$(call stage,browser,$(bin)/python -m pytest $(at_once) $(BROWSER) $(ARGS))

attack: setup ## the attacks: kills at every step, failures of every call, races, floods, hostile texts and bytes
	$(call stage,attack,$(bin)/python -m pytest $(at_once) $(ATTACKS) $(ARGS) && \
		$(if $(ARGS),true,SIGLA_NATIVE=off $(bin)/python -m pytest -q $(at_once) $(ATTACKS)/landing))

unit: setup ## the tests that start no process: no server, no Java, no Node.js; in a minute
	HYPOTHESIS_PROFILE=unit $(bin)/python -m pytest $(at_once) -q -m "not process and not soak and not spark and not localstack" $(UNITS) $(ARGS)

check: setup lint types imports tests browser attack ## format, lint, types, arrows, house, tests, browser and attacks: what CI runs

lint: setup ## formatting and lint, without changing anything
	$(call stage,lint,$(bin)/ruff format --check --quiet . && $(bin)/ruff check --quiet .)

types: setup ## strict types
	$(call stage,types,$(bin)/mypy $(rooms))

imports: setup ## who may import whom
	$(call stage,imports,$(bin)/lint-imports --no-logo)

cover: setup ## the tests with branch coverage; omits aws/
	$(bin)/python -m pytest $(at_once) -q --cov --cov-report=term $(ARGS)

house: setup ## the house's own rules alone: files, arrows, tables, names, words; in seconds
	@$(bin)/python -m pytest -q tests/test_house.py tests/test_arrows.py tests/test_tables.py tests/test_names.py tests/test_words.py

tests: setup
	$(call stage,tests,$(MAKE) --no-print-directory test)

bench: setup ## every benchmark, a table row each
	@$(bin)/python -m benchmarks $(ARGS)

bench-herd: setup ## 1,000 cold environments in each of 3 zones; what a ring saves, in build/herd
	@$(bin)/python -m benchmarks.herd --compare build/herd $(ARGS)

soak: setup ## the long attacks: crash matrices, properties for long; at last the jobs on every PySpark, and without the extension
	$(bin)/python -m pytest -m soak $(ARGS)
	HYPOTHESIS_PROFILE=long $(bin)/python -m pytest -n 2 --dist load -m "hypothesis and not soak and not spark and not localstack" $(ARGS)
	$(if $(ARGS),,$(bin)/python -m tests.pipelines.versions)
	$(if $(ARGS),,SIGLA_NATIVE=off $(bin)/python -m tests.pipelines.versions --ours)

native: setup ## the extension that decodes Avro 20 times as fast (cargo): a wheel in dist/, installed in .venv; ARGS=--here
	@native/build.sh $(ARGS)

spark: setup ## the pipelines on every PySpark we promise, with a Kafka broker (Java, Maven); ARGS=--ours: the installed one
	$(call stage,spark,$(bin)/python -m tests.pipelines.versions $(ARGS))

pipeline-demo: setup ## a million records landed on this machine, without AWS and Kafka (Java); ARGS="--records 100000"
	@$(bin)/python -m sigla_pipelines.demo $(ARGS)

localstack: setup ## the deployed stack on this machine, without AWS and Docker; again: new code; ARGS="--zones 3": with zones
	@$(bin)/python -m localstack.up $(ARGS)

localstack-test: setup ## the deployed stack, tested on LocalStack: every door, zones, what is told of them
	-@$(bin)/python -m localstack.installation
	$(call stage,stack,$(bin)/python -m pytest -m "localstack and not soak" tests/localstack tests/contract $(ARGS))

localstack-down: setup ## stop it, and forget what it held
	@$(bin)/python -m localstack.down $(ARGS)

first-day: setup ## asks a deployed registry all that emulators hide; STAGE=prod, or ARGS="--url https://…", or ARGS=--localstack
	@$(bin)/python -m infra.first_day $(if $(STAGE),--stage $(STAGE)) $(ARGS)

dynamodb: setup ## DynamoDB's own engine on this machine (Java, Maven), until Ctrl-C
	@$(bin)/python -m localstack.dynamodb $(ARGS)

layer: setup ## the third-party layer for Lambda, in build/; ARGS=x86_64 for that processor
	@$(bin)/python -m sigla.deployment.packages $(ARGS)

stage: setup ## the settings of a new deployment, in stages/NAME.toml; it asks; NAME=prod ARGS="-c zones=use1-az1"
	@$(if $(filter command,$(firstword $(origin NAME))),,echo "Which stage? make stage NAME=prod" >&2; exit 2)
	@$(bin)/python -m infra.command stage $(NAME) $(ARGS)

deploy: setup ## a stage to AWS, unless data would move unseen; STAGE=prod ARGS=--i-mean-it
	@$(if $(STAGE),,echo "Which stage? make deploy STAGE=prod" >&2; exit 2)
	@$(bin)/python -m infra.command deploy $(STAGE) $(ARGS)

synth: setup ## the CloudFormation templates, in cdk.out; of STAGE=prod, else an example; ARGS="-c stage=local" changes settings
	@$(bin)/python -m infra.app --output cdk.out --otherwise $(if $(STAGE),stages/$(STAGE),infra/examples/default).toml $(ARGS)
	@ls cdk.out/*.template.json

templates: setup ## what `sigla deploy` deploys, in build/templates: a CloudFormation template for each shape of a stage
	@$(bin)/python -m infra.templates build/templates

wheel: setup ## the Python packages sigla-registry and, for [pipelines], sigla-registry-native without its extension, in dist/
	@$(bin)/python -m hatchling build --target wheel --directory dist
	@cd native/none && $(abspath $(bin))/python -m hatchling build --target wheel --directory ../../dist

release: setup ## all files of a release, in dist/VERSION, reproducibly; ARGS=--preview before the changelog has the version
	@$(bin)/python -m infra.release $(ARGS)

format: setup ## rewrite the code as `make lint` wants it
	@$(bin)/ruff format --quiet . && $(bin)/ruff check --quiet --fix .

lock: setup ## resolve the dependencies anew; ARGS="--upgrade" moves them
	@requirements/lock.sh $(ARGS)

clean: ## forget the environments and what tools remember (never the data)
	@[ ! -x $(bin)/python ] || $(bin)/python -m localstack.down
	rm -rf $(VENV) .localstack .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage cdk.out build
