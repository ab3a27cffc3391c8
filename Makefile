# SPDX-License-Identifier: MIT
# A thin cover over meson: 'make help' lists what there is. The work is in meson.build, ./test and scripts/.

BUILD = build
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: all ready run test install bench asan lint lint-deep golden fuzz analyze valgrind sanitize compat chaos crash soak dist deb deb-try rpm sbom clean help
.DEFAULT_GOAL := all

## all: build into build/ (the default); build/wrapix is the program
all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)
	@ln -sfn src/cli/wrapix $(BUILD)/wrapix

$(BUILD)/build.ninja:
	-@scripts/need build
	meson setup $(BUILD)

# What the tests need that are run without ./test: programs, and whom to run as.
ready: all
	@scripts/need build run test "test-$$(uname -m)"
	@scripts/prepare

## run: build, then start a sandbox here; ARGS='-- CMD' adds arguments
run:
	@./run $(ARGS)

## test: everything, as CI runs it; ARGS='unit' or ARGS='-k NAME' for a part
test:
	@./test $(ARGS)

## install: PREFIX=/usr/local, DESTDIR= for packagers; on Ubuntu also the AppArmor profile
install: all
	meson configure $(BUILD) --prefix $(abspath $(PREFIX))
	meson install -C $(BUILD) $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && [ -d /etc/apparmor.d ]; then scripts/apparmor "$(abspath $(PREFIX))/bin/wrapix"; fi

## bench: measure start-up against bare exec and bubblewrap; prints a table, writes JSON
bench: all
	-@scripts/need build run bench
	@scripts/prepare
	@bench/run $(ARGS)

## asan: unit, golden and fuzz corpora under the address and undefined-behaviour sanitizers (build-asan/)
asan:
	@./test asan

## lint: format, shell scripts, manuals, layering, cppcheck (seconds)
lint:
	@scripts/need lint
	@scripts/lint

## lint-deep: lint and clang-tidy (minutes)
lint-deep: all
	@scripts/need lint deep
	@scripts/lint --deep

## golden: write the golden plans anew; read the difference before you commit it
golden: all
	@tests/golden/rewrite

## fuzz: run every fuzz target for TIME=60 seconds each, starting from its corpus; KEEP=1 keeps what it learns, JOBS=N at once
fuzz:
	@scripts/need build fuzz
	@KEEP=$(KEEP) JOBS=$(JOBS) tests/fuzz/run $(or $(TIME),$(SECONDS))

## analyze: gcc's analyzer over src/, cppcheck and clang-tidy (minutes); ARGS='src/guard' for a part of the first
analyze: all
	@scripts/need lint deep
	@scripts/analyze $(ARGS)
	@scripts/lint --deep

## valgrind: the unit tests and the notification daemon under memcheck (minutes)
valgrind: all
	@scripts/valgrind

## sanitize: unit, golden, fuzz and system tests under the address, undefined-behaviour and leak sanitizers (many minutes); ARGS=cow.sh for some
sanitize:
	@scripts/sanitize $(ARGS)

## compat: gcc and clang in another prefix, a Debian 13 root, musl, arm64 (minutes); ARGS='clang' for a part
compat: all
	@scripts/compat $(ARGS)

## chaos: ROUNDS=1000 random faults at random moments; SEED= repeats; SCENES=Podman plays those alone
chaos: ready
	@CHAOS_ROUNDS=$(or $(ROUNDS),1000) CHAOS_SEED=$(SEED) CHAOS_SCENES=$(SCENES) tests/chaos/run.sh

## crash: everything that writes, killed at every point at which it writes (minutes); ARGS='Key' for one of them
crash: ready
	@tests/crash/run.sh $(ARGS)

## soak: 10,000 sandboxes one after another, 300 at once, one for hours in fast motion (half an hour); ARGS='row 500' for a part
soak: ready
	@if [ -n "$(ARGS)" ]; then tests/soak/run.sh $(ARGS); else for part in row crowd long; do tests/soak/run.sh $$part || exit 1; done; fi

## dist: the source tarball of the last commit, the same bytes for everybody
dist:
	@scripts/dist

## deb: Debian packages of the last commit in build/deb, looked at by lintian
deb:
	@scripts/deb

## deb-try: install these packages in roots of Debian 12 and 13, use them there, remove them; needs root
deb-try:
	@scripts/deb-try

## rpm: RPM packages of the last commit in build/rpm, as far as that goes without Fedora
rpm:
	@scripts/rpm

## sbom: a bill of materials (CycloneDX) of the build, on standard output
sbom:
	@$(MAKE) --no-print-directory all >&2
	@scripts/sbom $(BUILD)

## clean: remove build/ and build-*/
clean:
	rm -rf build build-*

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r t d; do printf '  make %-10s %s\n' "$$t" "$$d"; done
