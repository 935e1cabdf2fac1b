package cost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"spicepacer/spiceproto"
)

// ticket is the password at every link stage: the viewer's, whoever it links
// with, and the hypervisor's own.
const ticket = "spicebench-cost"

// hypervisor is the server's side of one channel after its link stage. It sends
// a load and does nothing else.
type hypervisor struct {
	conn *net.TCPConn
	load load
	// viewer gets the types of the client's messages that a sender may wait for,
	// DISPLAY_INIT and, after ACK_SYNC, ACK. It is closed when the client has left.
	viewer chan uint16
	window window
}

var errViewerLeft = errors.New("the viewer has closed the channel")

// acceptHypervisor takes the next connection through the link stage.
func acceptHypervisor(ctx context.Context, l *net.TCPListener, load load) (*hypervisor, error) {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, fmt.Errorf("hypervisor: %w", err)
	}
	h := &hypervisor{conn: conn, load: load, viewer: make(chan uint16), window: window{size: load.window}}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := h.link(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("hypervisor: link with %v: %w", conn.RemoteAddr(), err)
	}
	return h, nil
}

// link runs the server's side of the link stage with a key of its own, as
// spice-server does for each connection.
func (h *hypervisor) link() error {
	mess, err := spiceproto.ReadLinkMess(h.conn)
	if err != nil {
		return err
	}
	if mess.Type != h.load.channel {
		return fmt.Errorf("asks for the %s channel, this is %s", mess.Type, h.load.channel)
	}
	key, err := spiceproto.GenerateTicketKey()
	if err != nil {
		return err
	}
	reply := spiceproto.LinkReply{PubKey: key.PubKey()}
	reply.Common, reply.Channel = spiceproto.ServerCaps(mess.Type)
	if _, err := h.conn.Write(reply.Append(nil)); err != nil {
		return err
	}
	if err := h.readTicket(key); err != nil {
		return err
	}
	_, err = h.conn.Write(spiceproto.AppendLinkResult(nil, spiceproto.LinkOK))
	return err
}

// readTicket reads mechanism and ticket. Both of the bench's programs select the
// mechanism.
func (h *hypervisor) readTicket(key *spiceproto.TicketKey) error {
	mechanism, err := spiceproto.ReadAuthMechanism(h.conn)
	if err != nil {
		return err
	}
	if mechanism != spiceproto.AuthMechanismSpice {
		return fmt.Errorf("mechanism %d is not a ticket's", mechanism)
	}
	var blob [spiceproto.TicketSize]byte
	if _, err := io.ReadFull(h.conn, blob[:]); err != nil {
		return fmt.Errorf("read ticket: %w", err)
	}
	password, err := key.Decrypt(&blob)
	if err != nil {
		return err
	}
	if password != ticket {
		return spiceproto.LinkErrPermissionDenied
	}
	return nil
}

// stream sends the load until at least n bytes are sent, and then the end of the
// stream. It waits until the viewer has closed the channel.
func (h *hypervisor) stream(ctx context.Context, n uint64) (sent tally, err error) {
	defer h.conn.Close()
	defer context.AfterFunc(ctx, func() { h.conn.Close() })()
	left := make(chan struct{})
	defer close(left)
	go h.listen(left)
	if sent, err = h.send(ctx, n); err != nil {
		return sent, fmt.Errorf("hypervisor: send: %w", err)
	}
	if err := h.conn.CloseWrite(); err != nil {
		return sent, fmt.Errorf("hypervisor: end the stream: %w", err)
	}
	for range h.viewer { // ACKs for what is on its way
	}
	return sent, nil
}

func (h *hypervisor) send(ctx context.Context, n uint64) (sent tally, err error) {
	if h.load.channel == spiceproto.ChannelDisplay {
		if _, ok := <-h.viewer; !ok {
			return sent, errViewerLeft
		}
	}
	if err := h.sendOpening(&sent); err != nil {
		return sent, err
	}
	start := time.Now()
	for frame := 0; ; frame++ {
		if err := h.awaitTurn(ctx, start, frame); err != nil {
			return sent, err
		}
		for _, message := range h.load.cycle {
			if sent.bytes >= n {
				return sent, nil
			}
			if err := h.sendMessage(message, &sent); err != nil {
				return sent, err
			}
		}
	}
}

// sendOpening sends the messages before the first cycle, which are few enough
// for any window.
func (h *hypervisor) sendOpening(sent *tally) error {
	var f spiceproto.Framer
	for p := h.load.opening; len(p) > 0; {
		s := f.Next(p)
		p = p[len(s.Bytes):]
		if s.End {
			sent.messages++
			h.window.begun++
		}
	}
	_, err := h.conn.Write(h.load.opening)
	sent.bytes += uint64(len(h.load.opening))
	return err
}

func (h *hypervisor) sendMessage(message []byte, sent *tally) error {
	for h.window.shut() {
		if _, ok := <-h.viewer; !ok {
			return errViewerLeft
		}
		h.window.acknowledged()
	}
	h.window.begun++
	_, err := h.conn.Write(message)
	sent.bytes += uint64(len(message))
	sent.messages++
	return err
}

// awaitTurn waits until a cycle may begin at the load's rate.
func (h *hypervisor) awaitTurn(ctx context.Context, start time.Time, cycle int) error {
	if h.load.rate == 0 {
		return nil
	}
	interval := float64(h.load.cycleBytes()) / h.load.rate * float64(time.Second)
	return sleepUntil(ctx, start.Add(time.Duration(float64(cycle)*interval)))
}

// sleepUntil waits for a time that may be over.
func sleepUntil(ctx context.Context, t time.Time) error {
	turn := time.NewTimer(time.Until(t))
	defer turn.Stop()
	select {
	case <-turn.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// listen reads the client's messages until it leaves or the hypervisor does.
func (h *hypervisor) listen(left <-chan struct{}) {
	defer close(h.viewer)
	var f spiceproto.Framer
	synced := false
	buf := make([]byte, 4<<10)
	for {
		n, err := h.conn.Read(buf)
		for p := buf[:n]; len(p) > 0; {
			s := f.Next(p)
			p = p[len(s.Bytes):]
			if !s.End {
				continue
			}
			t := f.Header().Type
			synced = synced || t == spiceproto.MsgcAckSync
			if t != spiceproto.MsgcDisplayInit && !(t == spiceproto.MsgcAck && synced) {
				continue
			}
			select {
			case h.viewer <- t:
			case <-left:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// window is spice-server's: while more than twice its size was begun that no ACK
// accounts for, nothing new begins (red-channel-client.cpp). Size 0 is none.
type window struct{ size, begun uint32 }

func (w *window) shut() bool { return w.size > 0 && w.begun > 2*w.size }

func (w *window) acknowledged() { w.begun -= w.size }
