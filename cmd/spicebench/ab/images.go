package ab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"spicepacer/cmd/spicebench/client"
)

// pictures is what the pixels of a group cost, all repeats together.
type pictures struct {
	types map[string]client.Tally // by image type
	all   client.Tally
}

func (g *group) pictures() pictures {
	p := pictures{types: map[string]client.Tally{}}
	for _, r := range g.good {
		for name, t := range r.Client.Images {
			p.types[name] = p.types[name].Plus(t)
		}
		p.all = p.all.Plus(r.Client.Painted())
	}
	return p
}

// describe tells what share of the pixels came in which type of image, the largest
// first, and what each cost. What is less than half a percent is left out.
func (p pictures) describe() string {
	names := slices.SortedFunc(maps.Keys(p.types), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.types[b].Pixels, p.types[a].Pixels), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names {
		t := p.types[name]
		if share := 100 * float64(t.Pixels) / float64(p.all.Pixels); share >= 0.5 {
			parts = append(parts, fmt.Sprintf("%s %.0f %% at %.3f", name, share, t.BytesPerPixel()))
		}
	}
	return strings.Join(parts, ", ")
}

// imageTable tells what pixels cost, under each load that painted any; nil if none
// did.
func imageTable(groups []*group) (rows [][]string) {
	base := map[key]pictures{} // by the key of the baseline
	for _, g := range groups {
		if g.arm == baseline {
			base[g.key] = g.pictures()
		}
	}
	for _, g := range groups {
		p := g.pictures()
		if p.all.Pixels == 0 {
			continue
		}
		like := base[key{g.profile, g.activity, baseline}].all
		rows = append(rows, []string{
			g.profile, g.activity, g.arm, g.summarise().window(),
			fmt.Sprintf("%.2f", float64(p.all.Pixels)/1e6),
			fmt.Sprintf("%.4f", p.all.BytesPerPixel()),
			ratio(p.all.BytesPerPixel(), like.BytesPerPixel()),
			p.describe(),
		})
	}
	if rows == nil {
		return nil
	}
	titles := []string{"ms:Mbit/s", "activity", "arm", "W", "Mpixel", "B/pixel", "× B/pixel", "images"}
	return slices.Insert(rows, 0, titles)
}
