# The targets that people and CI use; `make help` lists them. Everything else is `go run ./cmd/lmmc`.
SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS   += --no-print-directory
.DEFAULT_GOAL := help

# Where the Go distribution installs itself, for shells that do not know it.
export PATH := $(PATH):/usr/local/go/bin

LMMC := build/lmmc
# usb: takes libusb, which scripts/deps installs; `go build ./...` without the tag makes do without.
TAGS := -tags usb
# Further arguments for `lmmc sim`, `lmmc bench`, `lmmc soak`, `lmmc prove` and `go test`, for example: make sim SIM="--run errors --seeds 100"
SIM   ?=
BENCH ?=
SOAK  ?=
PROVE ?=
MUTATE ?=
# The modules whose planted bugs make mutate tries; by default all, or none with MUTATE.
PLANTED ?=
TEST  ?=
# The releases of Debian whose Verilators make verilators takes.
RELEASES ?= trixie sid
# What make bitstream builds, and make gates verifies: BOARD or BOARD/CONFIG; and the cases that make gates runs, a regular expression.
BOARD ?= hx8k
GATES ?=

.PHONY: help sim bench soak prove mutate coverage report bitstream gates test verilators lint deps lmmc clean

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A check that fails (exit code 1) does not keep the page from being made.
STEPS := status=0; step() { "$$@" || { local code=$$?; [[ $$code == 1 ]] || exit $$code; status=1; }; }

sim: lmmc ## verify the network interface, measure its figures in short, and make the page build/report/index.html
	@$(STEPS); \
	step $(LMMC) sim $(SIM); echo; \
	step $(LMMC) bench --quick $(BENCH); echo; \
	step $(LMMC) report; \
	exit $$status

coverage: lmmc ## find out what the scenarios reach of the RTL, and make the page
	@$(STEPS); step $(LMMC) sim --coverage $(SIM); step $(LMMC) report; exit $$status

report: lmmc ## make the page of what was found so far
	@$(LMMC) report

bench: lmmc ## measure the figures at length
	@$(LMMC) bench $(BENCH)

soak: lmmc ## run links under faults; make soak SOAK="--for 2h" goes on for two hours
	@$(LMMC) soak $(SOAK)

prove: lmmc ## prove the modules' properties; make prove PROVE=ni_trap proves one
	@scripts/deps test
	@$(LMMC) prove $(PROVE)

mutate: ## try 1,000 mutants of the modules and the planted bugs; make mutate MUTATE="link_rx --count 50" tries fewer
	@scripts/deps test
	@$(MAKE) lmmc
	@$(STEPS); \
	step $(LMMC) mutate $(MUTATE); \
	$(if $(and $(MUTATE),$(if $(PLANTED),,none)),,step $(LMMC) mutate --planted $(PLANTED);) \
	exit $$status

bitstream: lmmc ## build the bitstream of a board; make bitstream BOARD=hx8k/self-loop builds another
	@scripts/deps test
	@$(LMMC) build $(BOARD)

gates: lmmc ## run the conformance suite on a board's netlist and on its bitstream (long); make gates GATES='identity/.*' runs some cases
	@scripts/deps test
	@$(STEPS); for rung in gates bits; do step $(LMMC) conform $$rung:$(BOARD) --run '$(GATES)'; done; exit $$status

# Models that can record a wave take twice as long to compile. The command that a failing test prints leaves a wave; make test LMMC_WAVES=
# records at once. Without debug information (-w) test programs link in half the time.
test: export LMMC_WAVES ?= off
test: lint ## every test; a summary at the end
	@go test $(TAGS) -ldflags=-w -vet=off -json -timeout 40m $(TEST) ./... | go run ./internal/testsum

verilators: ## the kit's tests with Verilators of later releases of Debian; make verilators RELEASES=sid TEST="-run Delays" takes fewer
	@scripts/deps test
	@for release in $(RELEASES); do \
		folder=$$(scripts/verilator $$release); \
		LMMC_VERILATOR=$$folder go test ./verilator -run OtherVerilator; \
		PATH=$$folder:$$PATH LMMC_WAVES=off go test -timeout 40m $(TEST) ./verilator ./testbench ./testbench/bus/...; \
	done

lint: ## gofmt, go vet, staticcheck
	@scripts/deps test
	@unformatted=$$(gofmt -l .); [[ -z $$unformatted ]] || { echo "gofmt -w is needed on:"; echo "$$unformatted"; exit 1; }
	@go vet $(TAGS) ./...
	@go vet ./hostdrv/transport/usb/...
	@go tool staticcheck ./...
	@go tool staticcheck $(TAGS) ./hostdrv/transport/usb

deps: ## install every tool that is missing
	@scripts/deps test

# A checkout that git refuses to look into (another owner) still builds, without a commit in `lmmc version`.
# Go compiles what needs no tool while those that are missing are installed.
lmmc:
	@command -v verilator >/dev/null || go build ./testbench/scenarios ./boards/... >/dev/null 2>&1 & scripts/deps sim; wait
	@go build $(TAGS) $$(git rev-parse -q --verify HEAD >/dev/null 2>&1 || echo -buildvcs=false) -o $(LMMC) ./cmd/lmmc
	@[[ $$(uname) != Linux ]] || hostdrv/preload/build build/liblmmc-socket.so

clean: ## remove what was built; compiled models stay in the cache (see doc/commands.md)
	rm -rf build
