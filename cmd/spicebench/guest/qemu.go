package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// QEMU says how the machine is run and where its screen is served.
type QEMU struct {
	Binary string // "" is qemu-system-x86_64

	SpiceAddr string // address to listen on; "" is 127.0.0.1
	SpicePort int    // plaintext port; 0 is none
	TLSPort   int    // TLS port; 0 is none
	TLSDir    string // x509-dir: ca-cert.pem, server-cert.pem, server-key.pem
	Unix      string // Unix socket to serve SPICE on instead of address and ports
	Ticket    string // SPICE password; "" disables ticketing
	Streaming string // streaming-video: off, filter or all; "" is off, as is QEMU's default

	Args        []string      // further QEMU arguments
	Log         io.Writer     // gets the serial console and QEMU's messages; nil discards them
	BootTimeout time.Duration // until the START line; 0 is 90 s

	// Command makes the command that runs QEMU, for example in a network
	// namespace; nil is exec.CommandContext.
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
}

// defaultBootTimeout is many times what an emulated boot takes on a busy machine.
const defaultBootTimeout = 90 * time.Second

// kernelLine begins the kernel command line. The guest trusts everything it runs,
// and on an emulated processor the mitigations empty the address translation
// cache at every system call; an emulated time stamp counter is as steady as the
// host's clock.
const kernelLine = "console=ttyS0 loglevel=4 rdinit=/init mitigations=off tsc=reliable "

// Files of a machine in its own directory.
const (
	ticketFile = "ticket"
	qmpSocket  = "qmp"
)

// arguments is QEMU's command line for a machine whose files are in dir.
func (q QEMU) arguments(o Options, dir string) ([]string, error) {
	spice, err := q.spice()
	if err != nil {
		return nil, err
	}
	args := []string{
		"-machine", "pc,accel=" + o.Accel, "-m", fmt.Sprint(o.Memory), "-smp", "2",
		"-nodefaults", "-vga", "none", "-device", "virtio-vga", "-display", "none",
		"-serial", "stdio",
		"-chardev", "socket,id=qmp,server=on,wait=off,path=" + filepath.Join(dir, qmpSocket),
		"-mon", "chardev=qmp,mode=control",
		"-kernel", o.Kernel, "-initrd", o.Initrd,
		"-append", kernelLine + o.Knobs().CommandLine(),
		"-spice", spice,
	}
	if q.Ticket != "" {
		args = append(args, "-object", "secret,id=ticket,file="+filepath.Join(dir, ticketFile))
	}
	return append(args, q.Args...), nil
}

// spice is the value of -spice.
func (q QEMU) spice() (string, error) {
	var opts []string
	add := func(format string, a ...any) { opts = append(opts, fmt.Sprintf(format, a...)) }
	switch {
	case q.Unix != "":
		add("unix=on,addr=%s", q.Unix)
	case q.SpicePort == 0 && q.TLSPort == 0:
		return "", errors.New("guest serves its screen nowhere: neither a SPICE port nor a TLS port nor a Unix socket is set")
	default:
		add("addr=%s", cmp.Or(q.SpiceAddr, "127.0.0.1"))
	}
	if q.Unix == "" && q.SpicePort != 0 {
		add("port=%d", q.SpicePort)
	}
	if q.Unix == "" && q.TLSPort != 0 {
		add("tls-port=%d,x509-dir=%s", q.TLSPort, q.TLSDir)
	}
	if q.Ticket != "" {
		add("password-secret=ticket")
	} else {
		add("disable-ticketing=on")
	}
	add("streaming-video=%s", cmp.Or(q.Streaming, "off"))
	return strings.Join(opts, ","), nil
}
