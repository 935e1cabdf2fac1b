package pacer

import (
	"testing"

	"spicepacer/spiceproto"
)

// The queue counts as one that does not grow only while most of what comes can be
// replaced and can replace.
func TestSortable(t *testing.T) {
	put := fill(spiceproto.Rect{Bottom: 10, Right: 10})
	mixes, chained := put, put
	mixes.Effect.Overwrites, mixes.Effect.ReadsDest = false, true
	chained.Effect.Uses = spiceproto.UsesGLZ
	for _, c := range []struct {
		name    string
		reorder bool
		m       Message
		want    bool
	}{
		{"what replaces and is replaced", true, put, true},
		{"what is only replaced", true, mixes, false},
		{"what only replaces", true, chained, false},
		{"no reordering", false, put, false},
	} {
		ch := NewChannel(Config{Mode: Adaptive, Reorder: c.reorder})
		for range 100 {
			ch.sortable.add(&c.m)
		}
		if ch.sorts() != c.want {
			t.Errorf("%s: sorts is %t", c.name, ch.sorts())
		}
	}
}
