package spiceproto

import (
	"fmt"
	"strconv"
)

// Finding is something a peer sent that the protocol does not admit where it
// stood. It is a plain value: it aliases nothing and costs no allocation.
type Finding struct {
	Channel ChannelType
	// Direction tells who broke the rule: the server, if ServerToClient.
	Direction Direction
	Opcode    uint16
	Rule      Rule
	Severity  Severity
	// Got is the offending number and Want what it was measured against; Rule
	// tells which numbers these are. Both are 0 for a rule about order.
	Got, Want uint64
}

// String names message, rule and numbers.
func (f Finding) String() string {
	return fmt.Sprintf("%s %s %s (%d): %s: %s (%s; got %d, want %d)", f.Channel, f.Direction,
		MessageName(f.Channel, f.Direction, f.Opcode), f.Opcode, f.Severity, f.Rule,
		f.Rule.Explain(), f.Got, f.Want)
}

// Severity is how much a finding matters.
type Severity uint8

// The severities.
const (
	// SeverityNote: odd, and harmless to both peers.
	SeverityNote Severity = iota
	// SeverityWarning: against the protocol; the peers carry on.
	SeverityWarning
	// SeverityViolation: the receiver disconnects, freezes, or shows a wrong
	// picture.
	SeverityViolation
)

// String returns "note", "warning" or "violation".
func (s Severity) String() string {
	return enumName("severity", s, []string{"note", "warning", "violation"})
}

// Rule is what a Finding found broken.
type Rule uint8

// The rules.
const (
	RulePhase Rule = iota
	RuleUnknownOpcode
	RuleTooShort
	RuleTooLong
	RuleCapability
	RuleMalformed
	RuleValue
	RuleInitFirst
	RuleInitTwice
	RuleAckGeneration
	RuleAckUnsynced
	RuleAckEarly
	RuleWindow
	RulePong
	RulePongTime
	RuleMigration
	RuleAfterMigrate
	RuleDeadSurface
	RuleDuplicateSurface
	RuleSurfaceLimit
	RuleUnknownStream
	RuleDuplicateStream
	RuleStreamLimit
	RuleImageCache
	RulePaletteCache
	RuleCursorCache
	RuleMonitors
	RuleGLDone
	RuleAgentTokens
	RuleMotionAck
	RuleSoundOrder
	numRules
)

// ruleSpecs is indexed by Rule.
var ruleSpecs = [numRules]struct {
	name     string
	severity Severity
	explain  string
}{
	RulePhase: {"phase", SeverityViolation,
		"a message before the ticket was accepted or after the channel closed; got the phase"},
	RuleUnknownOpcode: {"unknown-opcode", SeverityWarning,
		"the channel has no such message in this direction; got the type"},
	RuleTooShort: {"too-short", SeverityViolation,
		"the body is smaller than its fixed part; got and want bytes"},
	RuleTooLong: {"too-long", SeverityWarning,
		"the body is larger than any legal one; got and want bytes"},
	RuleCapability: {"capability", SeverityWarning,
		"the receiver did not advertise what admits the message; got its capabilities, want one of these bits"},
	RuleMalformed: {"malformed", SeverityViolation,
		"a count, pointer or type in the body contradicts its size; got and want where known"},
	RuleValue: {"value", SeverityNote,
		"an enumeration has a value the protocol does not define; got the value"},
	RuleInitFirst: {"init-first", SeverityWarning,
		"a message before the one that opens the channel"},
	RuleInitTwice: {"init-twice", SeverityWarning,
		"the message that opens the channel came again"},
	RuleAckGeneration: {"ack-generation", SeverityViolation,
		"an ACK_SYNC that answers no SET_ACK; got its generation, want that of the last SET_ACK"},
	RuleAckUnsynced: {"ack-unsynced", SeverityWarning,
		"an ACK before ACK_SYNC, or for a window of 0; the server ignores it"},
	RuleAckEarly: {"ack-early", SeverityViolation,
		"an ACK for messages not sent yet, which wraps the server's counter; got the messages acknowledged, want at most those sent"},
	RuleWindow: {"window", SeverityViolation,
		"the server went on although its window was full; got messages since SET_ACK, want the most the ACKs admit"},
	RulePong: {"pong", SeverityWarning,
		"a PONG that answers no PING; got its id"},
	RulePongTime: {"pong-time", SeverityNote,
		"a PONG with another timestamp than its PING; got and want timestamps"},
	RuleMigration: {"migration", SeverityWarning,
		"a migration message whose predecessor is missing"},
	RuleAfterMigrate: {"after-migrate", SeverityViolation,
		"the server sent something other than one announced MIGRATE_DATA after MIGRATE"},
	RuleDeadSurface: {"dead-surface", SeverityViolation,
		"the message uses a surface that does not exist; got its id"},
	RuleDuplicateSurface: {"duplicate-surface", SeverityViolation,
		"the surface exists already; got its id"},
	RuleSurfaceLimit: {"surface-limit", SeverityNote,
		"a surface id beyond those any server hands out; it is not followed; got the id, want less"},
	RuleUnknownStream: {"unknown-stream", SeverityWarning,
		"the message names a stream that does not exist; got its id"},
	RuleDuplicateStream: {"duplicate-stream", SeverityWarning,
		"the stream exists already; got its id"},
	RuleStreamLimit: {"stream-limit", SeverityWarning,
		"a stream id beyond the protocol's limit; got the id, want less"},
	RuleImageCache: {"image-cache", SeverityWarning,
		"an image is taken from the cache where it cannot be; got its id"},
	RulePaletteCache: {"palette-cache", SeverityWarning,
		"a palette is taken from the cache, which is empty; got its id where known"},
	RuleCursorCache: {"cursor-cache", SeverityWarning,
		"a cursor is taken from the cache where it cannot be; got its id"},
	RuleMonitors: {"monitors", SeverityWarning,
		"more monitors than the message itself allows; got and want counts"},
	RuleGLDone: {"gl-done", SeverityViolation,
		"a GL_DRAW_DONE that answers no GL_DRAW"},
	RuleAgentTokens: {"agent-tokens", SeverityViolation,
		"an agent message without a token for it"},
	RuleMotionAck: {"motion-ack", SeverityWarning,
		"a MOUSE_MOTION_ACK for fewer than 4 motions; got the motions not acknowledged yet"},
	RuleSoundOrder: {"sound-order", SeverityWarning,
		"START and STOP do not alternate, or DATA came before the first START"},
}

// Rules returns every rule.
func Rules() []Rule {
	all := make([]Rule, numRules)
	for i := range all {
		all[i] = Rule(i)
	}
	return all
}

// String returns the rule's name, fit for a metric label, or "rule-N".
func (r Rule) String() string {
	if r < numRules {
		return ruleSpecs[r].name
	}
	return "rule-" + strconv.Itoa(int(r))
}

// Severity returns how much a breach of the rule matters.
func (r Rule) Severity() Severity {
	if r < numRules {
		return ruleSpecs[r].severity
	}
	return SeverityNote
}

// Explain returns one line: what the rule forbids, and what the numbers of its
// findings are.
func (r Rule) Explain() string {
	if r < numRules {
		return ruleSpecs[r].explain
	}
	return ""
}

// enumName returns names[v], or kind and number.
func enumName[T ~uint8](kind string, v T, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return kind + "-" + strconv.Itoa(int(v))
}
