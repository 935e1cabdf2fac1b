package spiceproto

import "testing"

var agentFileCodecs = []agentCodec{
	agentCodecOf(AgentFileXferStartType,
		AgentFileXferStart{ID: 1, Data: []byte("[vdagent-file-xfer]")},
		"01000000 5b76646167656e742d66696c652d786665725d").openAfter(4),
	agentCodecOf(AgentFileXferStatusType,
		AgentFileXferStatus{
			ID: 1, Result: FileXferNotEnoughSpace, Detail: []byte{0, 1, 0, 0, 0, 0, 0, 0},
		},
		"01000000 04000000 0001000000000000").openAfter(8),
	agentCodecOf(AgentFileXferDataType,
		AgentFileXferData{ID: 1, Size: 2, Data: []byte{8, 9}},
		"01000000 0200000000000000 0809").openAfter(12),
}

func TestAgentFileXfer(t *testing.T) { testAgentCodecs(t, agentFileCodecs) }

func TestFileXferResultString(t *testing.T) {
	for r, want := range map[FileXferResult]string{
		FileXferCanSendData: "can-send-data", FileXferDisabled: "disabled", 8: "result-8",
	} {
		if r.String() != want {
			t.Errorf("%d: %q, want %q", r, r.String(), want)
		}
	}
}
