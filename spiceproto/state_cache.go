package spiceproto

import "slices"

// idCache follows, in little memory, which ids a client's cache cannot hold:
// none before the first was stored, and not those invalidated lately. Whatever
// it does not know it takes for stored.
type idCache struct {
	stored bool // something may be in the cache
	gone   [32]uint64
	n      uint8 // how many of gone are meant
	next   uint8
}

// store puts id into the cache.
func (c *idCache) store(id uint64) {
	c.stored = true
	if i := slices.Index(c.gone[:c.n], id); i >= 0 {
		c.n--
		c.gone[i] = c.gone[c.n]
		c.next = c.n
	}
}

// drop takes id out. The oldest such id is forgotten when there are too many.
func (c *idCache) drop(id uint64) {
	if slices.Contains(c.gone[:c.n], id) {
		return
	}
	c.gone[c.next] = id
	c.n = max(c.n, c.next+1)
	c.next = (c.next + 1) % uint8(len(c.gone))
}

// clear empties the cache.
func (c *idCache) clear() { *c = idCache{} }

// forget gives up what is known: anything may have been stored.
func (c *idCache) forget() { *c = idCache{stored: true} }

// holds reports whether the cache may hold id.
func (c *idCache) holds(id uint64) bool {
	return c.stored && !slices.Contains(c.gone[:c.n], id)
}
