package spicetest

import (
	"fmt"
	"time"

	"spicepacer/spiceproto"
)

// Client models the display channel of spice-gtk 0.42 (channel-base.c,
// spice-channel.c): its ACK counters, its PONGs, and a record of what reached
// the screen. It is a state machine without goroutine: Receive takes bytes and
// returns the answer. Run drives it over a connection. The zero value is ready.
type Client struct {
	// Screen is what the user has seen so far.
	Screen View
	// OnMessage is told of every message once it is complete; head holds its
	// first spiceproto.HeadSize body bytes.
	OnMessage func(now time.Time, h spiceproto.Header, head []byte)

	framer spiceproto.Framer
	window uint32 // W of the last SET_ACK
	count  uint32 // messages until the next ACK; 0: none wanted
	reply  []byte
}

// Receive handles bytes from the server, and returns what the client writes in
// answer, valid until the next call.
func (c *Client) Receive(now time.Time, p []byte) (reply []byte, err error) {
	c.reply = c.reply[:0]
	c.Screen.Bytes += uint64(len(p))
	for len(p) > 0 {
		seg := c.framer.Next(p)
		p = p[len(seg.Bytes):]
		if !seg.End {
			continue
		}
		c.countMessage()
		if err := c.handle(now, c.framer.Header(), c.framer.Head()); err != nil {
			return c.reply, fmt.Errorf("message from the server: %w", err)
		}
	}
	return c.reply, nil
}

// countMessage runs when a body was read, before it is looked at: so SET_ACK,
// which sets the counters, does not count itself.
func (c *Client) countMessage() {
	c.Screen.Messages++
	if c.count == 0 {
		return
	}
	if c.count--; c.count == 0 {
		c.reply = spiceproto.AppendAck(c.reply)
		c.count = c.window
	}
}

func (c *Client) handle(now time.Time, h spiceproto.Header, head []byte) error {
	if c.OnMessage != nil {
		c.OnMessage(now, h, head)
	}
	switch h.Type {
	case spiceproto.MsgSetAck:
		m, err := spiceproto.ParseSetAck(head)
		if err != nil {
			return err
		}
		c.window, c.count = m.Window, m.Window
		c.reply = spiceproto.AckSync{Generation: m.Generation}.Append(c.reply)
	case spiceproto.MsgPing:
		m, err := spiceproto.ParsePing(head)
		if err != nil {
			return err
		}
		c.reply = spiceproto.Pong(m).Append(c.reply)
	case spiceproto.MsgDisplayDrawCopy:
		d, err := spiceproto.ParseDrawHead(h.Type, h.Size, head)
		if err != nil {
			return err
		}
		c.Screen.draw(now, d)
	}
	return nil
}
