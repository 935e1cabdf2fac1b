package spiceproto

// Flags of a cursor.
const (
	cursorNone      = 1 << 0
	cursorCacheMe   = 1 << 1
	cursorFromCache = 1 << 2
)

// headCursorSize: u64 unique, u8 type, u16 width, height, hot_x, hot_y.
const headCursorSize = 17

// cursorRules follow the cursor cache, which INIT empties
// (reset_cursor_cache in cursor-channel.cpp).
type cursorRules struct {
	cache idCache
}

func (r *cursorRules) observe(m *Machine, msg *observed) {
	switch msg.Type {
	case MsgCursorInit:
		r.cache.clear()
		r.cursor(m, msg, 9) // Point16, u16, u16, u8
	case MsgCursorSet:
		r.cursor(m, msg, 5) // Point16, u8
	case MsgCursorInvalOne:
		r.cache.drop(le.Uint64(msg.head))
	case MsgCursorInvalAll:
		r.cache.clear()
	}
}

// cursor reads the cursor at off: u16 flags, the header unless NONE, pixels.
func (r *cursorRules) cursor(m *Machine, msg *observed, off int) {
	flags := le.Uint16(msg.head[off:])
	if flags&cursorNone != 0 {
		return
	}
	end := off + 2 + headCursorSize
	if int64(msg.Size) < int64(end) {
		m.report(RuleMalformed, uint64(msg.Size), uint64(end))
		return
	}
	if len(msg.head) < end {
		r.cache.forget()
		return
	}
	id := le.Uint64(msg.head[off+2:])
	switch {
	case flags&cursorFromCache != 0:
		if !r.cache.holds(id) && !m.target {
			m.report(RuleCursorCache, id, 0)
		}
	case flags&cursorCacheMe != 0:
		r.cache.store(id)
	}
}
