package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"spicepacer/cmd/spicebench/guest"
)

// remote-viewer with the file that Kerbside hands out: it tries the plaintext port,
// is sent to the TLS port, trusts the certificate by its subject, shows the guest
// and takes keys to it.
func TestRemoteViewer(t *testing.T) {
	l := newLab(t, "80:10", "remote-viewer", "Xvfb", "xdotool", "import")
	l.boot(l.activity("heavy"), guest.QEMU{SpicePort: qemuPort})
	p := l.startProxy("adaptive", nil, plainTarget)
	v := l.startScreen().startViewer(l.consoleFile())

	box := v.wantBox("before", evenBox)
	p.wantLog("client sent to the secure port", nil)
	v.focus(box.Max.Add(box.Size()))
	v.press("space")
	v.wantBox("after", oddBox)
	p.wantNoEnd()
}

// consoleFile is a .vv file as Kerbside writes it, for a proxy with a certificate
// of its own.
func (l *lab) consoleFile() string {
	l.t.Helper()
	ca, err := os.ReadFile(l.file("self-signed.pem"))
	if err != nil {
		l.t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		l.t.Fatal(err)
	}
	return fmt.Sprintf(`[virt-viewer]
type=spice
host=%s
port=%d
tls-port=%d
password=%s
delete-this-file=0
tls-ciphers=DEFAULT
ca=%s
host-subject=O=spicepacer,CN=%s
`, l.link.Server().Addr(), insecurePort, securePort, token, strings.ReplaceAll(string(ca), "\n", `\n`), host)
}
