package spiceproto

// channelOpening is the message that opens a channel, before which the same side
// sends no other channel message.
type channelOpening struct {
	dir Direction
	op  uint16
	// again: it may be repeated. cursor's is, whenever the guest sets a mode
	// (cursor_channel_do_init in cursor-channel.cpp).
	again bool
}

// channelOpenings is indexed by ChannelType; op 0 is none.
var channelOpenings = [ChannelWebDAV + 1]channelOpening{
	ChannelMain:    {ServerToClient, MsgMainInit, false},
	ChannelDisplay: {ClientToServer, MsgcDisplayInit, false},
	ChannelInputs:  {ServerToClient, MsgInputsInit, false},
	ChannelCursor:  {ServerToClient, MsgCursorInit, true},
	ChannelPort:    {ServerToClient, MsgPortInit, false},
	ChannelWebDAV:  {ServerToClient, MsgPortInit, false},
}

// opening checks that the channel is opened first and once. A migration target
// is opened by what it is handed over, if at all.
func (m *Machine) opening(msg *observed) {
	o := &channelOpenings[m.channel]
	if o.op == 0 {
		m.open()
		return
	}
	if msg.Type == o.op && msg.dir == o.dir {
		if m.opened && !o.again {
			m.report(RuleInitTwice, 0, 0)
		}
		m.opened = true
		m.open()
		return
	}
	if m.opened || m.target || m.unopened || !m.waitsForOpening(o, msg) {
		return
	}
	m.unopened = true
	m.report(RuleInitFirst, 0, 0)
}

// waitsForOpening reports whether msg must not come before the opening. A peer
// that does not send the opening may speak before it arrives, except that a
// display server waits for the client's INIT: dcc_start in dcc.cpp does, the
// displays of guest streams (stream-channel.cpp) do not, and send the messages
// listed here.
func (m *Machine) waitsForOpening(o *channelOpening, msg *observed) bool {
	if msg.dir == o.dir {
		return true
	}
	if m.channel != ChannelDisplay {
		return false
	}
	switch msg.Type {
	case MsgDisplayInvalAllPalettes, MsgDisplaySurfaceCreate, MsgDisplaySurfaceDestroy,
		MsgDisplayMonitorsConfig, MsgDisplayDrawFill, MsgDisplayMark, MsgDisplayStreamCreate,
		MsgDisplayStreamData, MsgDisplayStreamDestroy, MsgDisplayStreamActivateReport:
		return false
	}
	return true
}

func (m *Machine) open() {
	if m.phase == PhaseInitialised {
		m.phase = PhaseActive
	}
}
