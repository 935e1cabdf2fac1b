package cost

import (
	"fmt"
	"slices"
	"strings"

	"spicepacer/spiceproto"
)

// The arms: ways to carry a load.
const (
	armHAProxy     = "haproxy" // to which the others are compared
	armPassthrough = "passthrough"
	armAdaptive    = "adaptive"
	armFIFO        = "fifo" // adaptive in the hypervisor's own order
)

var arms = []string{armHAProxy, armPassthrough, armAdaptive, armFIFO}

// paced tells that an arm treats display channels in a way of their own.
func paced(arm string) bool { return arm == armAdaptive || arm == armFIFO }

func checkArms(names []string) error {
	for i, name := range names {
		if !slices.Contains(arms, name) {
			return fmt.Errorf("arm %q is none of %s", name, strings.Join(arms, ", "))
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("arm %q is named twice", name)
		}
	}
	return nil
}

// cell is one measurement.
type cell struct {
	load   load
	arm    string
	repeat int // from 1
}

// String names the cell for people.
func (c cell) String() string {
	return fmt.Sprintf("%s %s, repeat %d", c.load.name, c.arm, c.repeat)
}

// plan orders the cells: the arms of a load follow each other, so that slow
// changes of the machine meet all of them, and each repeat begins with another
// arm, so that none profits from its place. Only display channels are paced: for
// others such an arm is passthrough, and left out.
func plan(loads []load, arms []string, repeats int) []cell {
	var cells []cell
	for r := range repeats {
		for _, l := range loads {
			for i := range arms {
				c := cell{load: l, arm: arms[(i+r)%len(arms)], repeat: r + 1}
				if !paced(c.arm) || l.channel == spiceproto.ChannelDisplay {
					cells = append(cells, c)
				}
			}
		}
	}
	return cells
}
