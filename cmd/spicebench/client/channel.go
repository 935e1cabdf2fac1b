package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"spicepacer/spiceproto"
)

// readSize is how much is read at once: large enough that a fast link costs few
// system calls.
const readSize = 256 << 10

var errMigration = errors.New("the server migrates, which this client does not follow")

// message is a completely received message, of which only the head was kept.
type message struct {
	spiceproto.Header
	head []byte    // valid during the call
	at   time.Time // when its last byte was read
	size uint64    // on the wire
}

// handler does what only one type of channel does. It may append to the
// channel's replies.
type handler func(c *channel, m message) error

// channel is a linked channel. Its serve goroutine owns the fields, but for those
// of send; others may call send and close and read the counter.
type channel struct {
	kind  spiceproto.ChannelType
	peer  string
	conn  net.Conn
	close func() error
	caps  spiceproto.Caps // the server's for this type of channel

	framer  spiceproto.Framer
	ack     ackWindow
	replies []byte
	counter counter

	sending sync.Mutex // guards what numbers the messages sent with full headers
	serials spiceproto.Serials
}

// counter counts what was received since the link stage, for any goroutine.
type counter struct{ bytes, messages atomic.Uint64 }

// fail wraps an error with what was attempted on this channel.
func (c *channel) fail(doing string, err error) error {
	return &ChannelError{Channel: c.kind, Peer: c.peer, Doing: doing, Err: err}
}

// send writes whole messages, given with mini headers. Those of several goroutines
// do not mix.
func (c *channel) send(messages []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.framer.Full {
		messages = c.serials.Append(nil, messages)
	}
	if _, err := c.conn.Write(messages); err != nil {
		return c.fail("send", err)
	}
	return nil
}

// serve reads and answers messages until the peer or the context ends the
// channel, which it closes.
func (c *channel) serve(ctx context.Context, handle handler) error {
	defer c.close()
	stop := context.AfterFunc(ctx, func() { c.close() })
	defer stop()
	buf := make([]byte, readSize)
	for {
		n, err := c.conn.Read(buf)
		c.counter.bytes.Add(uint64(n))
		if e := c.consume(buf[:n], time.Now(), handle); e != nil {
			err = e
		} else if err != nil {
			err = c.fail("receive", err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// consume frames what was read at the given time and sends the replies to it.
func (c *channel) consume(p []byte, at time.Time, handle handler) error {
	c.replies = c.replies[:0]
	for len(p) > 0 {
		seg := c.framer.Next(p)
		p = p[len(seg.Bytes):]
		if !seg.End {
			continue
		}
		m := message{Header: c.framer.Header(), head: c.framer.Head(), at: at}
		m.size = uint64(len(c.framer.RawHeader())) + uint64(m.Size)
		if err := c.message(m, handle); err != nil {
			return err
		}
	}
	if len(c.replies) == 0 {
		return nil
	}
	return c.send(c.replies)
}

// message does what every channel does with a message, and hands it on. spice-gtk
// counts a message before it looks at it.
func (c *channel) message(m message, handle handler) error {
	c.counter.messages.Add(1)
	if c.ack.message() {
		c.replies = spiceproto.AppendAck(c.replies)
	}
	var err error
	switch m.Type {
	case spiceproto.MsgSetAck:
		err = c.setAck(m)
	case spiceproto.MsgPing:
		err = c.pong(m)
	case spiceproto.MsgMigrate:
		err = errMigration
	case spiceproto.MsgDisconnecting:
		err = errors.New("the server announces the end of the connection")
	default:
		err = handle(c, m)
	}
	if err != nil {
		return c.fail(fmt.Sprintf("handle %s", spiceproto.MessageName(c.kind, spiceproto.ServerToClient, m.Type)), err)
	}
	return nil
}

func (c *channel) setAck(m message) error {
	ack, err := spiceproto.ParseSetAck(m.head)
	if err != nil {
		return err
	}
	c.ack.set(ack.Window)
	c.replies = spiceproto.AckSync{Generation: ack.Generation}.Append(c.replies)
	return nil
}

func (c *channel) pong(m message) error {
	ping, err := spiceproto.ParsePing(m.head)
	if err != nil {
		return err
	}
	c.replies = spiceproto.Pong(ping).Append(c.replies)
	return nil
}

// ignore is the handler of a channel of which nothing is wanted.
func ignore(*channel, message) error { return nil }
