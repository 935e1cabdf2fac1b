package spicetest_test

import (
	"testing"
	"time"

	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

const roomy = 1 << 20

// column returns an update of the nth column.
func column(n int, id uint64) spicetest.Item {
	left := int32(n * 32)
	return spicetest.Item{Draw: spicetest.Draw{
		Box: spiceproto.Rect{Left: left, Bottom: 480, Right: left + 32}, ID: id, Size: 1000,
	}}
}

func notify(size int) spicetest.Item {
	return spicetest.Message(spiceproto.MsgNotify, make([]byte, size))
}

func newSender(window uint32, socket, messages int) *spicetest.Sender {
	s := spicetest.NewSender(socket)
	s.Queue(spicetest.SetAck(window))
	for range messages {
		s.Queue(notify(10))
	}
	s.Writable()
	return s
}

func receive(t *testing.T, s *spicetest.Sender, messages ...[]byte) {
	t.Helper()
	for _, m := range messages {
		if err := s.Receive(m); err != nil {
			t.Fatal(err)
		}
	}
}

func wantBegun(t *testing.T, s *spicetest.Sender, want uint64) {
	t.Helper()
	if got := s.Stats.Begun; got != want {
		t.Errorf("%d messages begun, want %d", got, want)
	}
}

var (
	ack   = spiceproto.AppendAck(nil)
	sync1 = spiceproto.AckSync{Generation: 1}.Append(nil)
)

// Measured on spice-server 0.15.1: 41 messages without an ACK for W = 20, 81
// for W = 40, and W more for each ACK.
func TestSenderWindow(t *testing.T) {
	for _, c := range []struct {
		window     uint32
		begun, per uint64
	}{{20, 41, 20}, {40, 81, 40}, {1, 3, 1}} {
		s := newSender(c.window, roomy, 500)
		wantBegun(t, s, c.begun)
		receive(t, s, ack) // before ACK_SYNC: ignored
		wantBegun(t, s, c.begun)
		receive(t, s, sync1, ack)
		wantBegun(t, s, c.begun+c.per)
		receive(t, s, ack)
		wantBegun(t, s, c.begun+2*c.per)
	}
}

// Measured: an ACK after 12 messages stops the channel for good, one at exactly
// 20 works.
func TestSenderWrapsOnEarlyAck(t *testing.T) {
	early := newSender(20, roomy, 11)
	receive(t, early, sync1, ack)
	early.Queue(notify(10))
	early.Writable()
	receive(t, early, ack, ack, ack)
	if !early.Wrapped() || early.PipeLen() != 1 {
		t.Errorf("ACK after 12 messages: wrapped %t, %d items wait", early.Wrapped(), early.PipeLen())
	}
	exact := newSender(20, roomy, 19)
	receive(t, exact, sync1, ack)
	exact.Queue(notify(10))
	exact.Writable()
	if exact.Wrapped() || exact.PipeLen() != 0 {
		t.Errorf("ACK after 20 messages: wrapped %t, %d items wait", exact.Wrapped(), exact.PipeLen())
	}
}

// Measured: of the message that exhausts the window, what did not fit the
// socket comes only after the next ACK.
func TestSenderWaitsInTheMiddleOfAMessage(t *testing.T) {
	s := newSender(1, 100, 1)
	s.Socket.Discard(s.Socket.Len())
	s.Queue(notify(200))
	s.Queue(notify(10))
	s.Writable()
	if !s.Blocked() || !s.Waiting() {
		t.Fatalf("blocked %t, waiting %t, want both", s.Blocked(), s.Waiting())
	}
	s.Socket.Discard(100)
	s.Queue(notify(10))
	s.Writable()
	if s.Socket.Len() != 0 {
		t.Errorf("%d bytes sent while waiting for an ACK", s.Socket.Len())
	}
	receive(t, s, sync1, ack)
	if s.Socket.Len() != 100 {
		t.Errorf("%d bytes in the socket after the ACK, want 100", s.Socket.Len())
	}
}

// The first item of an empty pipe arms the write watch, so the half message
// goes on without an ACK.
func TestSenderResumesWhenAnEmptyPipeFills(t *testing.T) {
	s := newSender(1, 100, 1)
	s.Socket.Discard(s.Socket.Len())
	s.Queue(notify(150))
	s.Writable()
	s.Socket.Discard(100)
	s.Writable()
	if s.Socket.Len() != 0 {
		t.Fatal("the write watch was not dropped")
	}
	s.Queue(notify(10))
	s.Writable()
	if s.Blocked() || s.PipeLen() != 1 {
		t.Errorf("blocked %t, %d items wait, want the message finished and one item", s.Blocked(), s.PipeLen())
	}
}

func TestSenderReplacedDrawingGoesLast(t *testing.T) {
	s := newSender(20, roomy, 40) // exhausts the window
	s.Queue(column(1, 1))
	s.Queue(column(2, 1))
	s.Queue(notify(10))
	s.Queue(column(1, 2))
	if s.PipeLen() != 3 || s.Stats.Replaced != 1 {
		t.Fatalf("%d items, %d replaced, want 3 and 1", s.PipeLen(), s.Stats.Replaced)
	}
	var client spicetest.Client
	var order []uint16
	client.OnMessage = func(_ time.Time, h spiceproto.Header, _ []byte) { order = append(order, h.Type) }
	s.Socket.Discard(s.Socket.Len())
	receive(t, s, sync1, ack)
	if _, err := client.Receive(time.Time{}, s.Socket.Bytes()); err != nil {
		t.Fatal(err)
	}
	if len(order) != 3 || order[1] != spiceproto.MsgNotify {
		t.Errorf("messages %v, want column 2, NOTIFY, column 1", order)
	}
	if got := client.Screen.Shows(column(1, 0).Draw.Box); got != 2 {
		t.Errorf("column 1 shows image %d, want 2", got)
	}
}

func TestSenderInvalidationPassesTheWindow(t *testing.T) {
	s := newSender(20, roomy, 39)
	item := column(1, 1)
	item.Invalidates = true
	s.Queue(item)
	s.Writable()
	if wantBegun(t, s, 42); s.Stats.Peak != 42 {
		t.Errorf("peak %d, want 42", s.Stats.Peak)
	}
}

func TestSenderSecondGeneration(t *testing.T) {
	s := newSender(2, roomy, 1)
	receive(t, s, sync1)
	s.Queue(spicetest.SetAck(3))
	for range 20 {
		s.Queue(notify(10))
	}
	s.Writable()
	wantBegun(t, s, 2+7)
	receive(t, s, ack, sync1, ack) // of generation 1: ignored
	wantBegun(t, s, 2+7)
	receive(t, s, spiceproto.AckSync{Generation: 2}.Append(nil), ack)
	wantBegun(t, s, 2+7+3)
	if s.Stats.Ignored != 2 {
		t.Errorf("%d ACKs ignored, want 2", s.Stats.Ignored)
	}
}

func TestSenderRefusesAMalformedAckSync(t *testing.T) {
	s := newSender(20, roomy, 0)
	if err := s.Receive(spiceproto.Header{Type: spiceproto.MsgcAckSync, Size: 0}.Append(nil)); err == nil {
		t.Error("an empty ACK_SYNC was accepted")
	}
}

// spice-gtk's first ACK comes after message 1 + W, SET_ACK counted.
func TestClientAcksLikeGTK(t *testing.T) {
	s := newSender(20, roomy, 40)
	var client spicetest.Client
	bytes := s.Socket.Bytes()
	acks := 0
	for message, at := 1, 0; at < len(bytes); message++ {
		h, _ := spiceproto.ParseHeader(bytes[at:])
		end := at + spiceproto.MiniHeaderSize + int(h.Size)
		reply, err := client.Receive(time.Time{}, bytes[at:end])
		if err != nil {
			t.Fatal(err)
		}
		at = end
		if len(reply) > 0 && message > 1 {
			acks++
			if message != 1+20*acks {
				t.Errorf("ACK %d after message %d", acks, message)
			}
		} else if message == 1 && string(reply) != string(sync1) {
			t.Errorf("answer to SET_ACK: % x", reply)
		}
	}
	if acks != 2 {
		t.Errorf("%d ACKs for 41 messages, want 2", acks)
	}
}
