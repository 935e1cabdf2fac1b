package keydraw

import (
	"image"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var screen1280 = image.Pt(1280, 800)

func TestAreas(t *testing.T) {
	for _, tc := range []struct {
		name   string
		knobs  Knobs
		screen image.Point
		want   []image.Rectangle
	}{
		{"no frames", Knobs{Width: 640, Height: 480, Activity: Plasma}, screen1280, nil},
		{"none", Knobs{FPS: 30, Width: 640, Height: 480, Activity: None}, screen1280, nil},
		{"Kerbside's", Knobs{FPS: 30, Width: 640, Height: 480, Activity: Plasma}, screen1280,
			[]image.Rectangle{image.Rect(624, 160, 1264, 640)}},
		{"large", Knobs{FPS: 30, Width: 1120, Height: 640, Activity: Plasma}, screen1280,
			[]image.Rectangle{image.Rect(144, 80, 1264, 720)}},
		{"clamped", Knobs{FPS: 30, Width: 5000, Height: 5000, Activity: Plasma}, screen1280,
			[]image.Rectangle{image.Rect(144, 16, 1264, 784)}},
		{"scroll in whole cells", Knobs{FPS: 30, Width: 103, Height: 50, Activity: Scroll}, screen1280,
			[]image.Rectangle{image.Rect(1168, 376, 1264, 424)}},
		{"text in whole lines", Knobs{FPS: 30, Width: 103, Height: 50, Activity: Reading}, screen1280,
			[]image.Rectangle{image.Rect(1168, 376, 1264, 424)}},
		{"three", Knobs{FPS: 30, Width: 320, Height: 240, Activity: Three}, screen1280, []image.Rectangle{
			image.Rect(944, 16, 1264, 256), image.Rect(944, 544, 1264, 784), image.Rect(144, 280, 464, 520)}},
		{"no room", Knobs{FPS: 30, Width: 640, Height: 480, Activity: Plasma}, image.Pt(150, 100), nil},
	} {
		if got := Areas(tc.knobs, tc.screen); !slices.Equal(got, tc.want) {
			t.Errorf("%s: areas %v, want %v", tc.name, got, tc.want)
		}
	}
}

// Whatever is asked for, areas stay on the screen, out of each other and out of
// the columns next to the key box.
func TestAreasKeepApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Knobs{
			FPS:      30,
			Width:    rapid.IntRange(1, 3000).Draw(t, "width"),
			Height:   rapid.IntRange(1, 3000).Draw(t, "height"),
			Activity: rapid.SampledFrom([]Activity{Plasma, Scroll, Three, Windows, Text, Reading, Photos}).Draw(t, "activity"),
		}
		screen := image.Pt(rapid.IntRange(128, 2560).Draw(t, "screen width"), rapid.IntRange(128, 1600).Draw(t, "screen height"))
		areas := Areas(k, screen)
		for i, area := range areas {
			if !area.In(image.Rectangle{Max: screen}) || area.Empty() {
				t.Errorf("area %v on a screen of %v", area, screen)
			}
			if area.Min.X-KeyBox.Max.X < 32 {
				t.Errorf("area %v shares a column of 32 pixels with the key box", area)
			}
			for _, other := range areas[:i] {
				if area.Overlaps(other) {
					t.Errorf("areas %v and %v overlap", area, other)
				}
			}
		}
	})
}

func TestParseAreas(t *testing.T) {
	want := Areas(Knobs{FPS: 30, Width: 320, Height: 240, Activity: Three}, screen1280)
	if got, err := ParseAreas(StartLine + " screen=1280x800" + describe(want) + " fps=30"); err != nil || !slices.Equal(got, want) {
		t.Errorf("ParseAreas = %v, %v, want %v", got, err, want)
	}
	if _, err := ParseAreas(StartLine + " area=1,2,3"); err == nil {
		t.Error("ParseAreas accepts a rectangle of three numbers")
	}
}
