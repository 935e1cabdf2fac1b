package spiceproto

import "testing"

func TestChannelType(t *testing.T) {
	want := map[ChannelType]string{
		0: "channel-0", 1: "main", 2: "display", 3: "inputs", 4: "cursor", 5: "playback",
		6: "record", 7: "tunnel", 8: "smartcard", 9: "usbredir", 10: "port", 11: "webdav",
		12: "channel-12", 255: "channel-255",
	}
	for c, name := range want {
		if c.String() != name {
			t.Errorf("%d: %q, want %q", c, c, name)
		}
		if valid := c >= 1 && c <= 11; c.Valid() != valid {
			t.Errorf("%v: Valid() is %v", c, !valid)
		}
	}
}

func TestDirection(t *testing.T) {
	for d, name := range map[Direction]string{
		ServerToClient: "s2c", ClientToServer: "c2s", 2: "direction-2",
	} {
		if d.String() != name {
			t.Errorf("%d: %q, want %q", d, d, name)
		}
	}
}
