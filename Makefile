# SPDX-License-Identifier: Apache-2.0
# The front door: make help lists what there is to make.
# Everything is made below build/ and .venv/; a second run repeats nothing.

SHELL := /bin/bash
VENV ?= .venv
BUILD ?= build
PRESET ?= release
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
# Of make attack: how many sequences of calls, and the number that they all follow from.
SEQUENCES ?= 2000000
SEED ?= $(LIBDL_TURN)
# Of make oracle: how many programs, and ten times as many comparisons of calls; a night takes a tenth.
COUNT ?= 200000

# What chooses the part of the tests that is asked this time, and their seeds: the commit's id, so that
# a commit has one verdict, whatever the day.
ifndef LIBDL_TURN
LIBDL_TURN := $(shell id=$$(git rev-parse --short=7 HEAD 2> /dev/null) && printf %d 0x$$id || echo 0)
endif

export VENV BUILD LIBDL_TURN
python := $(VENV)/bin/python
step := tools/step
in_tree := PYTHONPATH=$(BUILD)/python
# One linker or compiler process a core: a sanitizer build needs about 1.5 GB for each.
ninja = ninja -C $(BUILD) -j $(JOBS)

.PHONY: help setup configure build demo test test-c test-python attack attack-threads oracle packages census rust \
        bench bench-models bench-ablation \
        docs early check ci nightly abi-refresh clean cuda test-cuda bench-cuda

help:
	@echo "make demo         train the handwritten digits in C, C++ and Python, compare every bit"
	@echo "make test         build all and run the C, C++ and Python tests"
	@echo "make attack       hours: bad arguments, failing allocations, random calls and files,"
	@echo "                  every check left out, 10 million calls of threads; figures at the end"
	@echo "make attack-threads  of these the last alone, under the thread sanitizer"
	@echo "make oracle       random calls and programs on libdl and on PyTorch (hours; COUNT=20000 a night)"
	@echo "make packages     sixteen packages written for PyTorch, which print what they print with it"
	@echo "make census       which names of PyTorch that public programs use exist here"
	@echo "make rust         build and test the crates in build/rust (needs cargo)"
	@echo "make bench        measure against PyTorch (installs it in an environment of its own)"
	@echo "make bench-models  of these only the six networks (docs/benchmarks.md)"
	@echo "make bench-ablation  the six networks without each mechanism of libdl"
	@echo "make cuda         build the CUDA plugin (fetches nvcc from PyPI where there is none)"
	@echo "make test-cuda    run its tests: on the device if there is one, else on a simulated driver"
	@echo "make bench-cuda   measure it against PyTorch on the same device"
	@echo "make docs         write the reference from the headers into build/reference"
	@echo "make check        before a push: what the changed files are refused for (10 minutes)"
	@echo "make early        of these what needs no compiled library"
	@echo "make ci           wheel, installed prefix, ABI, museum, CUDA and instruction gates"
	@echo "make nightly      hours: sanitizers, each check left out, fuzzers, the oracle; goes on where"
	@echo "                  it was stopped, and tells when each part last passed (PART=TEXT: some only)"
	@echo "make abi-refresh  add new functions, constants and types to the promised ABI"
	@echo "make clean        remove build/ (.venv/ and data/ stay)"

setup:
	@$(step) "Set-up" tools/setup/run

configure: setup
	@$(step) "Configure ($(PRESET), in $(BUILD))" cmake --preset $(PRESET) -B $(BUILD) \
	  -DPython3_EXECUTABLE=$(abspath $(python)) --log-level=WARNING $(CMAKE_ARGS)

build: configure
	@$(step) "Build" $(ninja)

# A build of its own, for this machine's processor alone: a third of the time, and the same bits.
demo:
	@$(step) "Set-up for the demo" tools/setup/run demo
	@$(step) "Configure for this processor" cmake --preset demo -B $(BUILD)/demo \
	  -DPython3_EXECUTABLE=$(abspath $(python)) --log-level=WARNING $(CMAKE_ARGS)
	@$(step) "Build the core, the Python module and the examples of the demo" \
	  ninja -C $(BUILD)/demo -j $(JOBS) libdlcore python_module example_digits example_cpp_digits
	@$(step) "Train the digits in three languages" env PYTHONPATH=$(BUILD)/demo/python \
	  $(python) -B tools/demo.py $(BUILD)/demo C C++ Python

test: test-c test-python

test-c: build
	@$(step) "C and C++ tests" ctest --test-dir $(BUILD) --output-on-failure --no-tests=error \
	  -j $(JOBS)

# A fork copies the tables of all memory, which in a process that has collected every test are large.
# Compiled before: the tests start hundreds of programs, and where PYTHONDONTWRITEBYTECODE is set each
# of them would compile the package anew.
forking := $(wildcard tests/wrappers/utils/data/test_data*.py tests/wrappers/multiprocessing/test_*.py)
test-python: build
	@$(python) -m compileall -q --invalidation-mode checked-hash $(BUILD)/python/libdl \
	  $(BUILD)/python/libdl/*/
	@$(step) "Python tests that fork" env $(in_tree) $(python) -m pytest -q -n $(JOBS) $(forking)
	@$(step) "Python tests" env $(in_tree) $(python) -m pytest -q -n $(JOBS) tests \
	  $(addprefix --ignore=,$(forking))

# At the whole size, where make test and make ci take a tenth. Each step tells its figures.
attack attack-threads: export LIBDL_WHOLE := 1
attack attack-threads: export LIBDL_FIGURES := $(abspath $(BUILD))/attack-figures.tsv
whole_tests := KilledWhileSaving*:HostAllocator.RandomSizes*:SteadyStep*:SafetensorsHostile*:SmallShapes*:*Ulp*

attack: build
	@rm -f $(LIBDL_FIGURES)
	@$(step) "Attack every argument" $(BUILD)/tests/attack/attack $(BUILD)/tests/attack/attacks.txt \
	  tests/attack/legal.txt
	@$(step) "Fail every allocation" $(BUILD)/fault_injection_tests --gtest_brief=1
	@$(step) "Random sequences of calls" $(BUILD)/tests/fuzz/fuzz $(BUILD)/tests/fuzz/fuzz.txt \
	  tests/fuzz tests/fuzz/rare.txt --sequences $(SEQUENCES) --least 100 --jobs $(JOBS) \
	  --seed $(SEED) --out $(BUILD)/tests/fuzz
	@$(step) "libFuzzer: files, DLPack structs, calls" $(python) -B tests/libfuzzer/run.py \
	  --seed $(SEED) --jobs $(JOBS)
	@$(step) "Damaged files in Python" env $(in_tree) $(python) -B tests/io/mutations.py \
	  --seed $(SEED) --jobs $(JOBS)
	@$(step) "Each bit of a checkpoint flipped" env $(in_tree) $(python) -m pytest -q \
	  tests/io/test_damage.py -k flipped
	@$(step) "Results born packed" tests/gates/packed $(BUILD) packed
	@$(step) "Forms at random" tests/gates/packed $(BUILD) shifting
	@$(step) "Build with checks that can be left out" $(ninja) mutation
	@$(step) "Leave out every check" $(python) -B tests/mutation/run.py $(BUILD)
	@$(step) "C++ tests at their whole size" env LIBDL_ULP_SAMPLES=100000 $(BUILD)/core_tests \
	  --gtest_brief=1 --gtest_filter='$(whole_tests)'
	@$(step) "Tools that read the ABI" tools/setup/run ci
	@$(step) "clang-tidy: all of the core" $(python) -B tests/gates/tidy.py
	@$(step) "Planted ABI breaks" $(python) -B tests/abi/planted.py
	@$(step) "Museum" tests/museum/run $(BUILD)
	@$(step) "Sanitizer build (address, undefined)" tests/gates/sanitize build
	@$(step) "Sanitizer: results born packed" tests/gates/sanitize forms packed
	@$(step) "Sanitizer: forms at random" tests/gates/sanitize forms shifting
	@$(MAKE) --no-print-directory attack-threads
	@$(step) "Figures" $(python) -B tests/gates/figures.py $(LIBDL_FIGURES)

attack-threads: setup
	@mkdir -p $(BUILD) && touch $(LIBDL_FIGURES) && sed -i '/thread sanitizer/d' $(LIBDL_FIGURES)
	@$(step) "Thread sanitizer build" tests/gates/sanitize threads-build
	@$(step) "Thread sanitizer: results born packed" tests/gates/sanitize threads-forms packed
	@$(step) "Thread sanitizer: forms at random" tests/gates/sanitize threads-forms shifting
	@$(step) "Ten million calls of eight threads" tests/gates/sanitize threads-stress
	@$(step) "Figures of threads" $(python) -B tests/gates/figures.py $(LIBDL_FIGURES) --threads

oracle: build
	@$(step) "PyTorch, in an environment of its own" tools/setup/run bench
	@$(step) "Checkpoints to PyTorch and back" env $(in_tree) \
	  .venv-bench/bin/python -B tests/oracle/checkpoints.py
	@$(step) "Weights and optimizers to PyTorch and back" env $(in_tree) \
	  .venv-bench/bin/python -B tests/oracle/exchange.py
	@$(step) "Whole objects to PyTorch and back" env $(in_tree) \
	  .venv-bench/bin/python -B tests/oracle/objects.py
	@$(step) "Beside PyTorch: $(COUNT) programs, seed $(SEED)" env $(in_tree) \
	  .venv-bench/bin/python -B tests/oracle/run.py --seed $(SEED) --programs $(COUNT) --jobs $(JOBS) \
	  --out $(BUILD)/oracle

packages: build
	@$(step) "Packages written for PyTorch, in an environment of their own" env $(in_tree) $(python) -B \
	  tests/ecosystem/packages/run.py $(BUILD)/packages

# Another list of names is CENSUS=path.
CENSUS ?= tests/census/names.csv
census: build
	@$(in_tree) $(python) -B tests/census/census.py $(CENSUS)

rust: build
	@$(step) "Rust crates, in $(BUILD)/rust" $(python) -B wrappers/rust/generate.py \
	  --out $(BUILD)/rust --swig $(VENV)/bin/swig
	@$(step) "Rust build, tests and pages" env JOBS=$(JOBS) wrappers/rust/test $(BUILD)
	@$(step) "Train the digits in C and in Rust" env LD_LIBRARY_PATH=$(BUILD) $(python) -B \
	  tools/demo.py $(BUILD) C Rust

bench: build
	@$(step) "PyTorch, in an environment of its own" tools/setup/run bench
	@$(step) "Build the benchmarks" $(ninja) benchmarks
	@$(step) "Memory, threads, calls and programs" bash -c "$(BUILD)/bench/allocator && $(BUILD)/bench/calls && $(BUILD)/bench/program"
	@$(step) "Beside PyTorch" env $(in_tree) .venv-bench/bin/python -B bench/run.py
	@$(MAKE) --no-print-directory bench-models

# MODELS= passes options: make bench-models MODELS="--only resnet50 --blocks 12".
bench-models: build
	@$(step) "PyTorch, in an environment of its own" tools/setup/run bench
	@$(step) "Six networks beside PyTorch" env $(in_tree) .venv-bench/bin/python -B \
	  bench/models/run.py $(MODELS)

bench-ablation: build
	@$(step) "Six networks without each mechanism" env $(in_tree) $(python) -B \
	  bench/models/run.py --ablation $(MODELS)

# Configured again with CUDA: nvcc may have come after the first time.
cuda: setup
	@$(step) "nvcc" tools/setup/run cuda
	@$(MAKE) --no-print-directory build CMAKE_ARGS="$(CMAKE_ARGS) -DLIBDL_CUDA=ON"

test-cuda: cuda
	@$(step) "CUDA tests" tests/cuda/run $(BUILD)

bench-cuda: cuda
	@$(step) "PyTorch, in an environment of its own" tools/setup/run bench
	@$(step) "Beside PyTorch, on the device" env $(in_tree) .venv-bench/bin/python -B bench/cuda.py

docs:
	@$(step) "Reference, in $(BUILD)/reference" python3 -B tools/reference.py --headers include/libdl \
	  --out $(BUILD)/reference

early: setup
	@$(step) "Set-up for the gates" tools/setup/run ci
	@$(MAKE) --no-print-directory configure
	@$(step) "What the generators write" ninja -C $(BUILD) generated python_layer
	@$(python) -B tests/gates/check.py early $(BUILD)

check: early
	@$(MAKE) --no-print-directory build
	@$(python) -B tests/gates/check.py late $(BUILD)
	@printf '\nmake check: all holds\n'

ci:
	@tests/gates/run

PART ?=
nightly: build
	@$(step) "Set-up for the gates" tools/setup/run nightly
	@$(python) -B tests/gates/nightly.py $(BUILD) --only "$(PART)"

abi-refresh: build
	@$(step) "Refresh the ABI's committed list" $(python) -B tests/abi/promise.py refresh $(BUILD)

clean:
	rm -rf build dist
