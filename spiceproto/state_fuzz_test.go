package spiceproto

import (
	"runtime"
	"testing"
)

// replay frames one direction's bytes and shows each message to the machine,
// with the head the framer holds when it is complete.
type replay struct {
	dir  Direction
	rest []byte
	f    Framer
}

// next shows the next message; false when there is none.
func (r *replay) next(m *Machine, check func([]Finding)) bool {
	for len(r.rest) > 0 {
		seg := r.f.Next(r.rest)
		r.rest = r.rest[len(seg.Bytes):]
		if seg.HeadDone {
			check(m.Observe(r.dir, r.f.Header(), r.f.Head()))
			return true
		}
	}
	return false
}

// Whatever both sides send, and however their messages interleave, the machine
// neither panics nor allocates beyond what it read.
func FuzzMachine(f *testing.F) {
	init := displayInit()
	for _, c := range []struct {
		channel ChannelType
		server  []byte
		client  []byte
	}{
		{ChannelMain, golden(f, "main.bin"), wire(mainSession(), ClientToServer)},
		{ChannelDisplay, golden(f, "display.bin"), wire([]step{init}, ClientToServer)},
		{ChannelInputs, golden(f, "inputs.bin"), nil},
		{ChannelCursor, golden(f, "cursor.bin"), nil},
	} {
		f.Add(uint8(c.channel), true, uint32(0), c.server, c.client)
	}
	for _, s := range legalSessions() {
		f.Add(uint8(s.channel), true, ^uint32(0), wire(s.steps, ServerToClient), wire(s.steps, ClientToServer))
		f.Add(uint8(s.channel), false, uint32(0), wire(s.steps, ServerToClient), wire(s.steps, ClientToServer))
	}
	f.Fuzz(func(t *testing.T, channel uint8, sole bool, caps uint32, server, client []byte) {
		channelType := ChannelType(channel)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := linkedWith(MachineConfig{
			Channel: channelType, Client: Caps{caps}, Server: Caps{caps}, SoleDisplay: sole,
		})
		down, up := replay{ServerToClient, server, Framer{}}, replay{ClientToServer, client, Framer{}}
		check := func(found []Finding) {
			if len(found) > maxFindings {
				t.Fatalf("%d findings", len(found))
			}
			for _, f := range found {
				if f.Channel != channelType || f.Direction > ClientToServer || f.Rule >= numRules || f.Severity != f.Rule.Severity() {
					t.Fatalf("finding %+v", f)
				}
			}
		}
		for more := true; more; {
			more = down.next(m, check)
			more = up.next(m, check) || more
		}
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(4*(len(server)+len(client))+16<<10); got > most {
			t.Fatalf("%d bytes allocated for %d", got, len(server)+len(client))
		}
	})
}

// wire is what one side of a session sends.
func wire(steps []step, d Direction) []byte {
	var b []byte
	for _, s := range steps {
		if s.dir == d {
			b = append(Header{s.op, uint32(len(s.body))}.Append(b), s.body...)
		}
	}
	return b
}
