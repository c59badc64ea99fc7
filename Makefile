# The short way in. CMake does the building (CMakePresets.json); all that is made lies under build/.
#   make         set up and build build/tlscost
#   make demo    run the default plan, print the report
#   make check   set up, build with warnings as errors, run all tests
#   make bench, clean, install (PREFIX, DESTDIR), format, tidy
SHELL := /bin/bash
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build
SETUP := $(BUILD)/setup
DEMO := $(BUILD)/demo

# A prefix that has gone from the cache is fetched again.
prefix := $(shell cat $(SETUP)/openssl-prefix 2>/dev/null)
ifneq ($(prefix),)
ifeq ($(wildcard $(prefix)/manifest.json),)
.PHONY: $(SETUP)/openssl-prefix
endif
endif

.PHONY: all
all: $(SETUP)/configured
	@cmake --build $(BUILD) -j $(JOBS) $(if $(V),-v)

$(SETUP)/packages: packages.txt scripts/setup
	@mkdir -p $(SETUP)
	@scripts/setup packages packages.txt
	@touch $@

$(SETUP)/packages-check: packages-check.txt scripts/setup
	@mkdir -p $(SETUP)
	@scripts/setup packages packages-check.txt
	@touch $@

$(SETUP)/openssl-prefix: recipes/openssl-3.5.recipe scripts/recipe | $(SETUP)/packages
	@scripts/setup stack $@

# Configured anew when the tests' packages have come; changes of its own files CMake follows itself.
$(SETUP)/configured: $(SETUP)/openssl-prefix $(wildcard $(SETUP)/packages-check)
	@echo "setup: configuring"
	@cmake --preset release -Wno-dev -DTLC_OPENSSL_PREFIX="$$(cat $(SETUP)/openssl-prefix)" \
		-DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CONFIGURE) > $(SETUP)/configure.log 2>&1 \
		|| { tail -n 20 $(SETUP)/configure.log >&2; exit 2; }
	@touch $@

.PHONY: demo
demo: all
	@mkdir -p $(DEMO)
	@$(BUILD)/tlscost run -o $(DEMO)/result.json $(DEMO_OPTIONS); code=$$?; \
		test -s $(DEMO)/result.json || exit $$code; \
		$(BUILD)/tlscost report $(DEMO)/result.json --format markdown > $(DEMO)/report.md; \
		echo; \
		echo "Result:          $(DEMO)/result.json"; \
		echo "Markdown report: $(DEMO)/report.md"; \
		exit $$code

.PHONY: check
check: $(SETUP)/packages $(SETUP)/packages-check
	@$(MAKE) $(SETUP)/configured CONFIGURE=-DTLC_WERROR=ON
	@grep -q '^TLC_WERROR:BOOL=ON' $(BUILD)/CMakeCache.txt || \
		cmake -DTLC_WERROR=ON $(BUILD) > $(SETUP)/configure.log
	@$(MAKE) all
	@$(MAKE) check-sanitize
	@ctest --test-dir $(BUILD) --output-on-failure

# The unit tests once more under AddressSanitizer and UndefinedBehaviorSanitizer.
.PHONY: check-sanitize
check-sanitize: $(SETUP)/packages $(SETUP)/packages-check $(SETUP)/openssl-prefix
	@echo "check: building the unit tests with sanitizers"
	@cmake --preset sanitize -Wno-dev -DTLC_OPENSSL_PREFIX="$$(cat $(SETUP)/openssl-prefix)" -DTLC_WERROR=ON \
		> $(SETUP)/sanitize.log 2>&1 || { tail -n 20 $(SETUP)/sanitize.log >&2; exit 2; }
	@cmake --build $(BUILD)/sanitize -j $(JOBS) --target unit_tests $(if $(V),-v)
	@ctest --test-dir $(BUILD)/sanitize -L unit -j $(JOBS) --output-on-failure

.PHONY: bench
bench: all
	@bench/generator $(BENCH_OPTIONS)
	@echo
	@$(BUILD)/bench/tls13

.PHONY: install
install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

sources = $(shell git ls-files '*.c' '*.h')

.PHONY: format
format:
	@clang-format -i $(sources)

.PHONY: tidy
tidy: all
	@clang-tidy -p $(BUILD) --quiet $(filter src/%.c,$(sources))

.PHONY: clean
clean:
	@rm -rf $(BUILD)
