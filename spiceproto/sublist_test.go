package spiceproto

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// spice-server evicts images of a client with several displays like this
// (dcc-send.cpp): the wait is listed first and stands second, and both sizes are
// those of its own structures.
func TestSubListDeclaredSizes(t *testing.T) {
	wait := "05 00 18000000 01 02 01 3412000000000000"
	inval := "69 00 28000000 0200 01 0700000000000000 01 0800000000000000"
	waitBody, invalBody := fromHex(t, wait)[6:], fromHex(t, inval)[6:]
	want := []SubMessage{
		{MsgWaitForChannels, 24, waitBody}, {MsgDisplayInvalList, 40, invalBody},
	}

	list := fromHex(t, "0200 24000000 0a000000"+inval+wait)
	m, err := ParseList(ChannelDisplay, list)
	if diff := cmp.Diff(List{want}, m); diff != "" || err != nil {
		t.Errorf("LIST: %v\n%s", err, diff)
	}

	// The same behind a draw's own body, the list last, as full headers have it.
	body := append(make([]byte, 57), fromHex(t, inval+wait+"0200 53000000 39000000")...)
	all, err := ParseSubList(ChannelDisplay, MsgDisplayDrawCopy, body, uint32(len(body)-10))
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Errorf("sub_list: %v\n%s", err, diff)
	}

	if w, err := ParseWaitForChannels(all[0].Body); err != nil ||
		w.Waits[0] != (ChannelWait{ChannelDisplay, 1, 0x1234}) {
		t.Errorf("wait %+v, %v", w, err)
	}
}

// Other types are as long as they say, if they can be.
func TestSubListOtherSizes(t *testing.T) {
	b := fromHex(t, "0300 0e000000 15000000 1b000000 6800 01000000 aa 6a00 00000000 0200 ff000000 bbcc")
	m, err := ParseList(ChannelDisplay, b)
	want := List{[]SubMessage{{104, 1, []byte{0xaa}}, {106, 0, nil}, {2, 255, []byte{0xbb, 0xcc}}}}
	if diff := cmp.Diff(want, m, equateEmpty); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// On another channel type 105 is no list, and its size is what it says.
func TestSubListIsPerChannel(t *testing.T) {
	m, err := ParseList(ChannelCursor, fromHex(t, "0100 06000000 6900 00000000 ffff"))
	if err != nil || len(m.Messages) != 1 || len(m.Messages[0].Body) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestSubListErrors(t *testing.T) {
	many := append([]byte{65, 0}, bytes.Repeat([]byte{6, 1, 0, 0}, 65)...)
	for _, c := range []struct {
		name   string
		body   []byte
		at     uint32
		reason error
		field  string
	}{
		{"list beyond the body", make([]byte, 4), 4, ErrPointer, "sub_list"},
		{"list beyond everything", make([]byte, 4), 0xffffffff, ErrPointer, "sub_list"},
		{"count cut off", make([]byte, 4), 3, ErrTruncated, "size"},
		{"more offsets than bytes", fromHex(t, "0200 06000000 00"), 0, ErrCount, "size"},
		{"more than anybody sends", append(many, make([]byte, 9)...), 0, ErrLimit, "size"},
		{"message at 0", fromHex(t, "0100 00000000"), 0, ErrPointer, "sub_messages"},
		{"header cut off", fromHex(t, "0100 06000000 6900 000000"), 0, ErrPointer, "sub_messages"},
		{"offset that wraps", fromHex(t, "0100 ffffffff"), 0, ErrPointer, "sub_messages"},
		{
			"two bad offsets, the first of which is told",
			fromHex(t, "0200 ffffffff 00000000"), 0, ErrPointer, "sub_messages",
		},
		{
			"wait with a count beyond the body", fromHex(t, "0100 06000000 0500 ff000000 01 02"), 0,
			ErrCount, "sub_messages.count",
		},
		{
			"wait without a count", fromHex(t, "0100 06000000 0500 00000000"), 0,
			ErrCount, "sub_messages.count",
		},
		{
			"invalidations beyond the body", fromHex(t, "0100 06000000 6900 00000000 0100"), 0,
			ErrCount, "sub_messages.count",
		},
		{
			"invalidations without a count", fromHex(t, "0100 06000000 6900 00000000 01"), 0,
			ErrCount, "sub_messages.count",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseSubList(ChannelDisplay, MsgDisplayDrawCopy, c.body, c.at)
			var e *DecodeError
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Err != c.reason || e.Field != c.field || e.Opcode != MsgDisplayDrawCopy ||
				e.Channel != ChannelDisplay || e.Offset > len(c.body) {
				t.Errorf("error %v, want %v of %s", err, c.reason, c.field)
			}
		})
	}
}

func TestListRoundTrip(t *testing.T) {
	ordinary := rapid.Custom(func(t *rapid.T) SubMessage {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		return SubMessage{MsgDisplayInvalPalette, uint32(len(body)), body}
	})
	waits := rapid.Custom(func(t *rapid.T) SubMessage {
		n := rapid.IntRange(0, 255).Draw(t, "waits")
		body := WaitForChannels{make([]ChannelWait, n)}.Append(nil)[MiniHeaderSize:]
		return SubMessage{MsgWaitForChannels, uint32(8 + 16*n), body}
	})
	messages := rapid.SliceOfN(rapid.OneOf(ordinary, waits), 0, MaxSubMessages)
	rapid.Check(t, func(t *rapid.T) {
		m := List{messages.Draw(t, "messages")}
		wire := m.Append(nil)
		h, _ := ParseHeader(wire)
		if h != (Header{MsgList, uint32(len(wire) - MiniHeaderSize)}) {
			t.Fatalf("header %+v of %d bytes", h, len(wire))
		}
		got, err := ParseList(ChannelDisplay, wire[MiniHeaderSize:])
		if diff := cmp.Diff(m, got, equateEmpty); diff != "" || err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}
