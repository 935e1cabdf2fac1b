package pacer_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is a wrong change to one of the rules of the display queue.
type mutant struct {
	file     string
	old, new string // old occurs once in the file
}

// mutants are those that a test must find, one for each condition. Not here are
// conditions that only make the queue do less or cost more.
var mutants = []mutant{
	{"proof.go", "m.Effect.Doubt == spiceproto.DoubtNone", "m.Effect.Doubt != spiceproto.DoubtUnread"},
	{"proof.go", "return footprint{proved: true, chained: true}", "return footprint{proved: true}"},
	{"proof.go", "\t}\n\treturn footprint{}\n}\n\nfunc drawFootprint", "\t}\n\treturn footprint{proved: true}\n}\n\nfunc drawFootprint"},
	{"proof.go", "m.Op == spiceproto.MsgDisplayInvalPalette:", "m.Op == spiceproto.MsgDisplayInvalPalette, m.Op == spiceproto.MsgDisplayInvalAllPixmaps:"},
	{"proof.go", "m.Op == spiceproto.MsgDisplayInvalPalette:", "m.Op == spiceproto.MsgDisplayInvalPalette, m.Op == spiceproto.MsgDisplayStreamData:"},
	{"proof.go", "m.Op == spiceproto.MsgDisplayInvalPalette:", "m.Op == spiceproto.MsgDisplayInvalPalette, m.Op == spiceproto.MsgDisplayMark:"},
	{"proof.go", "m.Op == spiceproto.MsgDisplayInvalPalette:", "m.Op == spiceproto.MsgDisplayInvalPalette, m.Op == spiceproto.MsgSetAck:"},
	{"proof.go", "e.Surface != 0 || ", ""},
	{"proof.go", " || e.Uses&spiceproto.UsesSurface != 0", ""},
	{"proof.go", "chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesStore != 0"},
	{"proof.go", "chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesCache != 0"},
	{"proof.go", "chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesPaletteStore != 0"},
	{"proof.go", "chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesPaletteCache != 0"},
	{"proof.go", "chained: e.Uses != 0", "chained: e.Uses&^spiceproto.UsesGLZ != 0"},
	{"proof.go", "e.Overwrites && e.Clip", "e.Clip"},
	{"proof.go", " && e.Clip == spiceproto.ClipNone", ""},
	{"proof.go", "reads: e.CopyFrom,", ""},
	{"proof.go", "if e.ReadsDest && f.reads.Empty()", "if false"},
	{"proof.go", "if e.ReadsDest && f.reads.Empty()", "if e.ReadsDest"},
	{"proof.go", "return a.proved && b.proved &&", "return b.proved &&"},
	{"proof.go", "return a.proved && b.proved &&", "return a.proved &&"},
	{"proof.go", "!(a.chained && b.chained) &&", ""},
	{"proof.go", "!a.writes.Intersects(b.writes) &&", ""},
	{"proof.go", "!a.reads.Intersects(b.writes) &&", ""},
	{"proof.go", " &&\n\t\t!a.writes.Intersects(b.reads)", ""},
	{"proof.go", "return x.proved && !x.chained", "return !x.chained"},
	{"proof.go", "x.proved && !x.chained && ", "x.proved && "},
	{"proof.go", " && !x.writes.Empty()", ""},
	{"proof.go", "return n.proved && n.overwrites", "return n.overwrites"},
	{"proof.go", "n.overwrites && ", ""},
	{"proof.go", "droppable(x) && ", ""},
	{"proof.go", " && n.writes.Intersects(x.writes)", ""},

	{"remainder.go", "return r.n == 0 && !r.lost", "return true"},
	{"remainder.go", "return r.n == 0 && !r.lost", "return r.n == 0 || r.lost"},
	{"remainder.go", "\tif r.lost {\n\t\treturn false\n\t}\n", ""},
	{"remainder.go", "r.lost = true", "_ = p"},
	{"remainder.go", "\t\tr.add(p)\n\t\treturn", "\t\treturn"},
	{"remainder.go", "\tr.add(spiceproto.Rect{Top: p.Top, Left: p.Left, Bottom: top, Right: p.Right})\n", ""},
	{"remainder.go", "\tr.add(spiceproto.Rect{Top: bottom, Left: p.Left, Bottom: p.Bottom, Right: p.Right})\n", ""},
	{"remainder.go", "\tr.add(spiceproto.Rect{Top: top, Left: p.Left, Bottom: bottom, Right: box.Left})\n", ""},
	{"remainder.go", "\tr.add(spiceproto.Rect{Top: top, Left: box.Right, Bottom: bottom, Right: p.Right})\n", ""},

	{"grid.go", "right: at(box.Right-1, g.columns) + 1", "right: at(box.Right-1, g.columns)"},
	{"grid.go", "bottom: at(box.Bottom-1, g.rows) + 1", "bottom: at(box.Bottom-1, g.rows)"},
	{"grid.go", "g.touched(e.f.writes), g.touched(e.f.reads)", "g.touched(e.f.writes), {}"},
	{"grid.go", "g.touched(e.f.writes), g.touched(e.f.reads)", "{}, g.touched(e.f.reads)"},
	{"grid.go", "\tfor _, o := range g.wide {\n\t\tf(o)\n\t}\n", ""},
	{"grid.go", "for o := oldest; o != nil && o.seq <= e.seq; o = o.newer {", "for _, o := range g.wide {"},

	{"order.go", "\tif e.f.proved && !e.f.reads.Empty() {\n\t\to.pin(e)\n\t}\n", ""},
	{"order.go", "x.f.writes.Intersects(e.f.reads)", "x.f.writes == e.f.reads"},
	{"order.go", "if f.proved && !o.grid.insert(e) {\n\t\te.f = footprint{}", "if f.proved && !o.grid.insert(e) {"},
	{"order.go", "\t\to.barriers.insert(e, barrierLink)\n", ""},
	{"order.go", "\t\to.barrier = max(o.barrier, e.seq)\n", ""},
	{"order.go", "\t\to.chained.insert(e, chainedLink)\n", ""},
	{"order.go", "if !o.fifo && !e.f.writes.Empty() {\n\t\te.left", "if !e.f.writes.Empty() {\n\t\te.left"},
	{"order.go", "x.seq >= e.seq || x.seq < o.barrier", "x.seq < o.barrier"},
	{"order.go", " || x.seq < o.barrier", ""},
	{"order.go", " || x.pinned", ""},
	{"order.go", " || !x.queued || !covers", " || !covers"},
	{"order.go", "!covers(&e.f, &x.f)", "!e.f.writes.Contains(x.f.writes)"},
	{"order.go", "\t\tif !x.left.subtract(e.f.writes) {\n\t\t\treturn\n\t\t}\n", ""},
	{"order.go", "\t\to.stats.ReplacedBytes += uint64(x.size)\n\t\to.unlink(x)\n", "\t\to.stats.ReplacedBytes += uint64(x.size)\n"},
	{"order.go", "if e == nil || o.fifo {", "if e == nil {"},
	{"order.go", "\t\te = b\n\t}\n\treturn o.oldest", "\t\te = b\n\t}\n\treturn e"},
	{"order.go", "\tif !e.f.proved {\n\t\treturn olderThan(o.oldest, e)\n\t}\n", ""},
	{"order.go", "\tif b := olderThan(o.barriers.first, e); b != nil {\n\t\treturn b\n\t}\n", ""},
	{"order.go", "\tif e.f.chained {\n\t\tfirst = olderThan(o.chained.first, e)\n\t}\n", ""},
	{"order.go", "if x.seq < e.seq && (first", "if (first"},
	{"order.go", "!commutes(&x.f, &e.f)", "x.f.writes.Intersects(e.f.writes)"},
	{"order.go", "\to.ready.remove(e)\n", ""},
	{"order.go", "\t\to.barriers.remove(e, barrierLink)\n", ""},
	{"order.go", "\tcase e.f.chained:\n\t\to.chained.remove(e, chainedLink)\n\t}\n\to.grid", "\t}\n\to.grid"},
	{"order.go", "\t}\n\to.grid.remove(e)\n}", "\t}\n}"},
	{"order.go", "\t\to.enter(e, footprint{})\n", ""},

	{"entrylist.go", "l.last == nil || l.last.seq < e.seq", "true"},

	// Policy: what is good, not what is right.
	{"entrylist.go", "\tif a.urgent != b.urgent {\n\t\treturn a.urgent\n\t}\n", ""},
	{"entrylist.go", "\tif a.place != b.place {\n\t\treturn a.place < b.place\n\t}\n", ""},
	{"order.go", "\t\te.place = o.fair.turn(e.f.writes)\n", ""},
	{"order.go", "\t\to.fair.serve(e.f.writes)\n", "\t\t_ = 0\n"},
	{"fair.go", " || f.credit <= 0", ""},
	{"fair.go", "\tf.credit -= size\n", ""},
	{"fair.go", "f.credit+n/urgentPart", "f.credit+n"},
	{"fair.go", "still := *due <= limit", "still := true"},
	{"fair.go", "still := *due <= limit", "still := false"},
	{"fair.go", " || (right-left)*(bottom-top) > maxPlaces", ""},
}

const longVariable = "SPICEPACER_LONG" // 1: run the long tests

// Every wrong rule is found by the tests of the display queue's order. It takes
// some minutes, and the go command.
func TestMutants(t *testing.T) {
	if os.Getenv(longVariable) == "" {
		t.Skipf("%s is not set", longVariable)
	}
	for _, m := range mutants {
		t.Run(m.file, func(t *testing.T) {
			source, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.old); n != 1 {
				t.Fatalf("%q occurs %d times in %s, want once", m.old, n, m.file)
			}
			binary := m.build(t, strings.Replace(string(source), m.old, m.new, 1))
			if !fails(t, binary, "Proof") && !fails(t, binary, "OrderShows") && !fails(t, binary, "Order|Fair") {
				t.Errorf("no test finds that in %s\n%s\nbecame\n%s", m.file, m.old, m.new)
			}
		})
	}
}

// build compiles the tests of this package with another text of the file.
func (m mutant) build(t *testing.T, text string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	changed, overlay := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {here: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(text), overlay: replace} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(dir, "mutant.test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("mutant does not compile: %v\n%s", err, out)
	}
	return binary
}

// fails runs the tests of one name, and tells whether one fails. One that goes
// on for ever fails, too.
func fails(t *testing.T, binary, name string) bool {
	t.Helper()
	cmd := exec.Command(binary, "-test.run", name, "-test.failfast", "-test.timeout", "2m", "-rapid.nofailfile")
	cmd.Dir, cmd.Env = ".", append(os.Environ(), longVariable+"=")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run the tests of %s: %v\n%s", binary, err, out)
	}
	return err != nil
}
