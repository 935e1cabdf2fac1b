package observe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.uber.org/zap/zapcore"
)

// consoleTime is RFC 3339 in UTC with microseconds.
const consoleTime = "2006-01-02T15:04:05.000000Z"

// consoleName stands where Kerbside's proxy shows the module a line comes from.
const consoleName = "kerbside_proxy"

// quoted are the fields that Kerbside's proxy shows in quotation marks.
var quoted = []string{"channel_type", "channel"}

// console writes lines in the form of Kerbside's proxy, which its tools search:
//
//	2026-01-02T03:04:05.000006Z  INFO kerbside_proxy: message name=value name=value
//
// There are no colours, whose escape sequences would break such searches, and no
// line breaks or control characters within a line, whatever a peer sends.
type console struct {
	zapcore.LevelEnabler
	out zapcore.WriteSyncer
	// context are the fields of With, as text.
	context string
}

// NewConsole returns a core that writes such lines to out.
func NewConsole(out zapcore.WriteSyncer, level zapcore.LevelEnabler) zapcore.Core {
	return &console{LevelEnabler: level, out: out}
}

// With implements zapcore.Core.
func (c *console) With(fields []zapcore.Field) zapcore.Core {
	clone := *c
	clone.context += fieldsText(fields)
	return &clone
}

// Check implements zapcore.Core.
func (c *console) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write implements zapcore.Core.
func (c *console) Write(e zapcore.Entry, fields []zapcore.Field) error {
	_, err := fmt.Fprintf(c.out, "%s %5s %s: %s%s%s\n", e.Time.UTC().Format(consoleTime), e.Level.CapitalString(), consoleName,
		oneLine(e.Message), c.context, fieldsText(fields))
	return err
}

// Sync implements zapcore.Core.
func (c *console) Sync() error { return c.out.Sync() }

// fieldsText gives the fields in order, each with a space before it.
func fieldsText(fields []zapcore.Field) string {
	var b strings.Builder
	for _, f := range fields {
		values := zapcore.NewMapObjectEncoder()
		f.AddTo(values)
		// One, but for errors that also have a verbose form.
		value, ok := values.Fields[f.Key]
		if !ok {
			continue
		}
		text := oneLine(fmt.Sprint(value))
		if slices.Contains(quoted, f.Key) {
			text = strconv.Quote(text)
		}
		fmt.Fprintf(&b, " %s=%s", f.Key, text)
	}
	return b.String()
}

// oneLine escapes what would break a line or a terminal.
func oneLine(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
