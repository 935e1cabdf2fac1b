package integration

import (
	"crypto/x509/pkix"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/guest"
)

// What the project is for: on a thin link with heavy activity a key press shows
// sooner through a proxy that paces.
func TestKeypressPaced(t *testing.T) {
	l := newLab(t, "80:10")
	l.boot(l.activity("heavy"), guest.QEMU{SpicePort: qemuPort})
	ca := newAuthority(t, "Keypress")
	id := ca.issue(l.dir, pkix.Name{CommonName: "proxy"}, l.link.Server().Addr())

	median := make(map[string]time.Duration)
	for _, mode := range []string{"passthrough", "withhold", "adaptive"} {
		p := l.startProxy(mode, id, plainTarget)
		cfg := l.headless(ca, token)
		cfg.Presses, cfg.Warmup = 3, 4*time.Second // until passthrough's queues are full
		r, err := client.Run(l.patient(), cfg)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		p.stop()
		median[mode] = client.Percentile(r.Latencies, 50)
		t.Logf("%s: median of %d presses %v", mode, len(r.Latencies), median[mode].Round(time.Millisecond))
	}
	if median["adaptive"] >= median["passthrough"] {
		t.Errorf("median latency %v paced, %v not paced", median["adaptive"], median["passthrough"])
	}
}
