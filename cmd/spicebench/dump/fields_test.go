package dump

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"spicepacer/spiceproto"
)

// Example shapes that messages may have.
type (
	inner struct {
		Kind spiceproto.ImageType
		List []spiceproto.Rect
	}
	outer struct {
		spiceproto.Header
		Text        string
		Short, Long []byte
		UUID        [2]byte
		RAMHint     uint32
		Nested      inner
		Pointer     *inner
		None        *inner
		Any         any
		Nothing     any
		Empty       []uint16
		Missing     []uint16
		Bools       []bool
		hidden      int
	}
)

var shape = outer{
	Header: spiceproto.Header{Type: 7, Size: 8},
	Text:   "two\nlines", Short: []byte{1, 0xab}, Long: make([]byte, 33), UUID: [2]byte{2, 3}, RAMHint: 4,
	Nested:  inner{Kind: spiceproto.ImageLZ4, List: make([]spiceproto.Rect, 6)},
	Pointer: &inner{}, Any: inner{Kind: 55}, Empty: []uint16{}, Bools: []bool{true, false}, hidden: 1,
}

func TestFieldsAsText(t *testing.T) {
	var b strings.Builder
	line(&b, "", reflect.ValueOf(shape))
	zero := "{top=0 left=0 bottom=0 right=0}"
	want := ` type=7 size=8 text="two\nlines" short=01ab long="33 bytes" uuid=0203 ram_hint=4 nested.kind=lz4` +
		" nested.list=[" + strings.Repeat(zero+" ", 4) + "and 2 more] pointer.kind=bitmap any.kind=image-55" +
		" empty=[] bools=[true false]"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFieldsAsJSON(t *testing.T) {
	shape := shape
	shape.Nested.List = shape.Nested.List[:1]
	got, err := json.Marshal(tree(reflect.ValueOf(shape)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"any":{"kind":"image-55"},"bools":[true,false],"empty":[],"long":"33 bytes",` +
		`"nested":{"kind":"lz4","list":[{"bottom":0,"left":0,"right":0,"top":0}]},"pointer":{"kind":"bitmap"},` +
		`"ram_hint":4,"short":"01ab","size":8,"text":"two\nlines","type":7,"uuid":"0203"}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"ID": "id", "RAMHint": "ram_hint", "MultiMediaTime": "multi_media_time", "SurfaceID": "surface_id",
		"GLZSize": "glz_size", "X": "x", "DictionaryID": "dictionary_id",
	} {
		if got := snake(name); got != want {
			t.Errorf("snake(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{}, {"--json", "--stats", "x"}, {"--nonsense", "x"}} {
		if _, err := parseFlags(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	o, err := parseFlags([]string{"--json", "a", "b"})
	if err != nil || !o.json || o.stats || len(o.files) != 2 {
		t.Errorf("%+v, %v", o, err)
	}
}

// FuzzDump reads any file as a dump: no file stops it in another way than with
// an error.
func FuzzDump(f *testing.F) {
	f.Add(sample().Bytes())
	f.Add([]byte(`{"trace":"spicepacer-trace-1","channel":"display"}` + "\n" + `{"t":1,"event":"message","dir":"c2s"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		var out bytes.Buffer
		s := newStats()
		for _, visit := range []Visit{textPrinter(&out), jsonPrinter(&out), s.add} {
			if err := Read(bytes.NewReader(file), visit); err != nil {
				return
			}
		}
		if err := s.print(&out); err != nil {
			t.Error(err)
		}
	})
}
