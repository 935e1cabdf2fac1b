package spiceproto

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var allAgentCodecs = slices.Concat(agentDesktopCodecs, agentClipboardCodecs, agentFileCodecs)

func TestDecodeAgentUnknown(t *testing.T) {
	for _, typ := range []AgentType{0, 17, 1 << 31} {
		m, err := DecodeAgent(ServerToClient, AgentMessage{AgentHeader{Type: typ}, []byte{1}}, AgentLayout{})
		if diff := cmp.Diff(any(UnknownAgent{typ, []byte{1}}), m); diff != "" {
			t.Error(diff)
		}
		var e *DecodeError
		if !errors.As(err, &e) || e.Err != ErrOpcode || e.Opcode != MsgMainAgentData {
			t.Errorf("%d: error %v", typ, err)
		}
	}
}

func TestDecodeAgentKnowsEveryType(t *testing.T) {
	tested := map[AgentType]bool{}
	for _, c := range allAgentCodecs {
		tested[c.typ] = true
	}
	for typ := AgentType(0); typ < 32; typ++ {
		_, err := DecodeAgent(ServerToClient, AgentMessage{AgentHeader{Type: typ}, nil}, AgentLayout{})
		if typ.Valid() == errors.Is(err, ErrOpcode) || typ.Valid() != tested[typ] {
			t.Errorf("%v: %v, tested %v", typ, err, tested[typ])
		}
	}
}

// The contents of a message cut short by the limit are what there is of them.
func TestDecodeAgentCutShort(t *testing.T) {
	m := AgentMessage{AgentHeader{Type: AgentClipboardType, Size: 1000}, []byte{1, 0, 0, 0, 'h'}}
	got, err := DecodeAgent(ServerToClient, m, AgentLayout{})
	want := any(AgentClipboard{Type: ClipboardText, Data: []byte("h")})
	if diff := cmp.Diff(want, got); diff != "" || err != nil || m.Complete() {
		t.Errorf("%v\n%s", err, diff)
	}
}
