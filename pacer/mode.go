package pacer

import "fmt"

// Mode says how much of a display channel's flow the proxy takes into its own
// hands.
type Mode uint8

const (
	// Passthrough relays ACKs and bytes as they come: the control arm of every
	// comparison.
	Passthrough Mode = iota
	// Withhold forwards the client's own ACKs, only later; it changes no order
	// and drops nothing.
	Withhold
	// Adaptive answers the server's ACK window itself and grants whole sweeps.
	Adaptive
)

var modeNames = [...]string{"passthrough", "withhold", "adaptive"}

// Modes lists every mode, for configuration checks and metric labels.
func Modes() []Mode { return []Mode{Passthrough, Withhold, Adaptive} }

// String returns the mode's name as the configuration spells it.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode-%d", uint8(m))
}

// ParseMode is the inverse of String.
func ParseMode(s string) (Mode, error) {
	for i, n := range modeNames {
		if n == s {
			return Mode(i), nil
		}
	}
	return Passthrough, fmt.Errorf("unknown mode %q (passthrough, withhold or adaptive)", s)
}
