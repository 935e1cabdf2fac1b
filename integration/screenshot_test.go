package integration

import (
	"crypto/x509/pkix"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

	seen := l.wantScreen(m, got)
	around := seen.SubImage(keydraw.KeyBox.Inset(-8)).(*image.RGBA) // a pixel of noise may have any colour
	if box := solid(around, evenBox); box != keydraw.KeyBox {
		t.Errorf("key box at %v, want %v", box, keydraw.KeyBox)
	}
}

// wantScreen checks the picture that a viewer saved against QEMU's own, but for what
// moves, and returns it. A PNG is kept beside it.
func (l *lab) wantScreen(m *machine, path string) *image.RGBA {
	l.t.Helper()
	name := strings.TrimSuffix(path, filepath.Ext(path))
	want := name + "-qemu.ppm"
	if err := m.QMP.Screendump(l.patient(), want); err != nil {
		l.t.Fatal(err)
	}
	seen, shown := loadPPM(l.t, path), loadPPM(l.t, want)
	savePNG(l.t, name+".png", seen)
	l.t.Logf("picture: %s.png", name)
	if seen.Rect != shown.Rect {
		l.t.Fatalf("picture of %v, want QEMU's %v", seen.Rect, shown.Rect)
	}
	if n := differing(seen, shown, m.Areas()...); n > 0 {
		l.t.Errorf("%s differs from %s in %d pixels that do not move", path, want, n)
	}
	if n := differing(seen, shown); n == 0 {
		l.t.Error("nothing moves: the comparison leaves out too much")
	}
	return seen
}
