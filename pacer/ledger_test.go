package pacer_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// ledgerAt returns a synced ledger of window w that has framed and forwarded
// the given messages, SET_ACK included, and written acks.
func ledgerAt(t *testing.T, w uint32, framed, forwarded, acks int) *pacer.Ledger {
	t.Helper()
	l := new(pacer.Ledger)
	l.SetAck(1, w)
	l.Synced(1)
	for range framed - 1 {
		l.Received()
	}
	for range forwarded {
		l.Forwarded()
	}
	for range acks {
		if err := l.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestLedgerMayAck(t *testing.T) {
	for _, c := range []struct {
		w            uint32
		framed, acks int
		want         bool
	}{
		{20, 1, 0, false},
		{20, 19, 0, false},
		{20, 20, 0, true},
		{20, 39, 1, false},
		{20, 40, 1, true},
		{20, 41, 0, true},
		{1, 1, 0, true},
		{1, 1, 1, false},
		{0, 100, 0, false},
	} {
		l := ledgerAt(t, c.w, c.framed, 0, c.acks)
		if got := l.MayAck(); got != c.want {
			t.Errorf("W %d, R %d, A %d: may ack %t, want %t", c.w, c.framed, c.acks, got, c.want)
		}
	}
}

func TestLedgerDueWithheld(t *testing.T) {
	for _, c := range []struct {
		h         uint32
		forwarded int
		want      bool
	}{
		{1, 39, false},
		{1, 40, true},
		{0, 40, true}, // taken as 1: waiting for message 41 to be whole deadlocks
		{10, 30, false},
		{10, 31, true},
		{21, 19, false},
		{21, 20, true},
		{1000, 19, false}, // taken as W+1
		{math.MaxUint32, 20, true},
	} {
		l := ledgerAt(t, 20, 41, c.forwarded, 0)
		if got := l.DueWithheld(c.h); got != c.want {
			t.Errorf("W 20, h %d, F %d: due %t, want %t", c.h, c.forwarded, got, c.want)
		}
	}
}

func TestLedgerCredits(t *testing.T) {
	if got := new(pacer.Ledger).Credits(); got != math.MaxUint64 {
		t.Errorf("no window: %d credits, want no limit", got)
	}
	for _, c := range []struct {
		w            uint32
		framed, acks int
		want         uint64
	}{
		{20, 1, 0, 40},
		{20, 41, 0, 0},
		{20, 42, 0, 0}, // a drawing that brought its INVAL_LIST
		{20, 41, 1, 20},
		{20, 41, 2, 40},
		{math.MaxUint32, 1, 0, 2 * math.MaxUint32},
	} {
		l := ledgerAt(t, c.w, c.framed, 0, c.acks)
		if got := l.Credits(); got != c.want {
			t.Errorf("W %d, R %d, A %d: %d credits, want %d", c.w, c.framed, c.acks, got, c.want)
		}
	}
}

func TestLedgerEarlyAckIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		ledger func() *pacer.Ledger
		want   pacer.ErrEarlyAck
		text   string
	}{
		{"no SET_ACK", func() *pacer.Ledger { return new(pacer.Ledger) }, pacer.ErrEarlyAck{},
			"ACK without a window from the server"},
		{"one message early", func() *pacer.Ledger { return ledgerAt(t, 20, 39, 39, 1) },
			pacer.ErrEarlyAck{Generation: 1, Window: 20, Synced: true, Framed: 39, Acked: 1},
			"early ACK: number 2 of generation 1 is legal from message 40 on, seen 39"},
		{"not synced", func() *pacer.Ledger {
			l := ledgerAt(t, 1, 5, 5, 1)
			l.SetAck(2, 1)
			return l
		}, pacer.ErrEarlyAck{Generation: 2, Window: 1, Framed: 1},
			"ACK before ACK_SYNC of generation 2"},
	} {
		l := c.ledger()
		acked := l.Acked()
		err := l.Ack()
		var early *pacer.ErrEarlyAck
		if !errors.As(err, &early) || *early != c.want {
			t.Errorf("%s: error %#v, want %#v", c.name, err, c.want)
		}
		if err.Error() != c.text {
			t.Errorf("%s: %q, want %q", c.name, err, c.text)
		}
		if l.Acked() != acked {
			t.Errorf("%s: the refused ACK was booked", c.name)
		}
	}
}

func TestLedgerGenerations(t *testing.T) {
	l := ledgerAt(t, 2, 6, 4, 2) // two messages of generation 1 are still queued
	l.SetAck(2, 3)
	l.Synced(1) // the client's answer to the first SET_ACK, late
	l.Received()
	l.Received()
	if l.MayAck() {
		t.Error("an ACK_SYNC of the generation before counts")
	}
	l.Synced(2)
	if !l.MayAck() {
		t.Error("the ACK due when ACK_SYNC passes is not legal")
	}
	l.Forwarded()
	l.Forwarded()
	if got := l.Delivered(); got != 0 {
		t.Errorf("messages of generation 1 count in generation 2: F = %d", got)
	}
	l.Forwarded()
	if l.Generation() != 2 || l.Window() != 3 || l.Framed() != 3 || l.Delivered() != 1 || l.Acked() != 0 {
		t.Errorf("generation %d, W %d, R %d, F %d, A %d, want 2, 3, 3, 1, 0",
			l.Generation(), l.Window(), l.Framed(), l.Delivered(), l.Acked())
	}
	if got := l.Backlog(); got != 2 {
		t.Errorf("backlog %d, want 2", got)
	}
}

func TestLedgerNeverWrapsNorDeadlocks(t *testing.T) {
	atLeastChecks(t, schedulesPerTest)
	schedules := rapid.Custom(drawSchedule)
	rapid.Check(t, func(rt *rapid.T) {
		s := schedules.Draw(rt, "schedule")
		if err := s.play(s.policy); err != nil {
			rt.Fatal(err)
		}
	})
}

// The server keeps the last ACK_SYNC, whatever it said. A ledger that went on
// after one for a later generation would have its ACKs in flight when that
// generation begins, and the server would take them for its own.
func TestLedgerForeignAckSync(t *testing.T) {
	l := ledgerAt(t, 1, 5, 5, 0)
	l.Synced(2)
	if l.MayAck() {
		t.Error("generation 1 goes on after ACK_SYNC of generation 2")
	}
	l.SetAck(2, 1)
	if !l.MayAck() {
		t.Error("the early ACK_SYNC of generation 2 is forgotten")
	}
}

// The property must be able to fail: each of these policies breaks one of the
// rules by the least amount, and some schedule must show it.
func TestLedgerPropertyFindsLooseRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy policy
		want   error
	}{
		{"ACK one message early", policy{due: (*pacer.Ledger).MayAck, phantom: true}, errWrapped},
		{"release waits for the last message", policy{due: afterLastMessage}, errStuck},
		{"ACK only when a message arrives", policy{due: (*pacer.Ledger).MayAck, onArrival: true}, errStuck},
	} {
		t.Run(c.name, func(t *testing.T) {
			atLeastChecks(t, 1000)
			schedules := rapid.Custom(drawSchedule)
			found := 0
			rapid.Check(t, func(rt *rapid.T) {
				if errors.Is(schedules.Draw(rt, "schedule").play(c.policy), c.want) {
					found++
				}
			})
			if found == 0 {
				t.Errorf("no schedule ended with: %v", c.want)
			}
			t.Logf("%d schedules ended with: %v", found, c.want)
		})
	}
}

// atLeastChecks raises the number of rapid's checks for the rest of the test.
func atLeastChecks(t *testing.T, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	if asked, err := strconv.Atoi(before); err != nil || asked >= n {
		return
	}
	set := func(v string) {
		if err := checks.Value.Set(v); err != nil {
			t.Fatal(err)
		}
	}
	set(strconv.Itoa(n))
	t.Cleanup(func() { set(before) })
}

// policy decides when the relay of a schedule writes an ACK.
type policy struct {
	name string
	due  func(*pacer.Ledger) bool
	// ownAcks: the client must have sent that ACK, too.
	ownAcks bool
	// h, if not 0, is the hold that bounds the backlog.
	h uint32
	// phantom: the ledger is told of one message too many, so that all its
	// conditions on R are loose by one.
	phantom bool
	// onArrival: due ACKs are looked for only when a message arrives, not when
	// ACK_SYNC passes.
	onArrival bool
}

func (p policy) String() string { return p.name }

func withheld(h uint32) func(*pacer.Ledger) bool {
	return func(l *pacer.Ledger) bool { return l.DueWithheld(h) }
}

// afterLastMessage is the withheld rule with h = 0.
func afterLastMessage(l *pacer.Ledger) bool {
	w := uint64(l.Window())
	return l.MayAck() && l.Delivered() >= w*l.Acked()+2*w+1
}

func drawPolicy(t *rapid.T, w uint32) policy {
	h := rapid.Uint32Range(1, w+1).Draw(t, "h")
	switch rapid.IntRange(0, 3).Draw(t, "policy") {
	case 0:
		return policy{name: "early", due: (*pacer.Ledger).MayAck}
	case 1:
		return policy{name: fmt.Sprintf("withheld %d", h), due: withheld(h), h: h}
	case 2:
		return policy{name: fmt.Sprintf("withheld %d, client's ACKs", h), due: withheld(h), h: h, ownAcks: true}
	}
	// A controller changes its mind: the hold is another one at every question.
	turn := h
	return policy{name: fmt.Sprintf("mixed from %d", h), due: func(l *pacer.Ledger) bool {
		turn = turn*1664525 + 1013904223
		if turn>>31 == 0 {
			return l.MayAck()
		}
		return l.DueWithheld(1 + turn%(l.Window()+1))
	}}
}

// schedule is one interleaving of everything that can happen between a server,
// a relay and a client.
type schedule struct {
	windows []uint32 // of the generations
	socket  int      // bytes of the server's send buffer
	bodies  int      // message bodies are shorter than this
	policy  policy
	hostile bool // the client sends ACK_SYNCs of its own
	steps   []step
}

// step is a kind of event and how much of it happens.
type step uint16

const (
	stepKinds  = 10
	mostAmount = 1<<16/stepKinds - 1
)

func (s step) kind() int { return int(s) % stepKinds }

// amount returns 1 to about limit, skewed to the small.
func (s step) amount(limit int) int {
	x := float64(s/stepKinds) / mostAmount
	return 1 + int(x*x*x*float64(limit))
}

func drawSchedule(t *rapid.T) *schedule {
	s := &schedule{
		windows: rapid.SliceOfN(rapid.Uint32Range(1, 100), 1, 3).Draw(t, "windows"),
		socket:  rapid.IntRange(16, 300).Draw(t, "socket"),
		bodies:  rapid.IntRange(1, 100).Draw(t, "bodies"),
		hostile: rapid.IntRange(0, 3).Draw(t, "hostile") == 3,
	}
	s.policy = drawPolicy(t, s.windows[0])
	steps := rapid.SliceOfN(rapid.Uint16(), 30, 200).Draw(t, "steps")
	for _, v := range steps {
		s.steps = append(s.steps, step(v))
	}
	return s
}

var (
	errWrapped = errors.New("the server's window wrapped")
	errStuck   = errors.New("the server is stuck although the client drains")
	errBound   = errors.New("more in flight than the rule allows")
)

// play runs the schedule, then lets everything drain, and returns what broke.
func (s *schedule) play(p policy) error {
	path := newPath(s, p)
	for i, step := range s.steps {
		path.do(step)
		if err := path.check(); err != nil {
			return fmt.Errorf("%v, after step %d: %w", p, i, err)
		}
	}
	for path.generation < len(s.windows) {
		path.nextGeneration()
	}
	path.queueMessages(2*int(s.windows[len(s.windows)-1]) + 3) // more than fit in one window
	path.drain()
	if err := path.check(); err != nil {
		return fmt.Errorf("%v, draining: %w", p, err)
	}
	if begun := path.server.Stats.Begun; !s.hostile && (!path.server.Idle() || path.client.Screen.Messages != begun) {
		return fmt.Errorf("%v: %w: %d begun, %d received, %d queued, waiting %t, %+v",
			p, errStuck, begun, path.client.Screen.Messages, path.server.PipeLen(),
			path.server.Waiting(), path.ledger)
	}
	return nil
}

// path is a server, a relay with a ledger and a client, joined by queues of
// bytes that move only when the schedule says so.
type path struct {
	schedule *schedule
	policy   policy

	server *spicetest.Sender
	client spicetest.Client
	ledger pacer.Ledger

	fromServer, toClient, fromClient spiceproto.Framer

	queue, wire, answers, toServer []byte // relay, client's socket, and back

	generation int
	clientAcks uint64 // of this generation
	items      int
}

func newPath(s *schedule, p policy) *path {
	path := &path{schedule: s, policy: p, server: spicetest.NewSender(s.socket)}
	path.nextGeneration()
	return path
}

func (p *path) do(s step) {
	w := int(p.schedule.windows[p.generation-1])
	switch s.kind() {
	case 0:
		p.queueMessages(s.amount(2 * w))
	case 1:
		p.queueDrawings(s.amount(w))
	case 2:
		p.server.Writable()
	case 3, 4:
		p.server.Writable()
		p.readServer(s.amount(4000))
	case 5:
		p.forward(s.amount(4000))
	case 6:
		p.drainClient(s.amount(4000))
	case 7:
		p.readClient(s.amount(40))
	case 8:
		p.writeServer(s.amount(40))
	case 9:
		p.rareEvent(s.amount(8))
	}
}

// rareEvent is a new generation or a stray ACK_SYNC.
func (p *path) rareEvent(n int) {
	switch {
	case n > 4:
		p.nextGeneration()
	case p.schedule.hostile:
		p.answers = spiceproto.AckSync{Generation: uint32(p.generation + 2 - n)}.Append(p.answers)
	}
}

func (p *path) nextGeneration() {
	if p.generation < len(p.schedule.windows) {
		p.server.Queue(spicetest.SetAck(p.schedule.windows[p.generation]))
		p.generation++
	}
}

var bodyBytes [128]byte

func (p *path) queueMessages(n int) {
	for range n {
		p.items++
		p.server.Queue(spicetest.Message(spiceproto.MsgNotify, bodyBytes[:p.items*31%p.schedule.bodies]))
	}
}

// queueDrawings queues updates of a few columns, so that newer ones replace
// older ones, and some bring an INVAL_LIST.
func (p *path) queueDrawings(n int) {
	for range n {
		p.items++
		left := int32(p.items % 7 * 32)
		p.server.Queue(spicetest.Item{
			Draw:        spicetest.Draw{Box: spiceproto.Rect{Left: left, Bottom: 32, Right: left + 32}},
			Invalidates: p.items%5 == 0,
		})
	}
}

// readServer is the relay's reader: it frames, books and queues.
func (p *path) readServer(n int) {
	b := p.server.Socket.Bytes()
	b = b[:min(n, len(b))]
	p.queue = append(p.queue, b...)
	for rest := b; len(rest) > 0; {
		seg := p.fromServer.Next(rest)
		rest = rest[len(seg.Bytes):]
		p.framed(seg)
	}
	p.server.Socket.Discard(len(b))
}

func (p *path) framed(seg spiceproto.Segment) {
	setAck := p.fromServer.Header().Type == spiceproto.MsgSetAck
	switch {
	case setAck && seg.End:
		m, err := spiceproto.ParseSetAck(p.fromServer.Head())
		if err != nil {
			panic(err)
		}
		p.ledger.SetAck(m.Generation, m.Window)
		if p.policy.phantom {
			p.ledger.Received()
		}
		p.clientAcks = 0
		p.writeAcks()
	case !setAck && seg.HeaderDone:
		p.ledger.Received()
		p.writeAcks()
	}
}

// forward is the relay's writer.
func (p *path) forward(n int) {
	b := take(&p.queue, n)
	p.wire = append(p.wire, b...)
	for len(b) > 0 {
		seg := p.toClient.Next(b)
		b = b[len(seg.Bytes):]
		if seg.End {
			p.ledger.Forwarded()
			p.acknowledge()
		}
	}
}

func (p *path) drainClient(n int) {
	reply, err := p.client.Receive(time.Time{}, take(&p.wire, n))
	if err != nil {
		panic(err)
	}
	p.answers = append(p.answers, reply...)
}

// readClient passes ACK_SYNC on and keeps the client's ACKs.
func (p *path) readClient(n int) {
	for b := take(&p.answers, n); len(b) > 0; {
		seg := p.fromClient.Next(b)
		b = b[len(seg.Bytes):]
		if !seg.End {
			continue
		}
		if p.fromClient.Header().Type == spiceproto.MsgcAck {
			p.clientAcks++
			p.acknowledge()
			continue
		}
		m, err := spiceproto.ParseAckSync(p.fromClient.Head())
		if err != nil {
			panic(err)
		}
		p.toServer = m.Append(p.toServer)
		p.ledger.Synced(m.Generation)
		p.acknowledge()
	}
}

// acknowledge runs after every event that is not an arrival.
func (p *path) acknowledge() {
	if !p.policy.onArrival {
		p.writeAcks()
	}
}

func (p *path) writeAcks() {
	for p.policy.due(&p.ledger) {
		if p.policy.ownAcks && p.clientAcks <= p.ledger.Acked() {
			return
		}
		if err := p.ledger.Ack(); err != nil {
			panic(err)
		}
		p.toServer = spiceproto.AppendAck(p.toServer)
	}
}

func (p *path) writeServer(n int) {
	if err := p.server.Receive(take(&p.toServer, n)); err != nil {
		panic(err)
	}
}

// drain lets everything move until nothing does.
func (p *path) drain() {
	const all = math.MaxInt
	for moved := true; moved; {
		p.server.Writable()
		moved = p.server.Socket.Len()+len(p.queue)+len(p.wire)+len(p.answers)+len(p.toServer) > 0
		p.readServer(all)
		p.forward(all)
		p.drainClient(all)
		p.readClient(all)
		p.writeServer(all)
	}
}

func (p *path) check() error {
	if p.server.Wrapped() {
		return fmt.Errorf("%w: %+v", errWrapped, p.ledger)
	}
	w := p.server.Window()
	if peak := p.server.Stats.Peak; p.server.Generation() > 0 && peak > 2*w+2 {
		return fmt.Errorf("%w: messages_window %d with W %d", errBound, peak, w)
	}
	if inFlight := p.ledger.Framed() - p.ledger.Delivered(); p.policy.h > 0 && p.ledger.Acked() > 0 &&
		inFlight > uint64(p.ledger.Window())+uint64(p.policy.h)+1 {
		return fmt.Errorf("%w: backlog of %d with W %d, h %d", errBound, inFlight, p.ledger.Window(), p.policy.h)
	}
	return nil
}

// take removes up to n bytes from the front of q.
func take(q *[]byte, n int) []byte {
	b := (*q)[:min(n, len(*q))]
	*q = (*q)[len(b):]
	return b
}
