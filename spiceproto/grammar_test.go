package spiceproto

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// opcodeConstants returns the message type constants of opcodes.go.
func opcodeConstants(t *testing.T) map[string]uint16 {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "opcodes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uint16{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Msg") {
			return true
		}
		v, err := strconv.ParseUint(spec.Values[0].(*ast.BasicLit).Value, 10, 16)
		if err != nil {
			t.Fatalf("%s: %v", spec.Names[0].Name, err)
		}
		all[spec.Names[0].Name] = uint16(v)
		return true
	})
	return all
}

// constantFamilies maps what follows Msg or Msgc in a constant's name to the
// channels that have the message.
var constantFamilies = []struct {
	prefix   string
	channels []ChannelType
}{
	{"Main", []ChannelType{ChannelMain}},
	{"Display", []ChannelType{ChannelDisplay}},
	{"Inputs", []ChannelType{ChannelInputs}},
	{"Cursor", []ChannelType{ChannelCursor}},
	{"Playback", []ChannelType{ChannelPlayback}},
	{"Record", []ChannelType{ChannelRecord}},
	{"Smartcard", []ChannelType{ChannelSmartcard}},
	{"VMC", []ChannelType{ChannelUSBRedir, ChannelPort, ChannelWebDAV}},
	{"Port", []ChannelType{ChannelPort, ChannelWebDAV}},
	{"", []ChannelType{0}},
}

// Every constant is in the table, under its name, and nothing else is.
func TestGrammarHasEveryOpcode(t *testing.T) {
	want := 0
	for name, op := range opcodeConstants(t) {
		d, rest := ServerToClient, strings.TrimPrefix(name, "Msg")
		if strings.HasPrefix(rest, "c") {
			d, rest = ClientToServer, rest[1:]
		}
		for _, f := range constantFamilies {
			short, ok := strings.CutPrefix(rest, f.prefix)
			if !ok {
				continue
			}
			for _, c := range f.channels {
				want++
				s, ok := LookupMessage(c, d, op)
				if plain := strings.ReplaceAll(s.Name, "_", ""); !ok || plain != strings.ToUpper(short) {
					t.Errorf("%s: %v %v %d is %q in the grammar", name, c, d, op, s.Name)
				}
			}
			break
		}
	}
	if got := len(Grammar()); got != want || want < 100 {
		t.Errorf("%d messages in the grammar, %d constants", got, want)
	}
}

func TestGrammarIsSound(t *testing.T) {
	seen := map[[3]int]bool{}
	for _, s := range Grammar() {
		at := [3]int{int(s.Channel), int(s.Direction), int(s.Opcode)}
		if seen[at] {
			t.Errorf("%+v stands twice", s)
		}
		seen[at] = true
		if (s.Opcode < 100) != (s.Channel == 0) {
			t.Errorf("%+v: the type does not fit the channel", s)
		}
		if s.Min > s.Max || s.Min > HeadSize || s.Name == "" || s.Since == "" {
			t.Errorf("%+v", s)
		}
		if (s.Gate.By == NoGate) != (s.Gate.Bits == 0) {
			t.Errorf("%+v: half a gate", s)
		}
		for _, name := range ChannelCapNames(s.Channel, s.Gate.Caps()) {
			if strings.HasPrefix(name, "bit-") {
				t.Errorf("%+v: the gate's %s has no name", s, name)
			}
		}
		if s.Fixed() != (s.Min == s.Max) {
			t.Errorf("%+v: fixed %v", s, s.Fixed())
		}
		if l, ok := drawLayoutOf(s.Opcode); ok && s.Channel == ChannelDisplay && s.Direction == ServerToClient &&
			uint64(s.Min) != clipCountOffset+l.size {
			t.Errorf("%+v: the draw's layout takes %d bytes", s, clipCountOffset+l.size)
		}
	}
}

// The index finds what the table holds, whatever is asked for.
func TestLookupMessage(t *testing.T) {
	table := map[[3]int]MessageSpec{}
	for _, s := range Grammar() {
		table[[3]int{int(s.Channel), int(s.Direction), int(s.Opcode)}] = s
	}
	for c := range 256 {
		for d := range 3 {
			for _, op := range everyOpcode() {
				want, known := table[[3]int{c, d, op}]
				if !known {
					want, known = table[[3]int{0, d, op}]
				}
				got, ok := LookupMessage(ChannelType(c), Direction(d), uint16(op))
				if ok != known || got != want {
					t.Fatalf("channel %d direction %d type %d: %+v, want %+v", c, d, op, got, want)
				}
			}
		}
	}
}

func everyOpcode() []int {
	ops := []int{1000, 1 << 15, 1<<16 - 1}
	for op := range 400 {
		ops = append(ops, op)
	}
	return ops
}

// What Kerbside's firewall allows on the channels it models is in the grammar.
func TestGrammarCoversKerbsideAllowlist(t *testing.T) {
	type ops struct{ from, to uint16 }
	for _, c := range []struct {
		channel        ChannelType
		server, client []ops
	}{
		{ChannelMain, []ops{{1, 7}, {101, 118}}, []ops{{1, 6}, {101, 112}}},
		{
			ChannelDisplay,
			[]ops{{1, 7}, {101, 108}, {122, 126}, {302, 323}},
			[]ops{{1, 6}, {101, 105}},
		},
		{
			ChannelInputs,
			[]ops{{1, 7}, {101, 102}, {111, 111}},
			[]ops{{1, 6}, {101, 104}, {111, 114}},
		},
		{ChannelCursor, []ops{{1, 7}, {101, 108}}, []ops{{1, 6}}},
		{ChannelPlayback, []ops{{1, 7}, {101, 107}}, []ops{{1, 6}}},
		{ChannelUSBRedir, []ops{{1, 7}, {101, 102}}, []ops{{1, 6}, {101, 102}}},
		{ChannelPort, []ops{{1, 7}, {101, 102}}, []ops{{1, 6}, {101, 102}}},
		{ChannelWebDAV, []ops{{1, 7}, {101, 102}}, []ops{{1, 6}, {101, 102}}},
	} {
		for d, ranges := range [][]ops{c.server, c.client} {
			for _, r := range ranges {
				for op := r.from; op <= r.to; op++ {
					if _, ok := LookupMessage(c.channel, Direction(d), op); !ok {
						t.Errorf("%v %v %d is missing", c.channel, Direction(d), op)
					}
				}
			}
		}
	}
}

func TestMessageName(t *testing.T) {
	for _, c := range []struct {
		channel   ChannelType
		direction Direction
		op        uint16
		want      string
	}{
		{ChannelDisplay, ServerToClient, 3, "SET_ACK"},
		{ChannelDisplay, ClientToServer, 3, "PONG"},
		{ChannelDisplay, ServerToClient, 304, "DRAW_COPY"},
		{ChannelDisplay, ServerToClient, 323, "GL_SCANOUT2_UNIX"},
		{ChannelDisplay, ClientToServer, 103, "PREFERRED_COMPRESSION"},
		{ChannelMain, ServerToClient, 118, "MIGRATE_DST_SEAMLESS_NACK"},
		{ChannelMain, ClientToServer, 104, "ATTACH_CHANNELS"},
		{ChannelInputs, ClientToServer, 111, "MOUSE_MOTION"},
		{ChannelCursor, ServerToClient, 104, "MOVE"},
		{ChannelCursor, ClientToServer, 104, UnknownMessage},
		{ChannelPlayback, ServerToClient, 107, "LATENCY"},
		{ChannelRecord, ClientToServer, 103, "START_MARK"},
		{ChannelSmartcard, ClientToServer, 101, "DATA"},
		{ChannelUSBRedir, ServerToClient, 201, UnknownMessage},
		{ChannelPort, ServerToClient, 202, "EVENT"},
		{ChannelWebDAV, ClientToServer, 201, "EVENT"},
		{ChannelTunnel, ServerToClient, 101, UnknownMessage},
		{0, ClientToServer, 2, "ACK"},
		{0, ClientToServer, 101, UnknownMessage},
		{200, ServerToClient, 4, "PING"},
		{200, ServerToClient, 101, UnknownMessage},
		{ChannelMain, 2, 3, UnknownMessage},
	} {
		if got := MessageName(c.channel, c.direction, c.op); got != c.want {
			t.Errorf("%v %v %d: %q, want %q", c.channel, c.direction, c.op, got, c.want)
		}
	}
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		gate           Gate
		client, server uint32
		want           bool
	}{
		{Gate{}, 0, 0, true},
		{Gate{ByClient, 2}, 2, 0, true},
		{Gate{ByClient, 2}, 1, 2, false},
		{Gate{ByServer, 2}, 2, 1, false},
		{Gate{ByServer, 2}, 0, 3, true},
		{Gate{ByClient, 6}, 4, 0, true},
	} {
		if got := c.gate.admits(c.client, c.server); got != c.want {
			t.Errorf("%+v with %b and %b: %v", c.gate, c.client, c.server, got)
		}
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		MessageName(ChannelDisplay, ServerToClient, MsgDisplayDrawCopy)
		LookupMessage(ChannelMain, ClientToServer, 9999)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
