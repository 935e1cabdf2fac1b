package firewall

import (
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"spicepacer/spiceproto"
)

// Head follows a message that Header let pass, once its head is complete: what a
// Framer keeps of it. The messages of both directions must come in an order in
// which no answer is seen before its question.
func (c *Channel) Head(d spiceproto.Direction, h spiceproto.Header, head []byte) error {
	if c.machine == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.machine.Observe(d, h, head)
	for _, f := range found {
		c.note(f)
	}
	if c.findings != EnforceFindings {
		return nil
	}
	i := slices.IndexFunc(found, func(f spiceproto.Finding) bool { return f.Severity == spiceproto.SeverityViolation })
	if i < 0 {
		return nil
	}
	err := c.object(d, h, ProtocolViolation)
	if refusal, ok := err.(*Refusal); ok {
		refusal.Finding = found[i]
	}
	return err
}

// note counts a finding, and logs the first of its rule. The caller holds mu.
func (c *Channel) note(f spiceproto.Finding) {
	c.tally.finding(f)
	if c.logged&(1<<f.Rule) == 0 {
		c.logged |= 1 << f.Rule
		c.log.Log(findingLevel(f.Severity), "protocol finding",
			zap.Stringer("rule", f.Rule), zap.Stringer("severity", f.Severity), zap.Stringer("finding", f))
	}
}

func findingLevel(s spiceproto.Severity) zapcore.Level {
	if s == spiceproto.SeverityNote {
		return zapcore.DebugLevel
	}
	return zapcore.WarnLevel
}

// ShareCache tells that another display channel of the client shares its image
// cache from now on. A nil Channel has no use for that.
func (c *Channel) ShareCache() {
	if c == nil || c.machine == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machine.ShareCache()
}
