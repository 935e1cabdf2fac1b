// Package firewall judges the messages of a channel: their sizes and their rate
// (L0), whether the channel has such messages at all (L1), and whether they stand
// where the protocol admits them (L2). It does not carry messages; who does asks
// before anything of a message is passed on:
//
//	guard := firewall.New(cfg, spiceproto.MachineConfig{Channel: t, ...}, log)
//	err := guard.Header(direction, header) // once the header is complete
//	err = guard.Head(direction, header, head) // once the head is, too
//	text := guard.Summary()                // at the end of the channel
//
// An error is a *Refusal: the message must not be passed on, and the channel
// ends. L0 and L1 are those of Kerbside's proxy.
package firewall

import (
	"fmt"
	"math/bits"
	"sync"

	"go.uber.org/zap"

	"spicepacer/spiceproto"
)

// Mode says what becomes of a message that L0 or L1 object to.
type Mode uint8

// The modes.
const (
	// Auto leaves the choice to someone else; by itself it is Enforce.
	Auto Mode = iota
	// Enforce ends the channel.
	Enforce
	// WarnOnly counts and logs the message and lets it through. Nothing that this
	// package finds ends a channel then.
	WarnOnly
	// Off does not look.
	Off
)

// Findings says what L2 does. It is independent of the Mode, but for WarnOnly.
type Findings uint8

// The values of Findings.
const (
	// IgnoreFindings does not follow the protocol's state.
	IgnoreFindings Findings = iota
	// ObserveFindings counts and logs.
	ObserveFindings
	// EnforceFindings also ends the channel at a finding that is a violation:
	// something after which the receiver would disconnect, freeze, or show a wrong
	// picture.
	EnforceFindings
)

// Config says what is allowed. The sizes are those of message bodies in bytes.
type Config struct {
	Mode     Mode
	Findings Findings
	// MaxInput bounds what a client sends on inputs and cursor channels,
	// MaxPicture what a hypervisor sends on display channels, and MaxMessage all
	// else.
	MaxInput, MaxPicture, MaxMessage uint32
	// Rate bounds each direction of a channel.
	Rate Rate
}

// DefaultConfig returns Kerbside's limits, but for pictures: its 16 MiB would end
// a session that shows an uncompressed 4K screen. 128 MiB hold one of 7680x4320
// pixels.
func DefaultConfig() Config {
	return Config{
		Findings: ObserveFindings,
		MaxInput: 4 << 10, MaxPicture: 128 << 20, MaxMessage: 16 << 20,
	}
}

// limits are what one direction of a channel is held to. rate belongs to who
// carries the direction.
type limits struct {
	maxSize uint32
	known   *opcodes
	rate    window
}

// Channel judges one channel. Its two directions may be used at the same time.
type Channel struct {
	kind       spiceproto.ChannelType
	mode       Mode
	findings   Findings
	unmodelled bool
	limits     [2]limits // by direction
	log        *zap.Logger
	tally      Tally

	mu      sync.Mutex          // guards the rest
	machine *spiceproto.Machine // nil: no L2
	logged  uint64              // the rules whose findings were logged, 1<<rule
}

// New returns what judges the channel that m describes, whose link stage has
// succeeded, or nil if nothing is to be judged.
func New(c Config, m spiceproto.MachineConfig, log *zap.Logger) *Channel {
	if c.Mode == Off && c.Findings == IgnoreFindings {
		return nil
	}
	if c.Mode == Auto {
		c.Mode = Enforce
	}
	ch := &Channel{kind: m.Channel, mode: c.Mode, findings: c.Findings, log: log}
	if c.Findings != IgnoreFindings {
		ch.machine = spiceproto.NewMachine(m)
		ch.machine.LinkDone()
		ch.machine.TicketDone()
	}
	ch.unmodelled = unmodelled(m.Channel)
	for d := range ch.limits {
		direction := spiceproto.Direction(d)
		ch.limits[d] = limits{
			maxSize: c.maxSize(m.Channel, direction),
			known:   known(m.Channel, direction),
			rate:    window{most: c.Rate},
		}
	}
	return ch
}

func (c Config) maxSize(t spiceproto.ChannelType, d spiceproto.Direction) uint32 {
	switch {
	case d == spiceproto.ClientToServer && (t == spiceproto.ChannelInputs || t == spiceproto.ChannelCursor):
		return c.MaxInput
	case d == spiceproto.ServerToClient && t == spiceproto.ChannelDisplay:
		return c.MaxPicture
	}
	return c.MaxMessage
}

// Header judges a message by its header. Calls for one direction do not overlap.
func (c *Channel) Header(d spiceproto.Direction, h spiceproto.Header) error {
	if c.mode == Off {
		return nil
	}
	l := &c.limits[d]
	if h.Size > l.maxSize {
		if err := c.object(d, h, SizeCap); err != nil {
			return err
		}
	}
	if !l.rate.admits(h) {
		if err := c.object(d, h, RateCap); err != nil {
			return err
		}
	}
	switch {
	case l.known.has(h.Type):
	case c.unmodelled:
		c.tally.verdict(d, UnmodeledType, Observed)
	default:
		return c.object(d, h, DisallowedType)
	}
	return nil
}

// object makes of a message what the mode says. Log lines get rarer as they
// repeat, so that no peer can fill a disk with them.
func (c *Channel) object(d spiceproto.Direction, h spiceproto.Header, r Rule) error {
	if c.mode == WarnOnly {
		if n := c.tally.verdict(d, r, Observed); bits.OnesCount64(n) == 1 {
			c.log.Warn("firewall WarnOnly: would have blocked; forwarding",
				append(c.fields(d, h, r), zap.Uint64("times", n))...)
		}
		return nil
	}
	c.tally.verdict(d, r, Enforced)
	c.log.Warn(terminates[r], c.fields(d, h, r)...)
	return &Refusal{Channel: c.kind, Direction: d, Header: h, Rule: r}
}

// terminates are the lines of Kerbside's proxy for the end of a channel.
var terminates = [numRules]string{
	DisallowedType:    "policy verdict Terminate; ending relay",
	SizeCap:           "policy header check verdict Terminate; ending relay",
	RateCap:           "policy header check verdict Terminate; ending relay",
	ProtocolViolation: "policy verdict Terminate; ending relay",
}

func (c *Channel) fields(d spiceproto.Direction, h spiceproto.Header, r Rule) []zap.Field {
	return []zap.Field{
		zap.Stringer("channel", c.kind), zap.String("direction", DirectionName(d)), zap.Stringer("rule", r),
		zap.Uint16("opcode", h.Type), zap.String("message", spiceproto.MessageName(c.kind, d, h.Type)),
		zap.Uint32("size", h.Size),
	}
}

// Tally returns what is counted; nil for a nil Channel.
func (c *Channel) Tally() *Tally {
	if c == nil {
		return nil
	}
	return &c.tally
}

// Summary returns the line for the console's log, empty if nothing was recorded.
func (c *Channel) Summary() string { return c.tally.Counts().summary() }

// Refusal is why a message must not be passed on.
type Refusal struct {
	Channel   spiceproto.ChannelType
	Direction spiceproto.Direction
	Header    spiceproto.Header
	Rule      Rule
	// Finding is set for ProtocolViolation.
	Finding spiceproto.Finding
}

func (r *Refusal) Error() string {
	if r.Rule == ProtocolViolation {
		return fmt.Sprintf("firewall: %v: %v", r.Rule, r.Finding)
	}
	return fmt.Sprintf("firewall: %v: %v %v message %d (%s) of %d bytes", r.Rule, r.Channel, r.Direction,
		r.Header.Type, spiceproto.MessageName(r.Channel, r.Direction, r.Header.Type), r.Header.Size)
}

// DirectionName returns the direction as Kerbside's proxy names it in labels.
func DirectionName(d spiceproto.Direction) string {
	if d == spiceproto.ServerToClient {
		return "server_to_client"
	}
	return "client_to_server"
}
