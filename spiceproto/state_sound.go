package spiceproto

// soundRules follow START and STOP of playback and record, which the server
// alternates strictly. Its DATA keeps no order with them: a frame overtakes the
// START it was queued behind, and one may follow the STOP
// (playback_channel_send_item in sound.cpp). A recording client starts after
// START, and may have DATA under way when STOP comes.
type soundRules struct {
	playing, ever bool
}

func (r *soundRules) observe(m *Machine, msg *observed) {
	if msg.dir == ClientToServer {
		if msg.Type == MsgcRecordData && !r.ever && !m.target {
			m.report(RuleSoundOrder, 0, 0)
		}
		return
	}
	start, stop, volume := MsgPlaybackStart, MsgPlaybackStop, MsgPlaybackVolume
	if m.channel == ChannelRecord {
		start, stop, volume = MsgRecordStart, MsgRecordStop, MsgRecordVolume
	}
	switch msg.Type {
	case start, stop:
		if r.playing == (msg.Type == start) && (r.ever || !m.target) {
			m.report(RuleSoundOrder, 0, 0)
		}
		r.playing, r.ever = msg.Type == start, true
	case volume:
		m.count(msg.Size, 1, 2, uint64(msg.head[0]))
	}
}
