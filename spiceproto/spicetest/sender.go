package spicetest

import (
	"fmt"
	"slices"

	"spicepacer/spiceproto"
)

// maxPipe is spice-server's MAX_PIPE_SIZE (dcc.h): drawing commands are fetched
// while no more items than that wait, so that 51 can.
const maxPipe = 50

// Sender models the sending half of a display channel in spice-server 0.15.1
// (red-channel-client.cpp): the pipe, the ACK window with its unsigned
// arithmetic, and the write watch. It is a state machine without clock or
// goroutine; who owns it moves the bytes:
//
//	Queue      an item is added to the pipe
//	Writable   the event loop found the socket writable
//	Receive    bytes came from the client
//
// Bytes leave through Socket: its owner takes Socket.Bytes and discards what
// was sent. Use NewSender.
type Sender struct {
	Socket Socket
	// Stats counts what happened so far.
	Stats SenderStats
	// OnMessage is told of every message from the client that is not about
	// ACKs; head holds its first spiceproto.HeadSize body bytes.
	OnMessage func(h spiceproto.Header, head []byte)

	// ack_data, with the types and initial values of the original.
	generation       uint32
	clientGeneration uint32
	messagesWindow   uint32
	clientWindow     uint32

	pipe       []Item // oldest first
	out        []byte // what is left of the message being written
	outBuf     []byte // backs out
	followUp   Item   // second message of the item being sent
	hasFollow  bool
	writeWatch bool

	framer spiceproto.Framer
}

// SenderStats are counts since the start.
type SenderStats struct {
	Begun    uint64 // messages begun
	Replaced uint64 // drawings removed from the pipe by a newer one
	Acks     uint64 // ACKs accepted
	Ignored  uint64 // ACKs of another generation
	Peak     uint32 // largest messages_window since the last SET_ACK
}

// NewSender returns a sender with a send buffer of the given bytes. It sends
// nothing before a SET_ACK was queued.
func NewSender(socketBuffer int) *Sender {
	return &Sender{
		Socket:           Socket{Capacity: socketBuffer},
		clientGeneration: ^uint32(0),
		messagesWindow:   ^uint32(0),
	}
}

// Queue adds an item at the end of the pipe. A drawing first removes those it
// covers wholly, which were not begun (display-channel.cpp, current tree). The
// first item of an empty pipe arms the write watch (prepare_pipe_add).
func (s *Sender) Queue(item Item) {
	if !item.Draw.Box.Empty() {
		s.replace(item.Draw.Box)
	}
	if item.Op == spiceproto.MsgSetAck && s.generation == 0 {
		s.messagesWindow = 0 // ack_zero_messages_window, when the connection starts
	}
	if len(s.pipe) == 0 {
		s.writeWatch = true
	}
	s.pipe = append(s.pipe, item)
}

func (s *Sender) replace(box spiceproto.Rect) {
	before := len(s.pipe)
	s.pipe = slices.DeleteFunc(s.pipe, func(old Item) bool {
		return !old.Draw.Box.Empty() && box.Contains(old.Draw.Box)
	})
	s.Stats.Replaced += uint64(before - len(s.pipe))
}

// Waiting is red_channel_client_waiting_for_ack.
func (s *Sender) Waiting() bool { return s.messagesWindow > 2*s.clientWindow }

// Wrapped tells that an early ACK has wrapped messages_window: nothing will
// ever be sent again.
func (s *Sender) Wrapped() bool { return s.generation > 0 && int32(s.messagesWindow) < 0 }

// Blocked tells that a message is only partly in the socket.
func (s *Sender) Blocked() bool { return len(s.out) > 0 }

// PipeLen returns the items that wait.
func (s *Sender) PipeLen() int { return len(s.pipe) }

// Fetching tells whether drawing commands are taken from the device.
func (s *Sender) Fetching() bool { return len(s.pipe) <= maxPipe }

// Idle tells that nothing waits anywhere in the server, socket included.
func (s *Sender) Idle() bool { return len(s.pipe) == 0 && !s.Blocked() && s.Socket.Len() == 0 }

// Generation returns that of the last SET_ACK sent, 0 before the first.
func (s *Sender) Generation() uint32 { return s.generation }

// Window returns W of that SET_ACK.
func (s *Sender) Window() uint32 { return s.clientWindow }

// WantsWrite tells whether Writable would send: the write watch is armed and
// poll would report the socket.
func (s *Sender) WantsWrite() bool { return s.writeWatch && s.Socket.Writable() }

// Writable is the event loop's write event. It does nothing unless WantsWrite.
func (s *Sender) Writable() {
	if s.WantsWrite() {
		s.push()
	}
}

// push is red_channel_client_push: finish what is half sent, then send items
// while neither the socket nor the window stops it. It drops the write watch
// when it waits for an ACK even if half a message is unsent; that half then
// stays until an ACK arrives or an empty pipe gets an item.
func (s *Sender) push() {
	s.flush()
	for !s.Blocked() && !s.Waiting() && len(s.pipe) > 0 {
		item := s.pipe[0]
		s.pipe = s.pipe[1:]
		s.send(item)
	}
	if s.Waiting() || !s.Blocked() && len(s.pipe) == 0 {
		s.writeWatch = false
	}
}

// send begins an item's message, after the INVAL_LIST it may need.
func (s *Sender) send(item Item) {
	if item.Invalidates {
		s.followUp, s.hasFollow = item, true
		item = Message(spiceproto.MsgDisplayInvalList, make([]byte, 2))
	}
	s.begin(item)
	s.flush()
}

// begin is red_channel_client_begin_send_message: the message is encoded and
// counted before its first byte is written.
func (s *Sender) begin(item Item) {
	s.outBuf = s.encode(s.outBuf[:0], item)
	s.out = s.outBuf
	s.messagesWindow++
	s.Stats.Begun++
	s.Stats.Peak = max(s.Stats.Peak, s.messagesWindow)
}

func (s *Sender) encode(b []byte, item Item) []byte {
	switch {
	case item.Op == spiceproto.MsgSetAck:
		s.generation++
		s.messagesWindow = 0
		s.clientWindow = item.Window
		s.Stats.Peak = 0
		return spiceproto.SetAck{Generation: s.generation, Window: s.clientWindow}.Append(b)
	case !item.Draw.Box.Empty():
		return item.Draw.Append(b)
	}
	b = spiceproto.Header{Type: item.Op, Size: uint32(len(item.Body))}.Append(b)
	return append(b, item.Body...)
}

// flush writes what is left of the message under way, and of the one that
// follows it without asking for the window.
func (s *Sender) flush() {
	for {
		s.out = s.out[s.Socket.Write(s.out):]
		if s.Blocked() {
			s.writeWatch = true
			return
		}
		if !s.hasFollow {
			return
		}
		s.hasFollow = false
		s.begin(s.followUp)
	}
}

// Receive handles bytes from the client. An error means that they are not what
// a client may send; the original would close the connection.
func (s *Sender) Receive(p []byte) error {
	for len(p) > 0 {
		seg := s.framer.Next(p)
		p = p[len(seg.Bytes):]
		if !seg.End {
			continue
		}
		if err := s.handle(s.framer.Header(), s.framer.Head()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sender) handle(h spiceproto.Header, head []byte) error {
	switch h.Type {
	case spiceproto.MsgcAckSync:
		m, err := spiceproto.ParseAckSync(head)
		if err != nil {
			return fmt.Errorf("message from the client: %w", err)
		}
		s.clientGeneration = m.Generation
	case spiceproto.MsgcAck:
		s.ack()
	default:
		if s.OnMessage != nil {
			s.OnMessage(h, head)
		}
	}
	return nil
}

// ack subtracts without a check, as the original does.
func (s *Sender) ack() {
	if s.clientGeneration != s.generation {
		s.Stats.Ignored++
		return
	}
	s.Stats.Acks++
	s.messagesWindow -= s.clientWindow
	s.writeWatch = true
	s.push()
}
