package spiceproto

import (
	"testing"
)

func TestParseStreamHead(t *testing.T) {
	dest := Rect{Top: 10, Left: 20, Bottom: 110, Right: 220}
	for _, c := range []struct {
		name    string
		message []byte
		op      uint16
		want    StreamHead
	}{
		{"create", StreamCreate{ID: 7, Dest: dest, Clip: Clip{Type: ClipNone}}.Append(nil), MsgDisplayStreamCreate, StreamHead{ID: 7, Dest: dest}},
		{"create hidden", StreamCreate{ID: 7, Dest: dest, Clip: Clip{Type: ClipRects}}.Append(nil), MsgDisplayStreamCreate, StreamHead{7, dest, true}},
		{"data", StreamData{ID: 7, Data: []byte{1, 2}}.Append(nil), MsgDisplayStreamData, StreamHead{ID: 7}},
		{"sized data", StreamDataSized{ID: 7, Dest: dest, Data: []byte{1}}.Append(nil), MsgDisplayStreamDataSized, StreamHead{ID: 7, Dest: dest}},
		{"clip", StreamClip{ID: 7, Clip: Clip{Type: ClipNone}}.Append(nil), MsgDisplayStreamClip, StreamHead{ID: 7}},
		{"clip to a part", StreamClip{ID: 7, Clip: Clip{Type: ClipRects, Rects: []Rect{dest}}}.Append(nil), MsgDisplayStreamClip, StreamHead{ID: 7}},
		{"clip to nothing", StreamClip{ID: 7, Clip: Clip{Type: ClipRects}}.Append(nil), MsgDisplayStreamClip, StreamHead{ID: 7, Hidden: true}},
		{"destroy", StreamDestroy{ID: 7}.Append(nil), MsgDisplayStreamDestroy, StreamHead{ID: 7}},
	} {
		body := c.message[MiniHeaderSize:]
		if got, ok := ParseStreamHead(c.op, body); !ok || got != c.want {
			t.Errorf("%s: %+v %t, want %+v", c.name, got, ok, c.want)
		}
		if got, ok := ParseStreamHead(c.op, body[:3]); ok {
			t.Errorf("%s: %+v from three bytes", c.name, got)
		}
		if n := testing.AllocsPerRun(10, func() { ParseStreamHead(c.op, body) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	cut := StreamClip{ID: 7, Clip: Clip{Type: ClipRects}}.Append(nil)[MiniHeaderSize:]
	if got, ok := ParseStreamHead(MsgDisplayStreamClip, cut[:6]); ok || got.Hidden {
		t.Errorf("a clip without its count: %+v %t", got, ok)
	}
	if got, ok := ParseStreamHead(MsgDisplayDrawCopy, make([]byte, 100)); ok {
		t.Errorf("a draw has the stream head %+v", got)
	}
}
