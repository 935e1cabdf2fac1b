package pacer

import (
	"slices"
	"testing"

	"spicepacer/spiceproto"
)

// replaced returns the names of the messages that went with the last one.
func replaced(o *Order, name string, m Message) (names []string) {
	e := &Entry{Value: name}
	o.Push(e, m, 1000)
	for _, x := range o.Complete(e, 0, 0) {
		names = append(names, x.Value.(string))
	}
	return names
}

// What newer draws cover goes, though one alone does not cover it, and though it
// depended on what was there before.
func TestOrderReplaces(t *testing.T) {
	left, right := spiceproto.Rect{Bottom: 32, Right: 16}, spiceproto.Rect{Left: 16, Bottom: 32, Right: 32}
	both := left.Union(right)
	mixes := fill(both)
	mixes.Effect.Overwrites, mixes.Effect.ReadsDest = false, true
	clipped := fill(both)
	clipped.Effect.Clip = spiceproto.ClipRects
	moved := fill(right)
	moved.Effect.Overwrites, moved.Effect.ReadsDest, moved.Effect.CopyFrom = false, true, both
	for _, c := range []struct {
		name   string
		before []Message
		last   Message
		want   []string
	}{
		{"the same place", []Message{fill(both)}, fill(both), []string{"0"}},
		{"one that mixes", []Message{mixes}, fill(both), []string{"0"}},
		{"one with a clip", []Message{clipped}, fill(both), []string{"0"}},
		{"one half", []Message{fill(both)}, fill(left), nil},
		{"two halves", []Message{fill(both), fill(left)}, fill(right), []string{"0"}},
		{"the same half twice", []Message{fill(both), fill(left)}, fill(left), []string{"1"}},
		{"by a clip", []Message{fill(both)}, clipped, nil},
		{"what a newer one mixes with", []Message{fill(both), mixes}, fill(both), []string{"1"}},
		{"what a copy takes with it", []Message{fill(both), moved}, fill(both), []string{"1"}},
		{"what is read twice", []Message{fill(both), moved, fill(right), mixes}, fill(both), []string{"3"}},
		{"across a mark", []Message{fill(both), {Op: spiceproto.MsgDisplayMark}}, fill(both), nil},
	} {
		var o Order
		o.Resize(640, 480)
		for i, m := range c.before {
			replaced(&o, string(rune('0'+i)), m)
		}
		got := replaced(&o, "last", c.last)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v went, want %v", c.name, got, c.want)
		}
	}
}

// A message has the turn of the one whose place it takes, and its urgency.
func TestOrderReplacesInItsTurn(t *testing.T) {
	a, b := spiceproto.Rect{Bottom: 32, Right: 32}, spiceproto.Rect{Left: 64, Bottom: 32, Right: 96}
	for _, urgent := range []bool{false, true} {
		var o Order
		o.Resize(640, 480)
		first := arrive(&o, "first", fill(a))
		second := arrive(&o, "second", fill(b))
		first.urgent, first.place = urgent, 5
		second.urgent, second.place = false, 7
		o.Sent(100, 0)
		o.fair.serve(a) // a was sent just now: by itself, the next would wait
		o.fair.spent = true
		newest := arrive(&o, "newest", fill(a))
		if newest.urgent != urgent || newest.place != 5 {
			t.Errorf("urgent %t: the newest is urgent %t at place %d", urgent, newest.urgent, newest.place)
		}
	}
}

// Once arrival order is asked for, it is kept, and nothing goes.
func TestOrderKeepsArrivalOrder(t *testing.T) {
	a, b := spiceproto.Rect{Bottom: 32, Right: 32}, spiceproto.Rect{Left: 64, Bottom: 32, Right: 96}
	var o Order
	o.Resize(640, 480)
	first := arrive(&o, "first", fill(a))
	first.place = 10
	o.KeepArrivalOrder()
	if got := replaced(&o, "second", fill(a)); got != nil || o.Reorders() {
		t.Errorf("%v went, reorders %t", got, o.Reorders())
	}
	arrive(&o, "third", fill(b))
	if got := popAll(&o); !slices.Equal(got, []string{"first", "second", "third"}) {
		t.Errorf("%v", got)
	}
}

// Each draw of a staircase must go after the one before, however far down the one
// stands whose turn it is.
func TestOrderKeepsLongChains(t *testing.T) {
	var o Order
	o.Resize(1920, 1080)
	const steps = 3 * maxChain
	for i := range int32(steps) {
		m := fill(spiceproto.Rect{Left: 32 * i, Bottom: 32, Right: 32*i + 40})
		m.Effect.Overwrites, m.Effect.ReadsDest = false, true
		last := &Entry{Value: i}
		o.Push(last, m, 1000)
		o.Complete(last, 0, 0)
		o.ready.remove(last)
		last.urgent = i == steps-1 // the last one's turn has come
		o.ready.push(last)
	}
	for i := range int32(steps) {
		if e := o.Pop(); e.Value != i {
			t.Fatalf("step %v goes, want %d", e.Value, i)
		}
	}
}

// A message that went before it was whole does not go again.
func TestOrderKeepsWhatHasBegun(t *testing.T) {
	var o Order
	o.Resize(640, 480)
	e := &Entry{Value: "begun"}
	o.Push(e, fill(spiceproto.Rect{Bottom: 32, Right: 32}), 1000)
	if got := o.Pop(); got != e {
		t.Fatalf("%v goes", got)
	}
	o.Complete(e, 0, 0)
	if got := o.Pop(); got != nil {
		t.Errorf("%v goes again", got.Value)
	}
}

// What changes the client's caches goes before what it does not depend on, if its
// turn has come.
func TestOrderKeepsOnlyWhatDepends(t *testing.T) {
	var o Order
	o.Resize(640, 480)
	chained := fill(spiceproto.Rect{Left: 64, Bottom: 32, Right: 96})
	chained.Effect.Uses = spiceproto.UsesStore
	arrive(&o, "first", fill(spiceproto.Rect{Bottom: 32, Right: 32})).place = 10
	e := &Entry{Value: "chained"}
	o.Push(e, chained, 1000)
	o.Complete(e, 0, 0)
	o.ready.remove(e)
	e.urgent = true
	o.ready.push(e)
	if got := popAll(&o); !slices.Equal(got, []string{"chained", "first"}) {
		t.Errorf("%v", got)
	}
}
