package pacer

import (
	"testing"
	"time"
)

var noon = time.Unix(1_000_000_000, 0)

func TestProcessingOverdue(t *testing.T) {
	var p processing
	if p.slow(noon) {
		t.Error("slow without anything to answer")
	}
	p.causes(noon)
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{
		{-time.Second, false},
		{processingSlack, false},
		{processingSlack + 1, true},
	} {
		if got := p.slow(noon.Add(c.after)); got != c.want {
			t.Errorf("slow %t, %v after its ACK was expected", got, c.after)
		}
	}
	p.answered()
	if p.slow(noon.Add(time.Hour)) {
		t.Error("slow after the answer")
	}
}

func TestProcessingOldestCounts(t *testing.T) {
	var p processing
	p.causes(noon)
	p.causes(noon.Add(time.Second))
	p.answered()
	if p.slow(noon.Add(time.Second)) {
		t.Error("the second ACK is not overdue yet")
	}
	p.causes(noon.Add(time.Hour))
	if !p.slow(noon.Add(time.Second + 2*processingSlack)) {
		t.Error("the second ACK is overdue")
	}
}

func TestProcessingTooFarBehind(t *testing.T) {
	var p processing
	for range maxCheckpoints {
		p.causes(noon)
	}
	if p.slow(noon) {
		t.Error("slow before the ring is full")
	}
	p.causes(noon)
	if !p.slow(noon) {
		t.Error("not slow with more unanswered than are remembered")
	}
	p.answered()
	if p.slow(noon) {
		t.Error("slow although the client moves")
	}
}

// A client that counts SET_ACK answers each time one message earlier than
// expected. On a quiet screen that is long before.
func TestProcessingEarlyClient(t *testing.T) {
	var p processing
	for i := range 3 * maxCheckpoints {
		now := noon.Add(time.Duration(i) * time.Hour)
		p.answered()
		p.causes(now)
		if p.slow(now.Add(time.Hour)) {
			t.Fatalf("slow in round %d", i)
		}
	}
	p.causes(noon)
	if !p.slow(noon.Add(time.Second)) {
		t.Error("an ACK that did not come is taken for one that came early")
	}
}

func TestProcessingReset(t *testing.T) {
	var p processing
	p.answered()
	for range maxCheckpoints + 2 {
		p.causes(noon)
	}
	p.reset()
	if p.slow(noon.Add(time.Hour)) {
		t.Error("slow in a new generation")
	}
	p.causes(noon)
	if !p.slow(noon.Add(time.Second)) {
		t.Error("the ACKs of the generation before still count")
	}
}

// A guest operation may wait with the server, so a client that is silent for
// long is not waited for.
func TestProcessingGivesUp(t *testing.T) {
	var p processing
	p.causes(noon)
	for range maxCheckpoints {
		p.causes(noon.Add(time.Minute))
	}
	if !p.slow(noon.Add(releaseAfter - 1)) {
		t.Error("not slow just before")
	}
	if p.slow(noon.Add(releaseAfter)) {
		t.Error("still waited for")
	}
}
