package keydraw

import (
	"fmt"
	"image"
	"slices"
	"strings"
)

// Sizes in pixels. The activity ends margin short of the screen's edges and
// begins gap to the right of the key box, or further: QEMU cuts what has changed
// into columns of 32 pixels (ui/spice-display.c, qemu_spice_create_update), so
// no drawing command covers both.
const (
	margin  = 16
	boxSide = 96
	gap     = 32
)

// KeyBox is where every key press changes the colour.
var KeyBox = image.Rect(margin, margin, margin+boxSide, margin+boxSide)

// Areas places the activity on a screen: three rectangles for Three, else one,
// and none without activity or room. They overlap neither each other nor the
// columns of the key box.
func Areas(k Knobs, screen image.Point) []image.Rectangle {
	if !k.animated() {
		return nil
	}
	free := image.Rectangle{
		Min: image.Pt(KeyBox.Max.X+gap, margin),
		Max: screen.Sub(image.Pt(margin, margin)),
	}
	size := image.Pt(k.Width, k.Height)
	var areas []image.Rectangle
	switch k.Activity {
	case Three:
		areas = threeAreas(free, size)
	case Scroll:
		areas = []image.Rectangle{middleRight(free, fit(size, free.Size(), image.Pt(cellWidth, cellHeight)))}
	case Text, Reading:
		areas = []image.Rectangle{middleRight(free, fit(size, free.Size(), image.Pt(glyphWidth, lineHeight)))}
	default:
		areas = []image.Rectangle{middleRight(free, fit(size, free.Size(), plasmaGrain))}
	}
	return slices.DeleteFunc(areas, image.Rectangle.Empty)
}

// fit limits a size to the room there is, in multiples of grain.
func fit(size, room, grain image.Point) image.Point {
	x, y := max(0, min(size.X, room.X)), max(0, min(size.Y, room.Y))
	return image.Pt(x-x%grain.X, y-y%grain.Y)
}

// middleRight puts an area at the right edge, vertically centred.
func middleRight(free image.Rectangle, size image.Point) image.Rectangle {
	top := free.Min.Y + (free.Dy()-size.Y)/2
	return image.Rect(free.Max.X-size.X, top, free.Max.X, top+size.Y)
}

// threeAreas puts one area into the top right corner, one into the bottom right
// and one at the left in the middle.
func threeAreas(free image.Rectangle, size image.Point) []image.Rectangle {
	size = fit(size, free.Size().Sub(image.Pt(gap, gap)).Div(2), plasmaGrain)
	area := image.Rectangle{Max: size}
	return []image.Rectangle{
		area.Add(image.Pt(free.Max.X-size.X, free.Min.Y)),
		area.Add(free.Max.Sub(size)),
		area.Add(image.Pt(free.Min.X, free.Min.Y+(free.Dy()-size.Y)/2)),
	}
}

// describe formats areas for the console, each with a blank before it.
func describe(areas []image.Rectangle) string {
	var b strings.Builder
	for _, r := range areas {
		fmt.Fprintf(&b, " area=%s", corners(r))
	}
	return b.String()
}

func corners(r image.Rectangle) string {
	return fmt.Sprintf("%d,%d,%d,%d", r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
}

// ParseAreas reads the areas from a START or MODE line.
func ParseAreas(line string) ([]image.Rectangle, error) {
	var areas []image.Rectangle
	for word := range strings.FieldsSeq(line) {
		value, ok := strings.CutPrefix(word, "area=")
		if !ok {
			continue
		}
		var r image.Rectangle
		if _, err := fmt.Sscanf(value, "%d,%d,%d,%d", &r.Min.X, &r.Min.Y, &r.Max.X, &r.Max.Y); err != nil {
			return nil, fmt.Errorf("guest's line %q: %s: %w", line, word, err)
		}
		areas = append(areas, r)
	}
	return areas, nil
}
