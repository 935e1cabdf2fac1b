package pacer

// sortableWeight is the weight of a new draw in the share of sortable ones: a
// sweep of small updates decides, a few draws of another kind do not.
const sortableWeight = 1. / 16

// sortable is the share of recent draws that can take the place of older ones.
// From a server that sends GLZ, and will not be asked for anything else, it is
// none: then whatever comes makes the queue longer.
type sortable float64

func (s *sortable) add(m *Message) {
	is := sortable(0)
	if f := footprintOf(*m); f.overwrites && droppable(&f) {
		is = 1
	}
	*s += (is - *s) * sortableWeight
}

// sorts tells that the queue lets the newest updates take the place of older
// ones, so that it does not grow with what arrives.
func (c *Channel) sorts() bool { return c.cfg.Reorder && c.sortable > 1./2 }
