package spiceproto

import (
	"slices"
	"testing"
)

// step is one message of a session, as a Machine sees it.
type step struct {
	dir  Direction
	op   uint16
	body []byte
}

// down is a message of the server, up one of the client.
func down(op uint16, body ...byte) step { return step{ServerToClient, op, body} }
func up(op uint16, body ...byte) step   { return step{ClientToServer, op, body} }

// u32s lays integers out as they stand on the wire.
func u32s(values ...uint32) []byte {
	var b []byte
	for _, v := range values {
		b = le.AppendUint32(b, v)
	}
	return b
}

func u64s(values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = le.AppendUint64(b, v)
	}
	return b
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// allCaps is every capability of every channel.
var allCaps = Caps{^uint32(0)}

// linked returns a machine whose peers have every capability, past the ticket.
func linked(t ChannelType) *Machine {
	return linkedWith(MachineConfig{Channel: t, Client: allCaps, Server: allCaps, SoleDisplay: true})
}

func linkedWith(c MachineConfig) *Machine {
	m := NewMachine(c)
	m.LinkDone()
	m.TicketDone()
	return m
}

// observe feeds one step, with the head a Framer would hand out.
func (s step) observe(m *Machine) []Finding {
	return m.Observe(s.dir, Header{s.op, uint32(len(s.body))}, s.body[:min(len(s.body), HeadSize)])
}

// run feeds all steps and returns what was found, in order.
func run(m *Machine, steps []step) []Finding {
	var all []Finding
	for _, s := range steps {
		all = append(all, s.observe(m)...)
	}
	return all
}

func wantNoFindings(t tester, m *Machine, steps []step) {
	t.Helper()
	for i, s := range steps {
		for _, f := range s.observe(m) {
			t.Fatalf("step %d: %v", i, f)
		}
	}
}

// captured returns a capture's messages. The captures hold what the server sent;
// before gives what the client must have sent first.
func captured(t tester, name string, before ...step) []step {
	steps := before
	for _, w := range cut(t, golden(t, name)) {
		steps = append(steps, step{ServerToClient, w.Type, w.body})
	}
	return steps
}

func TestMachineAcceptsCaptures(t *testing.T) {
	for _, c := range []struct {
		channel ChannelType
		steps   []step
	}{
		{ChannelMain, captured(t, "main.bin")},
		{ChannelDisplay, captured(t, "display.bin", up(MsgcDisplayInit, make([]byte, displayInitSize)...))},
		{ChannelInputs, captured(t, "inputs.bin")},
		{ChannelCursor, captured(t, "cursor.bin")},
	} {
		t.Run(c.channel.String(), func(t *testing.T) {
			// The capturing client offered what spice-server offers.
			_, caps := ServerCaps(c.channel)
			m := linkedWith(MachineConfig{Channel: c.channel, Client: caps, Server: caps, SoleDisplay: true})
			wantNoFindings(t, m, answered(c.steps))
			if m.Phase() != PhaseActive {
				t.Errorf("phase %v", m.Phase())
			}
		})
	}
}

// answered adds the client's answers to what asks for one.
func answered(steps []step) []step {
	var all []step
	for _, s := range steps {
		all = append(all, s)
		switch {
		case s.dir == ServerToClient && s.op == MsgPing:
			all = append(all, up(MsgcPong, s.body[:12]...))
		case s.dir == ServerToClient && s.op == MsgSetAck:
			all = append(all, up(MsgcAckSync, s.body[:4]...))
		}
	}
	return all
}

func TestMachinePhases(t *testing.T) {
	m := NewMachine(MachineConfig{Channel: ChannelInputs})
	wantPhase := func(want Phase) {
		t.Helper()
		if m.Phase() != want {
			t.Fatalf("phase %v, want %v", m.Phase(), want)
		}
	}
	wantPhase(PhaseLink)
	m.TicketDone()
	wantPhase(PhaseLink)
	m.LinkDone()
	wantPhase(PhaseTicket)
	m.TicketDone()
	wantPhase(PhaseInitialised)
	wantNoFindings(t, m, []step{down(MsgInputsInit, 0, 0)})
	wantPhase(PhaseActive)
	wantNoFindings(t, m, []step{down(MsgMigrate, 3, 0, 0, 0)})
	wantPhase(PhaseMigrating)
	wantNoFindings(t, m, []step{up(MsgcMigrateFlushMark), down(MsgMigrateData, 1, 2, 3)})
	m.Close()
	wantPhase(PhaseClosed)
	m.LinkDone()
	m.TicketDone()
	wantPhase(PhaseClosed)
}

// A message yields at most maxFindings, and they last until the next call.
func TestMachineBoundsFindings(t *testing.T) {
	m := linkedWith(MachineConfig{Channel: ChannelDisplay})
	// No INIT, no capability, too long, dead surface, dead stream, bad clip …
	body := make([]byte, 51)
	body[streamIDOffset] = 200
	body[streamClipOffset] = 7
	body[streamCodecOffset] = 3
	got := down(MsgDisplayStreamCreate, body...).observe(m)
	if len(got) != maxFindings {
		t.Errorf("%d findings: %v", len(got), got)
	}
}

// A head of any length is safe, the one promised or not.
func TestMachineSurvivesAnyHead(t *testing.T) {
	for _, c := range legalSessions() {
		for n := range HeadSize {
			m := linked(c.channel)
			for _, s := range c.steps {
				h := Header{s.op, uint32(len(s.body))}
				m.Observe(s.dir, h, s.body[:min(len(s.body), n)])
				m.Observe(s.dir, h, append(s.body, make([]byte, n)...))
			}
		}
	}
}

func TestMachineDoesNotAllocate(t *testing.T) {
	const runs = 20
	for _, c := range legalSessions() {
		machines := make([]*Machine, runs+1)
		for i := range machines {
			machines[i] = linked(c.channel)
		}
		i := 0
		if n := testing.AllocsPerRun(runs, func() {
			for _, s := range c.steps {
				s.observe(machines[i])
			}
			i++
		}); n != 0 {
			t.Errorf("%v: %v allocations in %d messages", c.channel, n, len(c.steps))
		}
	}
}
