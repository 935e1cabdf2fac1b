package load

import (
	"testing"

	"spicepacer/spiceproto"
)

// conversation shows the messages of a channel's start to a Machine, in the order
// in which they are sent.
type conversation struct {
	t       *testing.T
	kind    spiceproto.ChannelType
	machine *spiceproto.Machine
	last    uint16 // of the hypervisor
}

func (c *conversation) say(d spiceproto.Direction, messages []byte) {
	c.t.Helper()
	var f spiceproto.Framer
	for len(messages) > 0 {
		s := f.Next(messages)
		messages = messages[len(s.Bytes):]
		if !s.End {
			continue
		}
		h := spiceproto.Header{Type: f.Header().Type, Size: f.Header().Size}
		for _, finding := range c.machine.Observe(d, h, f.Head()) {
			c.t.Errorf("%s: %v of %v message %d: %v", c.kind, finding.Severity, d, h.Type, finding.Rule)
		}
		switch {
		case d == spiceproto.ServerToClient:
			c.last = h.Type
			c.say(spiceproto.ClientToServer, reply(h.Type, f.Head()))
		default:
			c.say(spiceproto.ServerToClient, answer(c.kind, h.Type))
		}
	}
}

func TestStartIsLegal(t *testing.T) {
	for _, kind := range kinds {
		common, channel := spiceproto.ServerCaps(kind)
		if !common.Has(spiceproto.CapMiniHeader) {
			t.Fatal("the hypervisor has no mini headers")
		}
		m := spiceproto.NewMachine(spiceproto.MachineConfig{Channel: kind, Server: channel, SoleDisplay: true})
		m.LinkDone()
		m.TicketDone()
		c := conversation{t: t, kind: kind, machine: m}
		c.say(spiceproto.ServerToClient, greeting(kind, 1))
		c.say(spiceproto.ClientToServer, opening(kind))
		if m.Phase() != spiceproto.PhaseActive || c.last != lastOfStart[kind] {
			t.Errorf("%s: the start ends %v with message %d, want it active with message %d", kind, m.Phase(), c.last, lastOfStart[kind])
		}
	}
}
