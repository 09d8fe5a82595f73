# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# A thin front of CMake: what people type. CMakePresets.json has the builds with tests.
MAKEFLAGS += --no-print-directory
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# CMake's build shares the jobs of `make -jN`, if that is what was typed: with a number of its own it would warn. The + at its
# calls hands them on.
COMPILE = cmake --build $(BUILD) $(if $(filter -j%,$(MAKEFLAGS)),,-j $(JOBS))

.PHONY: build build-tests docs demo test test-all test-long check format gpu-check install uninstall clean setup

build: setup
	@sh tools/configure.sh $(BUILD)
	+@$(COMPILE)

setup:
	@sh tools/setup.sh

# With the tests, which need more than the library does.
build-tests:
	@sh tools/setup.sh --tests
	@sh tools/configure.sh $(BUILD) --preset release
	+@$(COMPILE)

# The Gram matrix of 1797 handwritten digits: what the machine is, how it is planned, how it went.
demo: build
	@sh tools/demo.sh $(BUILD)

# Minutes. tests/CMakeLists.txt says where a test is placed.
test:
	@sh tools/setup.sh --tests
	@sh tools/configure.sh $(BUILD) --preset release
	+@$(COMPILE) --target quick_tests
	@LEFT_OUT="make test-all has those above 10 s, of more than two processes, and of engines for GPUs; make test-long all" \
	  sh tools/run_tests.sh $(BUILD) -LE "slow|sample|again|long"

test-all: build-tests
	@LEFT_OUT="make test-long has all" sh tools/run_tests.sh $(BUILD) -LE "sample|again|long"

test-long: build-tests
	@TSR_TEST_TURN= sh tools/run_tests.sh $(BUILD)

check:
	@sh tools/check_format
	@sh tools/check_layers
	@sh tools/check_tags
	@sh tools/check_openings

format:
	@find include src bindings tests tools examples bench -name '*.[ch]' -o -name '*.[ch]pp' | xargs clang-format -i

# The site of docs/, in build-docs/html.
docs:
	@sh tools/site.sh

gpu-check:
	@sh tools/gpu_check.sh

install: build
	@sh tools/install.sh $(BUILD) $(abspath $(PREFIX))

# Removes what `make install` put in place.
uninstall:
	@cmake -DBUILD=$(BUILD) -P cmake/uninstall.cmake

clean:
	@rm -rf build build-*
