package session

import (
	"sync/atomic"
	"time"

	"spicepacer/session/firewall"
)

// Stats is what one channel shows to the metrics page while it lives. The
// relay writes it, a scrape reads it; every field is independent.
type Stats struct {
	// BytesToClient and BytesToServer count SPICE bytes written, headers included.
	BytesToClient, BytesToServer atomic.Uint64
	// QueueBytes are the bytes held in the display queue now.
	QueueBytes atomic.Int64
	// BudgetBytes is what may stand in the client's socket, unacknowledged.
	BudgetBytes atomic.Int64
	// RateBytes is the estimated rate of the client's link in bytes per second.
	RateBytes atomic.Int64
	// MinRTT is the client link's base round trip in nanoseconds.
	MinRTT atomic.Int64
	// AcksHeld counts ACKs that left later than they might have; HoldTime is
	// how long they waited in all, in nanoseconds.
	AcksHeld atomic.Uint64
	HoldTime atomic.Int64
	// Sweeps counts grants of the read valve.
	Sweeps atomic.Uint64
	// Replaced counts messages that were not sent because newer ones cover them,
	// ReplacedBytes their bytes, headers included; Overtook counts messages sent
	// before older ones.
	Replaced, ReplacedBytes, Overtook atomic.Uint64
	// Truncated counts the messages of a direction, by spiceproto.Direction, in the
	// middle of which their sender closed the stream: at most one.
	Truncated [2]atomic.Uint64
	// Firewall is what the firewall counts; nil if it is off.
	Firewall *firewall.Tally
}

// AddHold books one ACK that was held for d.
func (s *Stats) AddHold(d time.Duration) {
	s.AcksHeld.Add(1)
	s.HoldTime.Add(int64(d))
}
