# Thin: sets up what is missing, then calls Meson, Ninja and the scripts that do the work.
#
#   make demo      build and run the main job                     make check    format, layers, analysis, documentation
#   make test      build and run every test                       make bench    measure
#   make build     the programs and the library                   make fuzz T=name [SECONDS=60]
#   make asan      every test under address and undefined-behaviour sanitizers
#   make load      a thousand programs at once, a tenth of them hostile [SECONDS=300]
#   make install   [prefix=/usr/local] [DESTDIR=]                  make clean    remove build/
#
# F=words      make test F='wire json': only the test files whose name has one of the words
# BUILD=dir    another build folder than build/default

BUILD ?= build/default
PROGRAMS = src/cli/codemode src/worker/codemode-worker
prefix ?= /usr/local
SECONDS ?= 60
NINJA := ninja $(shell [ -t 2 ] || echo --quiet)

.PHONY: demo test build check asan bench fuzz load install clean

demo: $(BUILD)/build.ninja
	@tools/setup build
	@$(NINJA) -C $(BUILD) $(PROGRAMS)
	@CODEMODE_BUILD=$(BUILD) tools/demo

test: $(BUILD)/build.ninja
	@tools/setup test
	@$(NINJA) -C $(BUILD)
	@CODEMODE_BUILD=$(BUILD) tests/run $(F)

build: $(BUILD)/build.ninja
	@tools/setup build
	@$(NINJA) -C $(BUILD)

check: $(BUILD)/build.ninja
	@tools/setup check
	@$(NINJA) -C $(BUILD)
	@CODEMODE_BUILD=$(BUILD) tools/check $(C)

bench: $(BUILD)/build.ninja
	@tools/setup test
	@$(NINJA) -C $(BUILD) $(PROGRAMS) bench/driver bench/store_scale
	@CODEMODE_BUILD=$(BUILD) node bench/run.mjs $(B)

load: SECONDS = 300
load: $(BUILD)/build.ninja
	@tools/setup test
	@$(NINJA) -C $(BUILD) $(PROGRAMS) tests/load/load tests/unit/store_check
	@CODEMODE_BUILD=$(BUILD) node tests/load/run.mjs $(SECONDS) $(L)

asan: build/asan/build.ninja
	@tools/setup test
	@$(NINJA) -C build/asan
	@CODEMODE_BUILD=build/asan tests/run $(F)

fuzz: build/fuzz/build.ninja
	@tools/setup check
	@tools/fuzz build/fuzz $(SECONDS) $(T)

install: build/install/build.ninja
	@meson configure build/install -Dprefix='$(prefix)' && ninja -C build/install build.ninja >/dev/null
	@$(NINJA) -C build/install
	@meson install -C build/install --no-rebuild --quiet $(if $(DESTDIR),--destdir '$(abspath $(DESTDIR))')

clean:
	rm -rf build

# Each configuration has its folder. Ninja itself runs Meson again when a build description changes.
build/asan/build.ninja: MESON_FLAGS = -Db_sanitize=address,undefined -Db_lundef=false
build/fuzz/build.ninja: MESON_FLAGS = -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
build/fuzz/build.ninja: MESON_ENV = CC=clang
build/fuzz/build.ninja: LEVEL = check
build/install/build.ninja: MESON_FLAGS = --buildtype=release -Dtests=false
LEVEL = build
%/build.ninja:
	@tools/setup $(LEVEL)
	@mkdir -p $(dir $(@D))
	@$(MESON_ENV) meson setup $(@D) $(MESON_FLAGS) >$(@D).log 2>&1 || { tail -n 20 $(@D).log; exit 1; }
