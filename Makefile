# A thin front of CMake: what people type. CMakePresets.json has the builds.
MAKEFLAGS += --no-print-directory
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: build demo test test-long check format gpu-check install clean setup

build: setup
	@mkdir -p $(BUILD)
	@cmake --preset release -B $(BUILD) >$(BUILD)/configure.log 2>&1 \
	  || { cat $(BUILD)/configure.log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS)

setup:
	@sh tools/setup.sh

# The Gram matrix of 1797 handwritten digits: what the machine is, how it is planned, how it went.
demo: build
	@sh tools/demo.sh $(BUILD)

test: build
	@sh tools/run_tests.sh $(BUILD) "sample|again|long"

test-long: build
	@sh tools/run_tests.sh $(BUILD) none

check:
	@sh tools/check_format
	@sh tools/check_layers

format:
	@find include src tests tools examples bench -name '*.[ch]' | xargs clang-format -i

gpu-check:
	@sh tools/gpu_check.sh

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build build-*
