package spiceproto

// Phase is how far a channel has come.
type Phase uint8

// The phases, in the order a channel goes through them.
const (
	// PhaseLink: LinkMess and LinkReply are exchanged.
	PhaseLink Phase = iota
	// PhaseTicket: the client authenticates.
	PhaseTicket
	// PhaseInitialised: the ticket was accepted, and the message that opens the
	// channel (INIT, on those channels that have one) is awaited.
	PhaseInitialised
	// PhaseActive: the channel is open.
	PhaseActive
	// PhaseMigrating: the server sent MIGRATE and falls silent.
	PhaseMigrating
	PhaseClosed
)

// String returns the phase's name.
func (p Phase) String() string {
	return enumName("phase", p,
		[]string{"link", "ticket", "initialised", "active", "migrating", "closed"})
}

// MachineConfig tells a Machine what was agreed at the link stage.
type MachineConfig struct {
	Channel ChannelType
	// Client are the client's channel capabilities as the server saw them,
	// Server the server's as the client saw them.
	Client, Server Caps
	// MigrationTarget: the session's main channel was linked with a connection id
	// other than 0, so surfaces, streams, caches, tokens and sound may have been
	// set up on another host. A Machine learns this by itself from the messages
	// of main, and from the MIGRATE_DATA a client hands over; cursor, playback and
	// record have no such message.
	MigrationTarget bool
	// SoleDisplay: no other display channel of the client shares its image cache,
	// so that RuleImageCache can be checked.
	SoleDisplay bool
	// ForeignAcks: the server's window is served by someone else than the client,
	// such as a proxy with ACKs of its own. RuleWindow is not checked then.
	ForeignAcks bool
}

// maxFindings is how many findings one message can have; more are dropped.
const maxFindings = 4

// Machine follows one channel of one session and tells what the protocol does
// not admit. It never ends anything, and goes on after a finding as the peers
// would. Its memory is fixed at creation, about 2 KiB at most.
//
//	m := spiceproto.NewMachine(spiceproto.MachineConfig{Channel: t, Client: client, Server: server})
//	m.LinkDone()
//	m.TicketDone()
//	// for each message, once its head is complete
//	for _, finding := range m.Observe(direction, f.Header(), f.Head()) {
//		// finding.Rule, finding.Severity
//	}
//
// Both directions share one Machine, because most rules relate them, and a
// Machine is not safe for concurrent use: two goroutines that relay a channel
// take one lock around Observe, which takes some tens of nanoseconds. A message
// is to be observed before its last byte is passed on, in either direction;
// else an answer may be seen before its question.
//
// What is to be observed are the messages a peer sent, in full: those a relay
// drops as well, and none it makes up, except where the receiver answers them
// (a rewritten SET_ACK, a PING of its own). Sub-messages of a full header are
// not observed; missing them only loses checks.
type Machine struct {
	channel        ChannelType
	phase          Phase
	client, server uint32
	target         bool
	foreignAcks    bool

	opened    bool
	unopened  bool // RuleInitFirst was reported
	migration migrationState
	acks      ackState
	pings     pingState
	rules     channelRules

	msg      observed
	message  Finding // identifies the message at hand
	findings [maxFindings]Finding
	found    int
}

// channelRules are the rules of one channel type. observe is called for channel
// messages whose head holds at least their fixed part.
type channelRules interface {
	observe(m *Machine, msg *observed)
}

// observed is the message at hand.
type observed struct {
	Header
	dir Direction
	// head is the start of the body, at least spec.Min and at most Size bytes.
	head []byte
}

// u32 returns the field at off, which must lie within the fixed part.
func (o *observed) u32(off int) uint32 { return le.Uint32(o.head[off:]) }

// u32At returns the field at off if the head holds it.
func (o *observed) u32At(off uint64) (uint32, bool) {
	if off+4 > uint64(len(o.head)) {
		return 0, false
	}
	return le.Uint32(o.head[off:]), true
}

// NewMachine returns a Machine in PhaseLink.
func NewMachine(c MachineConfig) *Machine {
	m := &Machine{
		channel: c.Channel, client: firstWord(c.Client), server: firstWord(c.Server),
		target: c.MigrationTarget, foreignAcks: c.ForeignAcks,
		message: Finding{Channel: c.Channel},
	}
	switch c.Channel {
	case ChannelMain:
		m.rules = &mainRules{}
	case ChannelDisplay:
		m.rules = &displayRules{cache: displayCache{sole: c.SoleDisplay}}
	case ChannelInputs:
		m.rules = &inputsRules{}
	case ChannelCursor:
		m.rules = &cursorRules{}
	case ChannelPlayback, ChannelRecord:
		m.rules = &soundRules{}
	case ChannelPort, ChannelWebDAV:
		m.rules = portRules{}
	case ChannelSmartcard:
		m.rules = smartcardRules{}
	}
	return m
}

// firstWord holds every channel capability the protocol defines.
func firstWord(c Caps) uint32 {
	if len(c) == 0 {
		return 0
	}
	return c[0]
}

// LinkDone tells that the server accepted the link message.
func (m *Machine) LinkDone() {
	if m.phase == PhaseLink {
		m.phase = PhaseTicket
	}
}

// TicketDone tells that the server accepted the ticket. Messages follow.
func (m *Machine) TicketDone() {
	if m.phase == PhaseTicket {
		m.phase = PhaseInitialised
	}
}

// ShareCache tells that another display channel of the client shares its image
// cache from now on, so that RuleImageCache cannot be checked any more.
func (m *Machine) ShareCache() {
	if r, ok := m.rules.(*displayRules); ok {
		r.cache.sole = false
	}
}

// Close tells that the connection ended.
func (m *Machine) Close() { m.phase = PhaseClosed }

// Phase returns how far the channel has come.
func (m *Machine) Phase() Phase { return m.phase }

// Observe takes the next message of one direction: its header and the first
// min(HeadSize, h.Size) bytes of its body, as a Framer keeps them. With fewer the
// machine loses track. It returns what it found, nil if nothing, valid until the
// next call. It neither keeps head nor allocates, except for a malformed draw.
func (m *Machine) Observe(d Direction, h Header, head []byte) []Finding {
	m.found = 0
	m.message.Direction, m.message.Opcode = d, h.Type
	if m.phase < PhaseInitialised || m.phase == PhaseClosed {
		m.report(RulePhase, uint64(m.phase), uint64(PhaseInitialised))
		return m.findings[:m.found]
	}
	if d == ServerToClient {
		m.fromServer(h.Type)
	}
	if spec := lookup(m.channel, d, h.Type); spec == nil {
		m.report(RuleUnknownOpcode, uint64(h.Type), 0)
	} else {
		m.msg.Header, m.msg.dir, m.msg.head = h, d, head
		m.known(spec, &m.msg)
		m.msg.head = nil
	}
	if m.found == 0 {
		return nil
	}
	return m.findings[:m.found]
}

// fromServer does what every message of the server does, known or not.
func (m *Machine) fromServer(op uint16) {
	m.acks.sent(m)
	if m.phase == PhaseMigrating {
		m.migration.afterMigrate(m, op)
	}
}

// known checks a message against its grammar, and the body that passes against
// the state.
func (m *Machine) known(spec *MessageSpec, msg *observed) {
	if !spec.Gate.admits(m.client, m.server) {
		caps := m.client
		if spec.Gate.By == ByServer {
			caps = m.server
		}
		m.report(RuleCapability, uint64(caps), uint64(spec.Gate.Bits))
	}
	if msg.Size > spec.Max {
		m.report(RuleTooLong, uint64(msg.Size), uint64(spec.Max))
	}
	if msg.Size < spec.Min {
		m.report(RuleTooShort, uint64(msg.Size), uint64(spec.Min))
		return
	}
	if uint32(len(msg.head)) < spec.Min {
		return
	}
	if uint64(len(msg.head)) > uint64(msg.Size) {
		msg.head = msg.head[:msg.Size]
	}
	if spec.Channel == 0 {
		m.common(msg)
		return
	}
	m.opening(msg)
	if m.rules != nil {
		m.rules.observe(m, msg)
	}
}

// report adds a finding about the message at hand.
func (m *Machine) report(r Rule, got, want uint64) {
	if m.found == maxFindings {
		return
	}
	f := &m.findings[m.found]
	*f = m.message
	f.Rule, f.Severity, f.Got, f.Want = r, ruleSpecs[r].severity, got, want
	m.found++
}

// count reports RuleMalformed if n elements of elemSize do not fit into size
// bytes after the first at. It returns how many do.
func (m *Machine) count(size uint32, at, elemSize, n uint64) uint64 {
	fit := (uint64(size) - at) / elemSize
	if n > fit {
		m.report(RuleMalformed, n, fit)
		return fit
	}
	return n
}
