package observe

import (
	"time"

	"spicepacer/pacer"
	"spicepacer/session"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// totals are sums over channels that never fall. The zero value is ready, and a
// copy is independent.
type totals struct {
	bytes     [spiceproto.ChannelWebDAV + 1][2]uint64 // by type and direction
	truncated [spiceproto.ChannelWebDAV + 1][2]uint64
	firewall  [spiceproto.ChannelWebDAV + 1]firewall.Counts
	displays  [pacer.Adaptive + 1]displayTotals // by mode
}

type displayTotals struct {
	held, sweeps                      uint64
	replaced, replacedBytes, overtook uint64
	holdTime                          time.Duration
}

// add adds what c has counted so far.
func (t *totals) add(c session.ChannelInfo) {
	t.bytes[c.Type][spiceproto.ServerToClient] += c.Stats.BytesToClient.Load()
	t.bytes[c.Type][spiceproto.ClientToServer] += c.Stats.BytesToServer.Load()
	for d := range c.Stats.Truncated {
		t.truncated[c.Type][d] += c.Stats.Truncated[d].Load()
	}
	t.firewall[c.Type].Add(c.Stats.Firewall.Counts())
	if c.Type != spiceproto.ChannelDisplay {
		return
	}
	d := &t.displays[c.Mode]
	d.held += c.Stats.AcksHeld.Load()
	d.holdTime += time.Duration(c.Stats.HoldTime.Load())
	d.sweeps += c.Stats.Sweeps.Load()
	d.replaced += c.Stats.Replaced.Load()
	d.replacedBytes += c.Stats.ReplacedBytes.Load()
	d.overtook += c.Stats.Overtook.Load()
}
