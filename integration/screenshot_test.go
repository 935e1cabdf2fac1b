package integration

import (
	"crypto/x509/pkix"
	"image"
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
	// It has no option to name a CA; OpenSSL has.
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+filepath.Join(l.dir, "ca-cert.pem"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("spicy-screenshot: %v\n%s", err, out)
	}
	p.wantLog("hypervisor connection successful; handing off to relay", func(e entry) bool {
		return e.Channel == "display" && e.Mode == "adaptive"
	})

	want := l.file("qemu.ppm")
	if err := m.QMP.Screendump(l.patient(), want); err != nil {
		t.Fatal(err)
	}
	seen, shown := loadPPM(t, got), loadPPM(t, want)
	savePNG(t, l.file("viewer.png"), seen)
	t.Logf("picture: %s", l.file("viewer.png"))
	if seen.Rect != shown.Rect {
		t.Fatalf("picture of %v, want QEMU's %v", seen.Rect, shown.Rect)
	}
	if n := differing(seen, shown, m.Areas()...); n > 0 {
		t.Errorf("%s differs from %s in %d pixels that do not move", got, want, n)
	}
	if n := differing(seen, shown); n == 0 {
		t.Error("nothing moves: the comparison leaves out too much")
	}
	around := seen.SubImage(keydraw.KeyBox.Inset(-8)).(*image.RGBA) // a pixel of noise may have any colour
	if box := solid(around, evenBox); box != keydraw.KeyBox {
		t.Errorf("key box at %v, want %v", box, keydraw.KeyBox)
	}
}
