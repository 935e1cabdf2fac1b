package firewall

import (
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
	var refusal error
	for _, f := range c.machine.Observe(d, h, head) {
		if err := c.found(h, f); err != nil {
			refusal = err
		}
	}
	return refusal
}

// found takes a finding. The caller holds mu.
func (c *Channel) found(h spiceproto.Header, f spiceproto.Finding) error {
	c.tally.finding(f)
	if c.logged&(1<<f.Rule) == 0 {
		c.logged |= 1 << f.Rule
		c.log.Log(findingLevel(f.Severity), "protocol finding",
			zap.Stringer("rule", f.Rule), zap.Stringer("severity", f.Severity), zap.Stringer("finding", f))
	}
	if c.findings != EnforceFindings || f.Severity != spiceproto.SeverityViolation {
		return nil
	}
	err := c.object(f.Direction, h, ProtocolViolation)
	if refusal, ok := err.(*Refusal); ok {
		refusal.Finding = f
	}
	return err
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
