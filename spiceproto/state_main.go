package spiceproto

// mainRules follow the agent's tokens and the course of a migration.
type mainRules struct {
	// clientTokens and serverTokens are how many agent messages each side may
	// still send, as an upper bound: a new agent voids what is left of the old
	// one's, but messages spent on that may still be under way.
	clientTokens, serverTokens uint64
	// perAgent are the tokens of INIT, which a client takes to come with a new
	// agent where the server does not tell.
	perAgent uint32

	began, beganSeamless, askedSeamless bool
}

func (r *mainRules) observe(m *Machine, msg *observed) {
	if msg.dir == ClientToServer {
		r.client(m, msg)
		return
	}
	switch msg.Type {
	case MsgMainInit:
		r.perAgent = msg.u32(20)
		grant(&r.clientTokens, r.perAgent)
	case MsgMainAgentConnected:
		grant(&r.clientTokens, r.perAgent)
	case MsgMainAgentConnectedTokens, MsgMainAgentToken:
		grant(&r.clientTokens, msg.u32(0))
	case MsgMainAgentData:
		spend(m, &r.serverTokens)
	case MsgMainChannelsList:
		m.count(msg.Size, 4, specChannelIDSize, uint64(msg.u32(0)))
	case MsgMainName:
		m.count(msg.Size, 4, 1, uint64(msg.u32(0)))
	case MsgMainMigrateBegin:
		r.began = true
	case MsgMainMigrateBeginSeamless:
		r.began, r.beganSeamless = true, true
	case MsgMainMigrateCancel, MsgMainMigrateEnd:
		r.after(m, r.began)
	case MsgMainMigrateDstSeamlessAck, MsgMainMigrateDstSeamlessNack:
		r.after(m, r.askedSeamless)
	}
}

func (r *mainRules) client(m *Machine, msg *observed) {
	switch msg.Type {
	case MsgcMainAgentStart, MsgcMainAgentToken:
		grant(&r.serverTokens, msg.u32(0))
	case MsgcMainAgentData:
		spend(m, &r.clientTokens)
	case MsgcMainMigrateConnected, MsgcMainMigrateConnectError:
		r.after(m, r.began)
	case MsgcMainMigrateConnectedSeamless:
		r.after(m, r.beganSeamless)
	case MsgcMainMigrateEnd:
		// The target sends INIT only then.
		r.after(m, !m.opened)
		m.target = true
	case MsgcMainMigrateDstDoSeamless:
		r.after(m, !m.opened)
		r.askedSeamless = true
		m.target = true
	}
}

// after reports a message whose predecessor is missing.
func (r *mainRules) after(m *Machine, ok bool) {
	if !ok {
		m.report(RuleMigration, 0, 0)
	}
}

// grant adds tokens; it saturates far above what a session can spend.
func grant(tokens *uint64, n uint32) {
	*tokens = min(*tokens+uint64(n), 1<<62)
}

// spend takes a token for an agent message. The target of a migration does not
// know how many were left.
func spend(m *Machine, tokens *uint64) {
	switch {
	case *tokens > 0:
		*tokens--
	case !m.target:
		m.report(RuleAgentTokens, 0, 0)
	}
}
