package spiceproto

// common applies a message that every channel has.
func (m *Machine) common(msg *observed) {
	if msg.dir == ServerToClient {
		m.commonServer(msg)
		return
	}
	switch msg.Type {
	case MsgcAckSync:
		m.acks.sync(m, msg.u32(0))
	case MsgcAck:
		m.acks.ack(m)
	case MsgcPong:
		m.pings.pong(m, msg.u32(0), le.Uint64(msg.head[4:]))
	case MsgcMigrateFlushMark:
		m.migration.flushMark(m)
	case MsgcMigrateData:
		m.migration.handOver(m)
	}
}

func (m *Machine) commonServer(msg *observed) {
	switch msg.Type {
	case MsgMigrate:
		m.migration.migrate(m, msg.u32(0))
	case MsgMigrateData:
		if m.phase != PhaseMigrating {
			m.report(RuleMigration, 0, 0)
		}
	case MsgSetAck:
		m.acks.set(msg.u32(0), msg.u32(4))
	case MsgPing:
		m.pings.ping(msg.u32(0), le.Uint64(msg.head[4:]))
	case MsgWaitForChannels:
		m.count(msg.Size, 1, specWaitSize, uint64(msg.head[0]))
	case MsgNotify:
		m.count(msg.Size, 24, 1, uint64(msg.u32(20)))
	case MsgList:
		m.count(msg.Size, 2, 4, uint64(le.Uint16(msg.head)))
		if d, ok := m.rules.(*displayRules); ok {
			// It may invalidate images beyond the head.
			d.cache.forget()
		}
	}
}

// ackState follows the windows a server opens with SET_ACK, and the client's
// answers.
type ackState struct {
	// generation and window are those of the last SET_ACK.
	generation, window uint32
	// messages were sent since that SET_ACK, it included; acks came since the
	// ACK_SYNC that answers it.
	messages, acks uint64
	// unanswered are the generations of the SET_ACKs no ACK_SYNC came for yet, in
	// order. forgotten counts those that did not fit.
	unanswered [4]uint32
	waiting    uint8
	forgotten  uint32
	ever       bool // a SET_ACK was seen
	older      bool // and another before it
	synced     bool // ACK_SYNC answered the last one
	overrun    bool // RuleWindow was reported since the last ACK
}

// sent counts a message of the server, and checks that its window admits it:
// it may begin 2W+1 messages beyond those acknowledged, and one more where an
// item needs a message of its own before it (red-channel-client.cpp:631-637,
// dcc-send.cpp:264-293).
func (a *ackState) sent(m *Machine) {
	if !a.ever {
		return
	}
	a.messages++
	if a.window == 0 || m.foreignAcks || a.overrun {
		return
	}
	w := uint64(a.window)
	if limit := w*a.acks + 2*w + 2; a.messages > limit {
		a.overrun = true
		m.report(RuleWindow, a.messages, limit)
	}
}

// set opens a window. SET_ACK itself is the first message of it.
func (a *ackState) set(generation, window uint32) {
	a.generation, a.window = generation, window
	a.messages, a.acks = 1, 0
	a.older = a.ever
	a.ever, a.synced, a.overrun = true, false, false
	if int(a.waiting) == len(a.unanswered) {
		copy(a.unanswered[:], a.unanswered[1:])
		a.waiting--
		a.forgotten++
	}
	a.unanswered[a.waiting] = generation
	a.waiting++
}

// sync takes an ACK_SYNC, which answers the oldest SET_ACK without an answer.
func (a *ackState) sync(m *Machine, generation uint32) {
	if a.waiting > 0 && a.unanswered[0] == generation {
		copy(a.unanswered[:], a.unanswered[1:])
		a.waiting--
		a.synced = a.waiting == 0
		return
	}
	if a.forgotten > 0 {
		a.forgotten--
		return
	}
	m.report(RuleAckGeneration, uint64(generation), uint64(a.generation))
}

// ack takes an ACK. ACK number A is legal once W·A messages were sent, SET_ACK
// included; the server subtracts without a check and stalls for good below that
// (red-channel-client.cpp:1288-1294). ACKs of an older window are still under
// way when a new one opens, and the server ignores them; so does the target of a
// migration with those meant for the source.
func (a *ackState) ack(m *Machine) {
	switch {
	case a.synced && a.window > 0:
		a.acks++
		a.overrun = false
		if n := a.acks * uint64(a.window); n > a.messages {
			a.acks--
			m.report(RuleAckEarly, n, a.messages)
		}
	case !a.synced && (a.older || m.target):
	default:
		m.report(RuleAckUnsynced, 0, 0)
	}
}

// pingState remembers the PINGs without an answer, oldest first.
type pingState struct {
	open [16]openPing
	n    uint8
	// forgotten counts the unanswered PINGs newer ones have displaced.
	forgotten uint32
}

type openPing struct {
	id   uint32
	time uint64
}

func (p *pingState) ping(id uint32, time uint64) {
	if int(p.n) == len(p.open) {
		p.answer(0)
		p.forgotten++
	}
	p.open[p.n] = openPing{id, time}
	p.n++
}

// answer takes PING number i away.
func (p *pingState) answer(i int) {
	copy(p.open[i:p.n], p.open[i+1:p.n])
	p.n--
}

// pong looks for the PING with id and timestamp, else for one with the id: the
// two PINGs of a latency probe share theirs.
func (p *pingState) pong(m *Machine, id uint32, time uint64) {
	sameID := -1
	for i, o := range p.open[:p.n] {
		if o.id != id {
			continue
		}
		if o.time == time {
			p.answer(i)
			return
		}
		if sameID < 0 {
			sameID = i
		}
	}
	switch {
	case p.forgotten > 0:
		p.forgotten--
	case sameID >= 0:
		m.report(RulePongTime, time, p.open[sameID].time)
		p.answer(sameID)
	case !m.target:
		m.report(RulePong, uint64(id), 0)
	}
}

// Flags of MIGRATE.
const (
	migrateNeedFlush = 1 << 0
	migrateNeedData  = 1 << 1
)

// migrationState follows the end of a source and the start of a target.
type migrationState struct {
	flags uint32
	// flushed: the client marked its last message to the source. moved: the
	// source handed its data over. handed: the target got them.
	flushed, moved, handed bool
}

func (s *migrationState) migrate(m *Machine, flags uint32) {
	if m.phase == PhaseMigrating {
		return // reported by afterMigrate
	}
	s.flags = flags
	m.phase = PhaseMigrating
}

func (s *migrationState) afterMigrate(m *Machine, op uint16) {
	if op == MsgMigrateData && s.flags&migrateNeedData != 0 && !s.moved {
		s.moved = true
		return
	}
	m.report(RuleAfterMigrate, 0, 0)
}

func (s *migrationState) flushMark(m *Machine) {
	if m.phase != PhaseMigrating || s.flags&migrateNeedFlush == 0 || s.flushed {
		m.report(RuleMigration, 0, 0)
	}
	s.flushed = true
}

// handOver takes the client's MIGRATE_DATA, which makes this the target. It comes
// once, and instead of a display's INIT.
func (s *migrationState) handOver(m *Machine) {
	if s.handed || m.phase == PhaseMigrating || m.channel == ChannelDisplay && m.opened {
		m.report(RuleMigration, 0, 0)
	}
	s.handed = true
	m.target = true
	m.open()
}
