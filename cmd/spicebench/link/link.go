// Package link emulates a wide-area link between two network namespaces on one
// Linux machine: rate, round trip, a drop-tail queue and random loss, alike in
// both directions. It needs root and /dev/net/tun, and iproute2's ip.
//
//	p, _ := link.ParseProfile("80:10") // 80 ms, 10 Mbit/s
//	l, err := link.New(ctx, p, link.Options{})
//	if err != nil { … }
//	defer l.Close()
//	out, err := l.Client().Command(ctx, "curl", "http://"+l.Server().Addr().String()).Output()
//
// Each namespace has a TUN device, and a process carries IP packets from one to
// the other. Compared to netem this needs no kernel module, and
// super-packets of segmentation offload cannot falsify the depth of the queue.
package link

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// DefaultCongestionControl is set in both namespaces unless told otherwise, so
// that results do not depend on the host's default.
const DefaultCongestionControl = "cubic"

// Options are the choices of a link beyond its Profile. The zero value works.
type Options struct {
	// CongestionControl is TCP's default in both namespaces; "" means
	// DefaultCongestionControl.
	CongestionControl string
	// Netem shapes a veth pair with the kernel's netem instead of a TUN pair in
	// user space.
	Netem bool
	// Seed starts the source of random loss.
	Seed uint64
}

// Link is two namespaces joined by an emulated link. Close removes it.
type Link struct {
	server, client *Namespace
	wire           *wire // nil with netem
}

// New makes two namespaces and joins them. It first removes namespaces that
// crashed processes left behind. ctx bounds only the making.
func New(ctx context.Context, p Profile, o Options) (*Link, error) {
	if err := removeLeftovers(); err != nil {
		return nil, fmt.Errorf("remove links of dead processes: %w", err)
	}
	if o.CongestionControl == "" {
		o.CongestionControl = DefaultCongestionControl
	}
	l := &Link{}
	l.server, l.client = newNamespaces()
	if err := l.build(ctx, p, o); err != nil {
		return nil, errors.Join(fmt.Errorf("make link %v: %w", p, err), l.Close())
	}
	return l, nil
}

func (l *Link) build(ctx context.Context, p Profile, o Options) error {
	for _, n := range []*Namespace{l.server, l.client} {
		if err := n.create(ctx, o.CongestionControl); err != nil {
			return err
		}
	}
	join := l.joinTUN
	if o.Netem {
		join = func(ctx context.Context, p Profile, _ uint64) error { return l.joinNetem(ctx, p) }
	}
	if err := join(ctx, p, o.Seed); err != nil {
		return err
	}
	if err := l.server.configure(ctx, ClientAddr); err != nil {
		return err
	}
	return l.client.configure(ctx, ServerAddr)
}

func (l *Link) joinTUN(ctx context.Context, p Profile, seed uint64) error {
	var tuns [2]*os.File
	for i, n := range []*Namespace{l.server, l.client} {
		err := n.Do(func() (err error) {
			tuns[i], err = openTUN()
			return err
		})
		if err != nil {
			return err
		}
		defer tuns[i].Close() // the wire has its own
		// The device must not drop what the emulated queue would take.
		if err := n.ip(ctx, "link", "set", device, "txqueuelen", "10000"); err != nil {
			return err
		}
	}
	var err error
	l.wire, err = newWire(tuns[0], tuns[1], order{p, seed})
	return err
}

// Server is the end where the hypervisor and the proxy run.
func (l *Link) Server() *Namespace { return l.server }

// Client is the end where the viewer runs.
func (l *Link) Client() *Namespace { return l.client }

// SetProfile changes the living link. What it has taken already comes out in order.
func (l *Link) SetProfile(p Profile) error {
	if l.wire == nil {
		return l.setNetem(context.Background(), p)
	}
	return l.wire.tell(order{Profile: p})
}

// Close removes the link and its namespaces. Processes inside are not ended.
func (l *Link) Close() error {
	var err error
	if l.wire != nil {
		err = l.wire.close()
	}
	return errors.Join(err, l.server.remove(), l.client.remove())
}
