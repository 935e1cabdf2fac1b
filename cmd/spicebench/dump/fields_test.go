package dump

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
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

// What a dump of a file may allocate in all: for each byte what the record of the
// shortest message or line takes, by the byte, as JSON, and what does not depend on
// the file. What a file merely announces is far more.
const (
	allocFactor   = 512
	allocConstant = 1 << 20
)

// guardAllocs runs f, which dumps n bytes, and fails if it allocates beyond the
// bound. Other goroutines may allocate meanwhile, so f gets another chance.
func guardAllocs(t *testing.T, n int, f func()) {
	t.Helper()
	most := uint64(allocFactor*n + allocConstant)
	var got uint64
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if got = after.TotalAlloc - before.TotalAlloc; got <= most {
			return
		}
	}
	t.Fatalf("%d bytes allocated for a file of %d, want at most %d", got, n, most)
}

// TestAllocationBound dumps what costs most for its size, and not far from the
// bound.
func TestAllocationBound(t *testing.T) {
	file := []byte(`{"trace":"spicepacer-trace-1","channel":"display"}` + "\n" + strings.Repeat("{}\n", 20_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out bytes.Buffer
	guardAllocs(t, len(file), func() {
		out.Reset()
		if err := Read(bytes.NewReader(file), jsonPrinter(&out)); err != nil {
			t.Fatal(err)
		}
	})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got < uint64(allocFactor*len(file)/8) {
		t.Errorf("%d bytes allocated for a file of %d: the bound is too loose to tell anything", got, len(file))
	}
}

// FuzzDump reads any file as a dump: no file stops it in another way than with
// an error, or makes it allocate what it merely announces.
func FuzzDump(f *testing.F) {
	f.Add(sample().Bytes())
	f.Add([]byte(`{"trace":"spicepacer-trace-1","channel":"display"}` + "\n" + `{"t":1,"event":"message","dir":"c2s"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, kind := range []func(*bytes.Buffer, *stats) Visit{
			func(out *bytes.Buffer, _ *stats) Visit { return textPrinter(out) },
			func(out *bytes.Buffer, _ *stats) Visit { return jsonPrinter(out) },
			func(_ *bytes.Buffer, s *stats) Visit { return s.add },
		} {
			guardAllocs(t, len(file), func() {
				var out bytes.Buffer
				s := newStats()
				if Read(bytes.NewReader(file), kind(&out, s)) != nil {
					return
				}
				if err := s.print(&out); err != nil {
					t.Error(err)
				}
			})
		}
	})
}
