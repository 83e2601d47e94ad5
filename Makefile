# Every target installs what it lacks. The work is done by the scripts under packaging/.
.PHONY: build run test test-engine newcomer bench bench-context soak facts lint fuzz arm64 armv7 armv6 size clean

build:
	@packaging/build.sh </dev/null

run: build
	@bin/pinch chat

test:
	@packaging/test.sh

test-engine:
	@engine=$$(packaging/engine.sh) && PINCH_ENGINE=$$engine packaging/go.sh test -count=1 -v -run '^TestEngine$$' ./packaging

newcomer:
	@packaging/newcomer.sh

bench: build
	@packaging/need.sh test
	@packaging/go.sh test -run '^$$' -bench . ./...

bench-context:
	@packaging/go.sh test -count=1 -v -run '^TestContextBench$$' ./packaging

soak:
	@PINCH_SOAK=1000 packaging/go.sh test -count=1 -v -timeout 30m -run '^TestSoak$$' ./packaging

facts:
	@PINCH_ENGINES="window recall" packaging/go.sh test -count=1 -v -run '^TestFactsStayInReach$$' ./packaging

lint:
	@packaging/lint.sh

fuzz:
	@packaging/fuzz.sh

arm64 armv7 armv6:
	@packaging/build.sh $@

size:
	@packaging/size.sh

clean:
	rm -rf bin dist
