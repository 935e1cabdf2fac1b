package spiceproto

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestRectSize(t *testing.T) {
	for _, c := range []struct {
		r             Rect
		width, height int64
		empty         bool
	}{
		{Rect{}, 0, 0, true},
		{Rect{Top: 1, Left: 2, Bottom: 5, Right: 9}, 7, 4, false},
		{Rect{Top: 5, Left: 2, Bottom: 1, Right: 9}, 0, 0, true},
		{
			Rect{math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32},
			math.MaxUint32, math.MaxUint32, false,
		},
	} {
		if c.r.Width() != c.width || c.r.Height() != c.height || c.r.Empty() != c.empty {
			t.Errorf("%+v: %d x %d, empty %v", c.r, c.r.Width(), c.r.Height(), c.r.Empty())
		}
	}
}

// The set operations agree with the pixels of a small grid.
func TestRectOperations(t *testing.T) {
	const grid = 6
	corner := rapid.Int32Range(0, grid)
	rect := rapid.Custom(func(t *rapid.T) Rect {
		return Rect{
			Top: corner.Draw(t, "top"), Left: corner.Draw(t, "left"),
			Bottom: corner.Draw(t, "bottom"), Right: corner.Draw(t, "right"),
		}
	})
	has := func(r Rect, x, y int32) bool {
		return r.Left <= x && x < r.Right && r.Top <= y && y < r.Bottom
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rect.Draw(t, "a"), rect.Draw(t, "b")
		union := a.Union(b)
		intersects, contains := false, true
		for y := range int32(grid) {
			for x := range int32(grid) {
				inA, inB := has(a, x, y), has(b, x, y)
				intersects = intersects || inA && inB
				contains = contains && (inA || !inB)
				if (inA || inB) && !has(union, x, y) {
					t.Fatalf("union %+v lacks %d,%d", union, x, y)
				}
			}
		}
		if a.Intersects(b) != intersects {
			t.Fatalf("Intersects: %v", !intersects)
		}
		if a.Contains(b) != contains {
			t.Fatalf("Contains: %v", !contains)
		}
		if a.Contains(b) && !a.Empty() && union != a {
			t.Fatalf("union %+v is larger than it must be", union)
		}
	})
}
