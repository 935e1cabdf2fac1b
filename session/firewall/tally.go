package firewall

import (
	"fmt"
	"strings"
	"sync/atomic"

	"spicepacer/spiceproto"
)

// Rule is why a message was objected to.
type Rule uint8

// The rules, in the order of Summary. All but the last are Kerbside's, names
// included.
const (
	// DisallowedType: the channel has no such message.
	DisallowedType Rule = iota
	// UnmodeledType: a message nothing is known about, on a channel whose messages
	// are let through.
	UnmodeledType
	// SizeCap: the body is too large.
	SizeCap
	// RateCap: too much came within a second.
	RateCap
	// ProtocolViolation: L2 found a violation and is to enforce.
	ProtocolViolation
	numRules
)

var ruleNames = [numRules]string{
	"disallowed_type", "unmodeled_type", "size_cap", "rate_cap", "protocol_violation",
}

// Rules returns every rule.
func Rules() []Rule {
	all := make([]Rule, numRules)
	for i := range all {
		all[i] = Rule(i)
	}
	return all
}

// String returns the rule's metric label.
func (r Rule) String() string {
	if r < numRules {
		return ruleNames[r]
	}
	return fmt.Sprintf("rule-%d", uint8(r))
}

// Action is what became of a message.
type Action uint8

// The actions.
const (
	// Enforced: it was kept back and the channel ended.
	Enforced Action = iota
	// Observed: it was let through.
	Observed
	numActions
)

// String returns the action's metric label.
func (a Action) String() string {
	if a == Enforced {
		return "enforced"
	}
	return "observed"
}

// protocolRules is how many rules the protocol's state machine has.
const protocolRules = int(spiceproto.RuleSoundOrder) + 1

// Counts is how often each rule was broken.
type Counts struct {
	// Verdicts is indexed by direction, Rule and Action.
	Verdicts [2][numRules][numActions]uint64
	// Findings is indexed by direction and spiceproto.Rule.
	Findings [2][protocolRules]uint64
}

// Add adds more to c.
func (c *Counts) Add(more Counts) {
	for d := range c.Verdicts {
		for r := range c.Verdicts[d] {
			for a := range c.Verdicts[d][r] {
				c.Verdicts[d][r][a] += more.Verdicts[d][r][a]
			}
		}
		for r := range c.Findings[d] {
			c.Findings[d][r] += more.Findings[d][r]
		}
	}
}

// summary is the audit text of Kerbside's proxy.
func (c Counts) summary() string {
	var rules []string
	for _, r := range Rules() {
		var n [numActions]uint64
		for d := range c.Verdicts {
			for a := range n {
				n[a] += c.Verdicts[d][r][a]
			}
		}
		if n != [numActions]uint64{} {
			rules = append(rules, fmt.Sprintf("%v (enforced=%d, observed=%d)", r, n[Enforced], n[Observed]))
		}
	}
	if rules == nil {
		return ""
	}
	return "Firewall verdicts this connection: " + strings.Join(rules, ", ")
}

// Tally counts while a channel lives. Any goroutine may read it.
type Tally struct {
	verdicts [2][numRules][numActions]atomic.Uint64
	findings [2][protocolRules]atomic.Uint64
}

// verdict counts one and returns how many there are of its kind.
func (t *Tally) verdict(d spiceproto.Direction, r Rule, a Action) uint64 {
	return t.verdicts[d][r][a].Add(1)
}

func (t *Tally) finding(f spiceproto.Finding) { t.findings[f.Direction][f.Rule].Add(1) }

// Counts returns what was counted so far; nothing for a nil Tally.
func (t *Tally) Counts() (c Counts) {
	if t == nil {
		return c
	}
	for d := range t.verdicts {
		for r := range t.verdicts[d] {
			for a := range t.verdicts[d][r] {
				c.Verdicts[d][r][a] = t.verdicts[d][r][a].Load()
			}
		}
		for r := range t.findings[d] {
			c.Findings[d][r] = t.findings[d][r].Load()
		}
	}
	return c
}
