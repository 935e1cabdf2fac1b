package integration

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"spicepacer/cmd/spicebench/dump"
	"spicepacer/spiceproto"
)

// place is where in a capture messages are: a connection, a direction and the
// packet that completed them.
type place struct {
	conn      int
	direction spiceproto.Direction
	packet    int
}

// dissected is what tshark finds in one place. types and sizes are of its
// messages in order; fields are the values of each field, all messages together.
type dissected struct {
	types, sizes []int
	fields       map[string][]string
}

// tally is what a comparison came to.
type tally struct {
	messages  int            // of the same channel, direction, order, type and size
	values    int            // of fields, equal or known to disagree
	unknown   int            // messages with fields that no opinion is held on
	disagrees map[string]int // messages by known disagreement
	kinds     map[string]int // messages by kind
}

// add sums up.
func (a *tally) add(b tally) {
	a.messages += b.messages
	a.values += b.values
	a.unknown += b.unknown
	for name, n := range b.disagrees {
		a.disagrees[name] += n
	}
	for kind, n := range b.kinds {
		a.kinds[kind] += n
	}
}

func newTally() tally {
	return tally{disagrees: make(map[string]int), kinds: make(map[string]int)}
}

// compareWithTshark compares what spicebench dump and tshark say of a capture of
// SPICE on one port. Any difference that is not a known disagreement is an error.
func compareWithTshark(t *testing.T, file string, port int) tally {
	t.Helper()
	theirs := runTshark(t, file, port)
	ours := make(map[place][]*message)
	var order []place
	result := newTally()
	err := dump.ReadFile(file, func(r *dump.Record) error {
		switch {
		case r.Err != nil:
			t.Errorf("%s: packet %d: %v", file, r.Packet, r.Err)
		case r.Kind == dump.Notice && !strings.HasPrefix(r.Text, "ends with "):
			t.Errorf("%s: packet %d: %s", file, r.Packet, r.Text)
		case r.Kind == dump.Message:
			at := place{r.Conn, r.Direction, r.Packet}
			if ours[at] == nil {
				order = append(order, at)
			}
			ours[at] = append(ours[at], newMessage(r))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	astray := make(map[int]bool) // connections on whose client's side tshark has lost its way
	for _, at := range order {
		if astray[at.conn] && at.direction == spiceproto.ClientToServer {
			result.disagrees[bodyNotSkipped] += len(ours[at])
			continue
		}
		astray[at.conn] = astray[at.conn] || slices.ContainsFunc(ours[at], (*message).leadsAstray)
		compareAt(t, at, ours[at], theirs[at], &result)
		delete(theirs, at)
		if t.Failed() {
			return result // what follows is likely of the same cause
		}
	}
	for at, d := range theirs {
		if len(d.types) > 0 && !astray[at.conn] {
			t.Errorf("%s: at %+v tshark sees types %d, we nothing", file, at, d.types)
		}
	}
	return result
}

// compareAt compares the messages of one place.
func compareAt(t *testing.T, at place, ours []*message, theirs dissected, sum *tally) {
	t.Helper()
	var types, sizes []int
	for _, m := range ours {
		types, sizes = append(types, m.opcode), append(sizes, m.size)
	}
	// A link message has a size of its own before those of messages.
	theirSizes := theirs.sizes[max(0, len(theirs.sizes)-len(theirs.types)):]
	if !slices.Equal(types, theirs.types) || !slices.Equal(sizes, theirSizes) {
		t.Errorf("at %+v: types %d and sizes %d, tshark sees %d and %d", at, types, sizes, theirs.types, theirSizes)
		return
	}
	sum.messages += len(ours)
	want := make(map[string][]expected)
	for _, m := range ours {
		sum.kinds[m.kind]++
		if m.unknown {
			sum.unknown++
			return // its fields would stand among those of the others
		}
		seen := make(map[string]bool)
		for _, e := range m.expected {
			want[e.field] = append(want[e.field], e)
			if e.known != "" && !seen[e.known] {
				seen[e.known] = true
				sum.disagrees[e.known]++
			}
		}
	}
	for field, values := range theirs.fields {
		if len(values) != len(want[field]) {
			t.Errorf("at %+v, %s: tshark sees %s = %q, want %d values", at, kinds(ours), field, values, len(want[field]))
			continue
		}
		for i, value := range values {
			sum.values++
			if e := want[field][i]; !e.matches(value) {
				t.Errorf("at %+v, %s: tshark sees %s = %s, want %s", at, e.kind, field, value, e)
			}
		}
	}
	for field, w := range want {
		if len(theirs.fields[field]) == 0 && len(w) > 0 {
			t.Errorf("at %+v, %s: tshark sees no %s, want %d values", at, kinds(ours), field, len(w))
		}
	}
}

func kinds(ms []*message) string {
	var list []string
	for _, m := range ms {
		list = append(list, m.kind)
	}
	return strings.Join(slices.Compact(list), ", ")
}

// runTshark dissects a capture.
func runTshark(t *testing.T, file string, port int) map[place]dissected {
	t.Helper()
	fields := opinionFields()
	args := []string{
		"-r", file, "-d", fmt.Sprintf("tcp.port==%d,spice", port), "-o", "tcp.reassemble_out_of_order:TRUE",
		"-Y", "spice", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=,",
		"-e", "tcp.stream", "-e", "tcp.srcport", "-e", "frame.number",
		"-e", "spice.message_type", "-e", "spice.message_size",
	}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	cmd := exec.CommandContext(t.Context(), "tshark", args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(map[place]dissected)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		at, d := parseLine(t, lines.Text(), port, fields)
		found[at] = d
	}
	if err := cmd.Wait(); err != nil || lines.Err() != nil {
		t.Fatalf("tshark: %v, %v", err, lines.Err())
	}
	return found
}

// parseLine reads what runTshark asked for.
func parseLine(t *testing.T, line string, port int, fields []string) (place, dissected) {
	t.Helper()
	columns := strings.Split(line, "\t")
	if len(columns) != 5+len(fields) {
		t.Fatalf("tshark's line has %d columns, want %d: %.200s", len(columns), 5+len(fields), line)
	}
	at := place{conn: number(t, columns[0]), direction: spiceproto.ClientToServer, packet: number(t, columns[2])}
	if number(t, columns[1]) == port {
		at.direction = spiceproto.ServerToClient
	}
	d := dissected{types: numbers(t, columns[3]), sizes: numbers(t, columns[4]), fields: make(map[string][]string)}
	if len(d.types) == 0 {
		return at, d // the link stage
	}
	for i, f := range fields {
		if v := columns[5+i]; v != "" {
			d.fields[f] = strings.Split(v, ",")
		}
	}
	return at, d
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func numbers(t *testing.T, list string) (all []int) {
	t.Helper()
	if list == "" {
		return nil
	}
	for _, s := range strings.Split(list, ",") {
		all = append(all, number(t, s))
	}
	return all
}

// message is one of ours with what tshark should make of it.
type message struct {
	kind         string // channel, direction and name
	opcode, size int
	expected     []expected
	unknown      bool // no opinion is held on its fields
}

func (m *message) leadsAstray() bool { return slices.Contains(strays, m.kind) }

// expected is a value that tshark should show.
type expected struct {
	kind, field string
	value       uint64
	any         bool   // whatever it shows: our parser does not give it
	known       string // the disagreement that this value is the other side's view of
}

func (e expected) String() string {
	if e.known == "" {
		return fmt.Sprint(e.value)
	}
	return fmt.Sprintf("%d (%s)", e.value, e.known)
}

// matches compares with a decimal or hexadecimal number of any width. Tshark shows
// signed fields without their sign, and the other way round.
func (e expected) matches(shown string) bool {
	if e.any {
		return true
	}
	if v, err := strconv.ParseInt(shown, 0, 64); err == nil && (uint64(v) == e.value || v < 0 && uint32(v) == uint32(e.value)) {
		return true
	}
	v, err := strconv.ParseUint(shown, 0, 64)
	return err == nil && (v == e.value || v == e.value&0xffffffff && int64(e.value) < 0)
}

func newMessage(r *dump.Record) *message {
	m := &message{
		kind:   fmt.Sprintf("%v %v %s", r.Channel, r.Direction, r.Name),
		opcode: int(r.Opcode), size: r.Size,
	}
	held, ok := opinions[m.kind]
	if !ok {
		held, ok = opinions[fmt.Sprintf("* %v %s", r.Direction, r.Name)]
	}
	if !ok {
		m.unknown = true
		return m
	}
	for _, o := range held {
		if o.when != nil && !o.when(r) {
			continue
		}
		m.expect(r, o)
	}
	return m
}

// expect adds what tshark should show for one opinion: a value, or one for each
// element of a list.
func (m *message) expect(r *dump.Record, o opinion) {
	for path := range strings.SplitSeq(o.path, "|") {
		values, found := lookUp(r, path)
		if !found {
			continue
		}
		for _, v := range values {
			m.expected = append(m.expected, expected{kind: m.kind, field: o.field, value: v, known: o.known})
		}
		return
	}
	m.expected = append(m.expected, expected{kind: m.kind, field: o.field, any: true, known: o.known})
}

// lookUp finds the numbers at a path of a message's decoded fields, such as
// "box.left", or at an offset of its body, such as "u16@4", or "swapped@4" for a u32
// in the wrong byte order, or "each@5+8" for the u32 at offset 8 in each rectangle of
// a list whose length is at offset 5; "d16@41" is like "u16@41" behind the clip
// rectangles of a draw.
func lookUp(r *dump.Record, path string) ([]uint64, bool) {
	var bits, offset int
	if n, _ := fmt.Sscanf(path, "u%d@%d", &bits, &offset); n == 2 {
		return bodyNumber(r.Body, offset, bits/8)
	}
	if n, _ := fmt.Sscanf(path, "d%d@%d", &bits, &offset); n == 2 {
		return bodyNumber(r.Body, offset+clipSize(r.Body), bits/8)
	}
	if n, _ := fmt.Sscanf(path, "swapped@%d", &offset); n == 1 && len(r.Body) >= offset+4 {
		return []uint64{uint64(binary.BigEndian.Uint32(r.Body[offset:]))}, true
	}
	var within int
	if n, _ := fmt.Sscanf(path, "each@%d+%d", &offset, &within); n == 2 {
		return eachRect(r.Body, offset, within)
	}
	if r.Fields == nil {
		return nil, false
	}
	return walk(reflect.ValueOf(r.Fields), strings.Split(path, "."))
}

func bodyNumber(body []byte, offset, size int) ([]uint64, bool) {
	if len(body) < offset+size {
		return nil, false
	}
	var v uint64
	for i := range size {
		v |= uint64(body[offset+i]) << (8 * i)
	}
	return []uint64{v}, true
}

// clipSize is what the clip rectangles of a draw take, with their number.
func clipSize(body []byte) int {
	const clipType = 20
	count, found := bodyNumber(body, clipType+1, 4)
	if !found || body[clipType] != byte(spiceproto.ClipRects) {
		return 0
	}
	return 4 + 16*int(count[0])
}

// eachRect reads a u32 at an offset within each rectangle of a list.
func eachRect(body []byte, offset, within int) (all []uint64, found bool) {
	const rectSize = 16
	count, found := bodyNumber(body, offset, 4)
	for i := 0; found && i < int(count[0]); i++ {
		var v []uint64
		v, found = bodyNumber(body, offset+4+rectSize*i+within, 4)
		all = append(all, v...)
	}
	return all, found
}

// walk follows a path of field names, written as snake_case, through structs, and
// through every element of lists.
func walk(v reflect.Value, path []string) (all []uint64, found bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, false
		}
		return walk(v.Elem(), path)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			values, ok := walk(v.Index(i), path)
			if !ok {
				return nil, false
			}
			all = append(all, values...)
		}
		return all, true
	case reflect.Struct:
		return walkStruct(v, path)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return []uint64{uint64(v.Int())}, len(path) == 0
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return []uint64{v.Uint()}, len(path) == 0
	case reflect.Bool:
		if v.Bool() {
			return []uint64{1}, len(path) == 0
		}
		return []uint64{0}, len(path) == 0
	}
	return nil, false
}

func walkStruct(v reflect.Value, path []string) ([]uint64, bool) {
	if len(path) == 0 {
		return nil, false
	}
	name := strings.ReplaceAll(path[0], "_", "")
	for i := range v.NumField() {
		if f := v.Type().Field(i); !f.Anonymous && strings.EqualFold(f.Name, name) {
			return walk(v.Field(i), path[1:])
		}
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Anonymous {
			if values, found := walk(v.Field(i), path); found {
				return values, true
			}
		}
	}
	return nil, false
}
