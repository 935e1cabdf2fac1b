package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"spicepacer/spiceproto"
)

// hypervisor is the server's side of any number of channels. Beyond what starts a
// channel it sends nothing.
type hypervisor struct {
	listener net.Listener
	// key serves all links, unlike spice-server's: what it costs to make one is
	// not what is measured.
	key *spiceproto.TicketKey
	// refusal is what link messages are answered with; LinkOK: they are not
	// refused.
	refusal  spiceproto.LinkError
	sessions atomic.Uint32
	channels sync.WaitGroup
}

// listenHypervisor opens a port of 127.0.0.1, for TLS if a configuration is given.
func listenHypervisor(secure *tls.Config, refusal spiceproto.LinkError) (*hypervisor, error) {
	key, err := spiceproto.GenerateTicketKey()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	return &hypervisor{listener: l, key: key, refusal: refusal}, nil
}

func (h *hypervisor) port() int { return h.listener.Addr().(*net.TCPAddr).Port }

// serve accepts connections until ctx ends, and returns when all have ended.
func (h *hypervisor) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { h.listener.Close() })
	defer stop()
	defer h.channels.Wait()
	for {
		conn, err := h.listener.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("hypervisor: %w", err)
		}
		h.channels.Go(func() { h.carry(ctx, conn) })
	}
}

// carry serves one connection to its end. How that comes about, the client tells.
func (h *hypervisor) carry(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	mess, err := h.link(conn)
	if err != nil {
		return
	}
	session := mess.ConnectionID
	if session == 0 {
		session = h.sessions.Add(1)
	}
	if _, err := conn.Write(greeting(mess.Type, session)); err != nil {
		return
	}
	var f spiceproto.Framer
	buf := make([]byte, readSize)
	for {
		n, err := conn.Read(buf)
		for p := buf[:n]; len(p) > 0; {
			s := f.Next(p)
			p = p[len(s.Bytes):]
			if !s.End {
				continue
			}
			if _, err := conn.Write(answer(mess.Type, f.Header().Type)); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// link runs the server's side of the link stage.
func (h *hypervisor) link(conn net.Conn) (spiceproto.LinkMess, error) {
	mess, err := spiceproto.ReadLinkMess(conn)
	if err != nil {
		return mess, err
	}
	reply := spiceproto.LinkReply{Error: h.refusal}
	if h.refusal != spiceproto.LinkOK {
		conn.Write(reply.Append(nil))
		return mess, h.refusal
	}
	reply.PubKey = h.key.PubKey()
	reply.Common, reply.Channel = spiceproto.ServerCaps(mess.Type)
	if _, err := conn.Write(reply.Append(nil)); err != nil {
		return mess, err
	}
	result := h.readTicket(conn)
	if _, err := conn.Write(spiceproto.AppendLinkResult(nil, result)); err != nil {
		return mess, err
	}
	if result != spiceproto.LinkOK {
		return mess, result
	}
	return mess, nil
}

// readTicket returns the result of the link stage.
func (h *hypervisor) readTicket(conn net.Conn) spiceproto.LinkError {
	mechanism, err := spiceproto.ReadAuthMechanism(conn)
	if err != nil || mechanism != spiceproto.AuthMechanismSpice {
		return spiceproto.LinkErrInvalidData
	}
	var blob [spiceproto.TicketSize]byte
	if _, err := io.ReadFull(conn, blob[:]); err != nil {
		return spiceproto.LinkErrInvalidData
	}
	if password, err := h.key.Decrypt(&blob); err != nil || password != ticket {
		return spiceproto.LinkErrPermissionDenied
	}
	return spiceproto.LinkOK
}

// deadPort is a port of 127.0.0.1 that refuses connections and that nobody else
// can get.
type deadPort struct{ fd, port int }

func openDeadPort() (deadPort, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return deadPort{}, fmt.Errorf("socket: %w", err)
	}
	// Bound and not listening: the kernel resets who connects (tcp(7)).
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if err != nil {
		unix.Close(fd)
		return deadPort{}, fmt.Errorf("bind: %w", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		unix.Close(fd)
		return deadPort{}, fmt.Errorf("name of the socket: %w", err)
	}
	return deadPort{fd, name.(*unix.SockaddrInet4).Port}, nil
}

func (d deadPort) close() { unix.Close(d.fd) }

// hypervisors are the targets of the proxy: one that serves, one that answers
// with an error, and one that is not there.
type hypervisors struct {
	served, failing *hypervisor
	dead            deadPort
}

func listenHypervisors(secure *tls.Config) (h *hypervisors, err error) {
	h = new(hypervisors)
	if h.served, err = listenHypervisor(secure, spiceproto.LinkOK); err != nil {
		return nil, err
	}
	if h.failing, err = listenHypervisor(secure, spiceproto.LinkErrError); err != nil {
		h.served.listener.Close()
		return nil, err
	}
	if h.dead, err = openDeadPort(); err != nil {
		h.served.listener.Close()
		h.failing.listener.Close()
		return nil, err
	}
	return h, nil
}

// serve serves until ctx ends.
func (h *hypervisors) serve(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return h.served.serve(ctx) })
	g.Go(func() error { return h.failing.serve(ctx) })
	return g.Wait()
}

func (h *hypervisors) close() { h.dead.close() }
