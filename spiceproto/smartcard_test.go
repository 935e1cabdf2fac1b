package spiceproto

import "testing"

var smartcardCodecs = []codec{
	codecOf(ChannelSmartcard, ServerToClient, MsgSmartcardData, ParseSmartcardData,
		SmartcardData{Type: SmartcardAPDU, ReaderID: 1, Data: []byte{0, 0xa4, 4}},
		"6500 0f000000 07000000 01000000 03000000 00a404"),
}

func TestSmartcardMessages(t *testing.T) { testCodecs(t, smartcardCodecs) }

func TestSmartcardTypeString(t *testing.T) {
	for s, want := range map[SmartcardType]string{
		SmartcardInit: "init", SmartcardFlushComplete: "flush-complete", 0: "smartcard-0",
		10: "smartcard-10",
	} {
		if s.String() != want {
			t.Errorf("%d: %q, want %q", s, s.String(), want)
		}
	}
}
