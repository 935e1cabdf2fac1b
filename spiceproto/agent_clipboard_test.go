package spiceproto

import (
	"testing"

	"pgregory.net/rapid"
)

var agentClipboardCodecs = []agentCodec{
	agentCodecOf(AgentClipboardType,
		AgentClipboard{Type: ClipboardText, Data: []byte("hi")},
		"01000000 6869").openAfter(4).drawn(drawClipboard(AgentLayout{})),
	agentCodecOf(AgentClipboardType,
		AgentClipboard{withSelection, 1, ClipboardText, []byte("hi")},
		"01000000 01000000 6869").openAfter(8).drawn(drawClipboard(withSelection)).with(withSelection),
	agentCodecOf(AgentClipboardGrabType,
		AgentClipboardGrab{Types: []ClipboardType{ClipboardText, ClipboardPNG}},
		"01000000 02000000").openAfter(0).drawn(drawGrab(AgentLayout{})),
	agentCodecOf(AgentClipboardGrabType,
		AgentClipboardGrab{withSerial, 2, 7, []ClipboardType{ClipboardBMP}},
		"02000000 07000000 03000000").openAfter(8).drawn(drawGrab(withSerial)).with(withSerial),
	agentCodecOf(AgentClipboardRequestType,
		AgentClipboardRequest{withSelection, 0, ClipboardText},
		"00000000 01000000").drawn(func(t *rapid.T) message {
		return AgentClipboardRequest{withSelection, rapid.Uint8().Draw(t, "selection"), ClipboardPNG}
	}).with(withSelection),
	agentCodecOf(AgentClipboardReleaseType,
		AgentClipboardRelease{withSelection, 1},
		"01000000").drawn(func(t *rapid.T) message {
		return AgentClipboardRelease{withSelection, rapid.Uint8().Draw(t, "selection")}
	}).with(withSelection),
	agentCodecOf(AgentMaxClipboardType, AgentMaxClipboard{Max: -1}, "ffffffff"),
}

var (
	withSelection = AgentLayout{Selection: true}
	withSerial    = AgentLayout{Selection: true, GrabSerial: true}
)

func (c agentCodec) with(l AgentLayout) agentCodec {
	c.layout = l
	return c
}

func drawClipboard(l AgentLayout) func(*rapid.T) message {
	return func(t *rapid.T) message {
		m := rapid.Make[AgentClipboard]().Draw(t, "message")
		m.AgentLayout = l
		if !l.Selection {
			m.Selection = 0
		}
		return m
	}
}

func drawGrab(l AgentLayout) func(*rapid.T) message {
	return func(t *rapid.T) message {
		m := rapid.Make[AgentClipboardGrab]().Draw(t, "message")
		m.AgentLayout = l
		if !l.Selection {
			m.Selection = 0
		}
		if !l.GrabSerial {
			m.Serial = 0
		}
		return m
	}
}

func TestAgentClipboard(t *testing.T) { testAgentCodecs(t, agentClipboardCodecs) }

// Without the capability a release has no data at all.
func TestAgentReleaseWithoutSelection(t *testing.T) {
	m, err := ParseAgentClipboardRelease(nil, AgentLayout{})
	if m != (AgentClipboardRelease{}) || err != nil {
		t.Errorf("%+v, %v", m, err)
	}
	if got := m.Append(nil); len(got) != AgentHeaderSize {
		t.Errorf("Append: %x", got)
	}
}

func TestClipboardTypeString(t *testing.T) {
	for c, want := range map[ClipboardType]string{
		ClipboardNone: "none", ClipboardFileList: "file-list", 7: "clipboard-7",
	} {
		if c.String() != want {
			t.Errorf("%d: %q, want %q", c, c.String(), want)
		}
	}
}
