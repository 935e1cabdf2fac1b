package client

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"spicepacer/spiceproto"
)

// session is what the main channel learns about the others.
type session struct {
	init     spiceproto.MainInit
	channels []spiceproto.ChannelID
}

// mainChannel handles the main channel: MAIN_INIT is answered with
// ATTACH_CHANNELS, and the first CHANNELS_LIST completes the session.
type mainChannel struct {
	clock   *mediaClock
	session chan session // gets exactly one; buffered
	init    spiceproto.MainInit
	listed  bool
}

func (h *mainChannel) handle(c *channel, m message) error {
	switch m.Type {
	case spiceproto.MsgMainInit:
		return h.begin(c, m)
	case spiceproto.MsgMainChannelsList:
		return h.list(m)
	case spiceproto.MsgMainMultiMediaTime:
		if len(m.head) < 4 {
			return spiceproto.ErrTruncated
		}
		h.clock.set(binary.LittleEndian.Uint32(m.head), m.at)
	case spiceproto.MsgMainMigrateBegin, spiceproto.MsgMainMigrateBeginSeamless, spiceproto.MsgMainMigrateSwitchHost:
		return errMigration
	}
	return nil
}

func (h *mainChannel) begin(c *channel, m message) (err error) {
	if h.init, err = spiceproto.ParseMainInit(m.head); err != nil {
		return err
	}
	h.clock.set(h.init.MultiMediaTime, m.at)
	c.replies = spiceproto.AppendAttachChannels(c.replies)
	return nil
}

// list takes the first list; later ones only add channels plugged in since.
func (h *mainChannel) list(m message) error {
	list, err := spiceproto.ParseChannelsList(m.head)
	if err != nil || h.listed {
		return err
	}
	h.listed = true
	h.session <- session{h.init, list.Channels}
	return nil
}

// has returns an error if the server does not offer channel 0 of a type.
func (s session) has(kind spiceproto.ChannelType) error {
	for _, c := range s.channels {
		if c.Type == kind && c.ID == 0 {
			return nil
		}
	}
	return fmt.Errorf("the server lists no %s channel 0 among %v", kind, s.channels)
}

// mediaClock is the server's multimedia time, which the main channel sets and
// video frames are compared with.
type mediaClock struct {
	mu    sync.Mutex
	value uint32 // milliseconds, wraps
	at    time.Time
}

func (c *mediaClock) set(value uint32, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.at = value, at
}

// now returns the multimedia time at a given time.
func (c *mediaClock) now(at time.Time) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value + uint32(at.Sub(c.at).Milliseconds())
}
