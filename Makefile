# make demo   boots a guest and compares passthrough with adaptive on a thin link
# make test   everything CI runs
#
# Both install the Debian packages they need, and need root for that, for TUN
# devices and for network namespaces.

BIN := bin
DEMO := $(BIN)/demo
GUEST_PACKAGES := qemu-system-x86 linux-image-amd64 xz-utils iproute2 procps util-linux
TEST_PACKAGES := $(GUEST_PACKAGES) spice-client-gtk virt-viewer xvfb xauth xdotool \
	x11-apps imagemagick openssl haproxy tshark gcc pkg-config libspice-server-dev

.PHONY: build demo test test-long bench generate lint unit race integration packages clean

build:
	go build -trimpath -o $(BIN)/kerbside-proxy ./cmd/kerbside-proxy
	CGO_ENABLED=0 go build -trimpath -o $(BIN)/spicebench ./cmd/spicebench

# What is written from the sources and kept beside them: docs/protocol.md, from
# the grammar.
.PHONY: generate protocol-doc
generate: protocol-doc

protocol-doc:
	go generate ./spiceproto

demo:
	.ci/packages $(GUEST_PACKAGES)
	$(MAKE) build
	$(BIN)/spicebench ab --demo --proxy $(BIN)/kerbside-proxy --out $(DEMO)

test: packages lint unit race integration

packages:
	.ci/packages $(TEST_PACKAGES)

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "not gofmt-clean: $$unformatted"; exit 1; }
	go vet ./...

unit:
	go test $$(go list ./... | grep -v /integration)

# Without those whose work is done by programs they start.
race:
	go test -race $$(go list ./... | grep -vE '/integration$$|/spicebench$$|/spicebench/(cost|guest|link|load)$$')

# One after the other: each test has a guest of its own, and two cores.
integration:
	go test -count=1 -timeout 15m ./integration

# Tests that take long, the ten minute soak and 400 compared pictures among them.
test-long: packages
	SPICEPACER_LONG=1 go test -count=1 -timeout 150m -v ./integration

# The figures of docs/measurements.md. Takes about four hours and wants the machine
# to itself.
AB := $(BIN)/spicebench ab --proxy $(BIN)/kerbside-proxy --repeats 2
FIFO := fifo={pacing: {mode: adaptive, reorder: false, compression: keep}}
RAW := raw={pacing: {mode: adaptive, raw_valve: true}}
bench: packages build
	$(AB) --presses 20 --cells 80:10/heavy --interval 80:10=2500ms \
		--proxy-arm '$(FIFO)' --proxy-arm '$(RAW)' \
		--arms passthrough,passthrough2,withhold,adaptive,fifo,raw --out $(BIN)/bench/heavy
	$(AB) --presses 20 --cells 80:50/heavy,20:50/heavy,80:10/idle \
		--arms passthrough,passthrough2,withhold,adaptive --out $(BIN)/bench/fast
	$(AB) --presses 20 --cells 80:10/busy,150:50/large-busy \
		--arms passthrough,passthrough2,adaptive --out $(BIN)/bench/busy
	$(AB) --presses 10 --warmup 15s --cells 150:2/heavy --interval 150:2=15s \
		--arms passthrough,withhold,adaptive --out $(BIN)/bench/withhold
	$(AB) --presses 40 --profiles 20:50,80:50,80:10 --activities heavy,busy,scroll,three \
		--arms passthrough,passthrough2,adaptive --out $(BIN)/bench/matrix
	$(AB) --presses 40 --warmup 15s --profiles 150:2 --activities heavy,busy,scroll,three \
		--arms passthrough,passthrough2,adaptive --out $(BIN)/bench/matrix-thin
	$(AB) --presses 8 --cells 80:10/heavy,1:1000/heavy --interval 80:10=4s,1:1000=4s \
		--proxy-arm '$(FIFO)' --arms passthrough,adaptive,fifo --out $(BIN)/bench/inflow
	mkdir -p $(BIN)/bench/compression
	SPICEPACER_LONG=1 go test -count=1 -v -run 'TestCompressionCost$$' -artifacts -outputdir $(CURDIR)/$(BIN)/bench/compression ./integration
	$(BIN)/spicebench cost --proxy $(BIN)/kerbside-proxy --out $(BIN)/bench/cost.jsonl
	$(BIN)/spicebench load --proxy $(BIN)/kerbside-proxy --out $(BIN)/bench/load.jsonl
	go test -run '^$$' -bench . -benchmem ./spiceproto ./pacer ./session

# The plugins are tools of go.mod; the compiler is Debian's and leaves no trace
# but its version in a comment.
generate:
	.ci/packages protobuf-compiler
	go build -o $(BIN)/protoc/ google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
	PATH=$(CURDIR)/$(BIN)/protoc:$$PATH protoc --proto_path=session/authz/kerbside/kerbsidepb \
		--go_out=. --go_opt=module=spicepacer --go-grpc_out=. --go-grpc_opt=module=spicepacer kerbside.proto

clean:
	rm -rf $(BIN)
