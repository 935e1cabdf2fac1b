package ab

import (
	"net/netip"
	"os"
	"testing"
)

// readSockets reads what ss printed in the server's namespace in the middle of a
// cell: four channels, of which the display's has carried most.
func readSockets(t *testing.T) []socket {
	t.Helper()
	text, err := os.ReadFile("testdata/ss.txt")
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := parseSockets(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return sockets
}

func TestParseSockets(t *testing.T) {
	sockets := readSockets(t)
	if len(sockets) != 12 {
		t.Fatalf("%d sockets, want 12", len(sockets))
	}
	want := socket{
		local: netip.MustParseAddrPort("10.77.0.1:5900"), peer: netip.MustParseAddrPort("10.77.0.2:41402"),
		sendQueue: 108600, congestionControl: "cubic", bytesAcked: 7555932, bytesReceived: 1923,
	}
	if sockets[3] != want {
		t.Errorf("socket 4 is %+v, want %+v", sockets[3], want)
	}
}

func TestParseSocketsFindsCongestionControl(t *testing.T) {
	for line, want := range map[string]string{
		"0 0 1.2.3.4:1 1.2.3.4:2 skmem:(r0) ts sack bbr wscale:7,7 rto:204": "bbr",
		"0 0 1.2.3.4:1 1.2.3.4:2 skmem:(r0) ts sack reno rto:204 cwnd:10":   "reno",
		"0 0 1.2.3.4:1 1.2.3.4:2 skmem:(r0)":                                "",
	} {
		got, err := parseSockets(line)
		if err != nil || got[0].congestionControl != want {
			t.Errorf("%q: %+v, %v; want congestion control %q", line, got, err, want)
		}
	}
}

func TestParseSocketsRefuses(t *testing.T) {
	for _, line := range []string{"0 0 1.2.3.4:1", "x 0 1.2.3.4:1 1.2.3.4:2", "0 0 *:* 1.2.3.4:2", "0 0 1.2.3.4:1 1.2.3.4:2 cubic wscale:1,1 bytes_acked:x"} {
		if got, err := parseSockets(line); err == nil {
			t.Errorf("%q is read as %+v, want an error", line, got)
		}
	}
}

func TestRolesPickTheDisplayChannel(t *testing.T) {
	sockets := readSockets(t)
	earlier := []socket{sockets[3]} // before the other connections
	samples := []sample{{sockets: earlier}, {sockets: sockets}}
	for name, c := range map[string]struct {
		role   role
		port   uint16 // of the far end, or for QEMU's own socket of the proxy
		length int
	}{
		"client leg":  {clientLeg, 41402, 2},
		"backend leg": {backendLeg, 5910, 1},
		"server leg":  {serverLeg, 34852, 1},
	} {
		series := c.role.series(samples)
		if len(series) != c.length {
			t.Errorf("%s: %d sockets %+v, want %d", name, len(series), series, c.length)
			continue
		}
		if last := series[len(series)-1]; last.peer.Port() != c.port || max(last.bytesAcked, last.bytesReceived) < 7_000_000 {
			t.Errorf("%s: picked %+v", name, last)
		}
	}
}
