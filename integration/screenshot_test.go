package integration

import (
	"crypto/x509/pkix"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/keydraw"
)

// spicy-screenshot, spice-gtk's smallest client, over TLS: what it saves is what
// QEMU itself shows, but for the part that moves.
func TestSpicyScreenshot(t *testing.T) {
	l := newLab(t, "80:10", "spicy-screenshot")
	m := l.boot(l.activity("heavy"), guest.QEMU{SpicePort: qemuPort})
	id := newAuthority(t, "Screenshot").issue(l.dir, pkix.Name{CommonName: "proxy"}, l.link.Server().Addr())
	p := l.startProxy("adaptive", id, plainTarget)

	got := l.file("viewer.ppm")
	cmd := command(l.link.Client())(l.patient(), "spicy-screenshot",
		"--host", l.link.Server().Addr().String(), "--secure-port", strconv.Itoa(securePort),
		"--password", token, "--out-file", got)
	// It has no option for a CA; OpenSSL has.
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+filepath.Join(l.dir, "ca-cert.pem"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("spicy-screenshot: %v\n%s", err, out)
	}
	p.wantLog("hypervisor connection successful; handing off to relay", func(e entry) bool {
		return e.Channel == "display" && e.Mode == "adaptive"
	})

	want := l.file("qemu.png")
	if err := m.QMP.Screendump(l.patient(), want); err != nil {
		t.Fatal(err)
	}
	seen, shown := loadPPM(t, got), loadPNG(t, want)
	if seen.Bounds() != shown.Bounds() {
		t.Fatalf("picture of %v, want QEMU's %v", seen.Bounds(), shown.Bounds())
	}
	if n := differing(seen, shown, m.Areas()...); n > 0 {
		t.Errorf("%s differs from %s in %d pixels that do not move", got, want, n)
	}
	if n := differing(seen, shown); n == 0 {
		t.Error("nothing moves: the comparison leaves out too much")
	}
	for p := range points(keydraw.KeyBox) {
		if c := colourAt(seen, p); c != evenBox {
			t.Fatalf("key box has %v at %v, want %v", c, p, evenBox)
		}
	}
	savePNG(t, l.file("viewer.png"), seen)
	t.Logf("pictures: %s", l.dir)
}
