package spiceproto

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// agentCodec is one agent message type under test: a value, and the bytes of its
// data that spice/vd_agent.h gives it.
type agentCodec struct {
	typ    AgentType
	layout AgentLayout
	value  message
	data   string
	// open: the data ends with contents of any length, none of it needed beyond
	// the first least bytes.
	open   bool
	least  int
	random func(*rapid.T) message
}

func agentCodecOf[M message](typ AgentType, value M, data string) agentCodec {
	return agentCodec{
		typ: typ, value: value, data: data,
		random: func(t *rapid.T) message { return rapid.Make[M]().Draw(t, "message") },
	}
}

func (c agentCodec) openAfter(least int) agentCodec {
	c.open, c.least = true, least
	return c
}

func (c agentCodec) drawn(random func(*rapid.T) message) agentCodec {
	c.random = random
	return c
}

func (c agentCodec) parse(data []byte) (any, error) {
	h := AgentHeader{Protocol: AgentProtocol, Type: c.typ, Size: uint32(len(data))}
	return DecodeAgent(ClientToServer, AgentMessage{h, data}, c.layout)
}

// testAgentCodecs does for agent messages what testCodecs does for others.
func testAgentCodecs(t *testing.T, codecs []agentCodec) {
	for _, c := range codecs {
		t.Run(c.typ.String(), func(t *testing.T) {
			data := fromHex(t, c.data)
			h := AgentHeader{Protocol: AgentProtocol, Type: c.typ, Size: uint32(len(data))}
			if got, want := c.value.Append(nil), append(h.Append(nil), data...); !bytes.Equal(got, want) {
				t.Errorf("Append:\n got %x\nwant %x", got, want)
			}
			c.wantParse(t, data, c.value)
			needed := len(data)
			if c.open {
				needed = c.least
			}
			for n := range needed {
				c.wantDecodeError(t, data[:n])
			}
			rapid.Check(t, func(t *rapid.T) {
				m := c.random(t)
				wire := m.Append(nil)
				h, _ := ParseAgentHeader(wire)
				if h.Type != c.typ || int(h.Size) != len(wire)-AgentHeaderSize {
					t.Fatalf("header %+v of %d bytes", h, len(wire))
				}
				c.wantParse(t, wire[AgentHeaderSize:], m)
			})
		})
	}
}

func (c agentCodec) wantParse(t tester, data []byte, want message) {
	t.Helper()
	got, err := c.parse(data)
	if err != nil {
		t.Fatalf("parse %x: %v", data, err)
	}
	if diff := cmp.Diff(any(want), got, equateEmpty); diff != "" {
		t.Fatalf("parse %x: (-want +got)\n%s", data, diff)
	}
	if wire := got.(message).Append(nil); !bytes.Equal(wire, want.Append(nil)) {
		t.Fatalf("appended again: %x, want %x", wire, want.Append(nil))
	}
}

func (c agentCodec) wantDecodeError(t tester, data []byte) {
	t.Helper()
	m, err := c.parse(data)
	var e *DecodeError
	if !errors.As(err, &e) || m != nil {
		t.Fatalf("parse %x: %+v, error %v", data, m, err)
	}
	if e.Channel != ChannelMain || e.Direction != ClientToServer || e.Opcode != MsgcMainAgentData ||
		e.Field == "" || e.Offset > len(data) || e.Err != ErrTruncated && e.Err != ErrCount {
		t.Errorf("parse %x: %+v", data, e)
	}
}

func TestAgentHeader(t *testing.T) {
	h := AgentHeader{Protocol: 1, Type: AgentReplyType, Opaque: 0x0102, Size: 8}
	wire := fromHex(t, "01000000 03000000 0201000000000000 08000000")
	if got := h.Append(nil); !bytes.Equal(got, wire) {
		t.Errorf("Append: %x, want %x", got, wire)
	}
	if got, ok := ParseAgentHeader(append(wire, 0xee)); got != h || !ok {
		t.Errorf("ParseAgentHeader: %+v, %v", got, ok)
	}
	for n := range wire {
		if got, ok := ParseAgentHeader(wire[:n]); got != (AgentHeader{}) || ok {
			t.Errorf("ParseAgentHeader of %d bytes: %+v, %v", n, got, ok)
		}
	}
}

func TestAgentTypeString(t *testing.T) {
	for a, want := range map[AgentType]string{
		AgentMouseStateType: "mouse-state", AgentGraphicsDeviceInfoType: "graphics-device-info",
		0: "agent-0", 17: "agent-17", 1 << 31: "agent-2147483648",
	} {
		if a.String() != want {
			t.Errorf("%d: %q, want %q", a, a.String(), want)
		}
	}
}

func TestAgentCapNames(t *testing.T) {
	caps := Caps{}.With(CapAgentMouseState).With(CapAgentClipboardGrabSerial).With(20)
	want := []string{"mouse-state", "clipboard-grab-serial", "bit-20"}
	if got := AgentCapNames(caps); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A capability changes the layout only when both ends have it.
func TestAgentLayoutOf(t *testing.T) {
	selection := Caps{}.With(CapAgentClipboardSelection)
	both := selection.With(CapAgentClipboardGrabSerial)
	for _, c := range []struct {
		agent, client Caps
		want          AgentLayout
	}{
		{nil, both, AgentLayout{}},
		{both, nil, AgentLayout{}},
		{both, selection, AgentLayout{Selection: true}},
		{both, both, AgentLayout{Selection: true, GrabSerial: true}},
	} {
		if got := AgentLayoutOf(c.agent, c.client); got != c.want {
			t.Errorf("%v %v: %+v, want %+v", c.agent, c.client, got, c.want)
		}
	}
}

func TestAppendAgentData(t *testing.T) {
	agent := AgentClipboard{Data: make([]byte, 5000)}.Append(nil)
	for _, dir := range []Direction{ServerToClient, ClientToServer} {
		var got []byte
		for _, m := range cut(t, AppendAgentData(nil, dir, agent)) {
			if m.Type != agentDataOpcode(dir) || len(m.body) > AgentMaxData {
				t.Errorf("type %d, %d bytes", m.Type, len(m.body))
			}
			got = append(got, m.body...)
		}
		if !bytes.Equal(got, agent) {
			t.Errorf("%v: the bytes changed", dir)
		}
	}
}
