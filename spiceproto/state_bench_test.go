package spiceproto

import "testing"

// busyDisplay is what a display channel carries over and over once it is open,
// in both directions: the captured draws (9113 and twice 130 bytes), a probe, a
// video frame, and the ACK of a window of 20.
func busyDisplay(t tester) (opening, round []step) {
	all := captured(t, "display.bin", displayInit())
	opening = append(answered(all), streamCreate(0, 1))
	var draws []step
	for _, s := range all {
		if s.op == MsgDisplayDrawCopy {
			draws = append(draws, s)
		}
	}
	frame := down(MsgDisplayStreamData, make([]byte, 4096)...)
	for range 4 {
		round = append(round, draws...)
		round = append(round, frame)
	}
	round = append(round, draws[0], draws[1], ping(1, 1), pong(1, 1), down(MsgDisplayMark), up(MsgcAck))
	return opening, round
}

func TestBusyDisplayIsLegal(t *testing.T) {
	opening, round := busyDisplay(t)
	m := linked(ChannelDisplay)
	wantNoFindings(t, m, opening)
	for range 10 {
		wantNoFindings(t, m, round)
	}
}

// BenchmarkStateStep, BenchmarkHeadParse and BenchmarkPlainCopy treat the same
// messages, one an iteration.
func BenchmarkStateStep(b *testing.B) {
	opening, round := busyDisplay(b)
	m := linked(ChannelDisplay)
	run(m, opening)
	headers, heads := headsOf(round)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if m.Observe(round[i].dir, headers[i], heads[i]) != nil {
			b.Fatal("found something")
		}
		if i++; i == len(round) {
			i = 0
		}
	}
}

func BenchmarkHeadParse(b *testing.B) {
	_, round := busyDisplay(b)
	headers, heads := headsOf(round)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h := headers[i]
		if round[i].dir == ServerToClient && IsDraw(h.Type) {
			if _, err := ParseDrawHead(h.Type, h.Size, heads[i]); err != nil {
				b.Fatal(err)
			}
		}
		if i++; i == len(round) {
			i = 0
		}
	}
}

func BenchmarkPlainCopy(b *testing.B) {
	_, round := busyDisplay(b)
	var messages [][]byte
	total := 0
	for _, s := range round {
		messages = append(messages, wire([]step{s}, s.dir))
		total += len(messages[len(messages)-1])
	}
	out := make([]byte, 16<<10)
	b.SetBytes(int64(total / len(round)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		copy(out, messages[i])
		if i++; i == len(round) {
			i = 0
		}
	}
}

func headsOf(steps []step) (headers []Header, heads [][]byte) {
	for _, s := range steps {
		headers = append(headers, Header{s.op, uint32(len(s.body))})
		heads = append(heads, s.body[:min(len(s.body), HeadSize)])
	}
	return headers, heads
}
