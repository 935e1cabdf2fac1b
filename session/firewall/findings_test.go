package firewall

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// message is one of a channel, as it goes by.
type message struct {
	direction spiceproto.Direction
	header    spiceproto.Header
	body      []byte
}

// from cuts a stream into messages.
func from(direction spiceproto.Direction, stream []byte) (all []message) {
	for len(stream) > 0 {
		h, _ := spiceproto.ParseHeader(stream)
		end := spiceproto.MiniHeaderSize + int(h.Size)
		all = append(all, message{direction, h, stream[spiceproto.MiniHeaderSize:end]})
		stream = stream[end:]
	}
	return all
}

// pass lets the messages through and returns the first refusal.
func (j judged) pass(messages []message) error {
	for _, m := range messages {
		if err := j.Header(m.direction, m.header); err != nil {
			return err
		}
		if err := j.Head(m.direction, m.header, m.body[:min(len(m.body), spiceproto.HeadSize)]); err != nil {
			return err
		}
	}
	return nil
}

// capture is what a server sent on a channel, with a client's answers.
func capture(t *testing.T, kind spiceproto.ChannelType) []message {
	t.Helper()
	stream, err := os.ReadFile(filepath.Join("..", "..", "spiceproto", "testdata", kind.String()+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	var all []message
	if kind == spiceproto.ChannelDisplay {
		all = from(c2s, spiceproto.DisplayInit{}.Append(nil))
	}
	for _, m := range from(s2c, stream) {
		all = append(all, m)
		switch m.header.Type {
		case spiceproto.MsgPing:
			all = append(all, message{c2s, spiceproto.Header{Type: spiceproto.MsgcPong, Size: 12}, m.body[:12]})
		case spiceproto.MsgSetAck:
			all = append(all, message{c2s, spiceproto.Header{Type: spiceproto.MsgcAckSync, Size: 4}, m.body[:4]})
		}
	}
	return all
}

var captured = []spiceproto.ChannelType{
	spiceproto.ChannelMain, spiceproto.ChannelDisplay, spiceproto.ChannelInputs, spiceproto.ChannelCursor,
}

// Nothing is wrong with what real servers send, whatever is enforced.
func TestCapturesAreClean(t *testing.T) {
	for _, kind := range captured {
		j := judge(t, kind, func(c *Config) { c.Findings = EnforceFindings })
		messages := capture(t, kind)
		if err := j.pass(messages); err != nil || len(messages) < 2 {
			t.Errorf("%v: %v after %d messages", kind, err, len(messages))
		}
		if len(j.counts()) > 0 || j.logs.Len() > 0 || j.Summary() != "" {
			t.Errorf("%v: %v, %v", kind, j.counts(), j.logs.All())
		}
	}
}

// faults are what to add to a capture, and what is found then.
var faults = []struct {
	name     string
	kind     spiceproto.ChannelType
	messages []message
	want     map[string]uint64
	level    zapcore.Level
	// refused: where findings are enforced.
	refused bool
}{
	{
		"note", spiceproto.ChannelDisplay, // an undefined compression
		from(c2s, spiceproto.PreferredCompression{Compression: 99}.Append(nil)),
		map[string]uint64{"c2s value": 3}, zap.DebugLevel, false,
	},
	{
		"warning", spiceproto.ChannelDisplay,
		[]message{{s2c, spiceproto.Header{Type: spiceproto.MsgDisplayStreamDestroy, Size: 4}, []byte{5, 0, 0, 0}}},
		map[string]uint64{"s2c unknown-stream": 3}, zap.WarnLevel, false,
	},
	{
		"unknown message", spiceproto.ChannelRecord,
		[]message{{c2s, spiceproto.Header{Type: 200}, nil}},
		map[string]uint64{"c2s unknown-opcode": 3, "c2s unmodeled_type observed": 3}, zap.WarnLevel, false,
	},
	{
		"violation", spiceproto.ChannelCursor, // it answers no SET_ACK
		from(c2s, spiceproto.AckSync{Generation: 99}.Append(nil)),
		map[string]uint64{"c2s ack-generation": 3}, zap.WarnLevel, true,
	},
	{
		"too short", spiceproto.ChannelInputs,
		[]message{{c2s, spiceproto.Header{Type: spiceproto.MsgcInputsKeyDown, Size: 3}, []byte{1, 0, 0}}},
		map[string]uint64{"c2s too-short": 3}, zap.WarnLevel, true,
	},
}

// begun returns what passes before a fault.
func begun(t *testing.T, kind spiceproto.ChannelType) []message {
	if slices.Contains(captured, kind) {
		return capture(t, kind)
	}
	return from(s2c, spiceproto.RecordStart{Channels: 2, Format: 1, Frequency: 48000}.Append(nil))
}

// By default a finding is counted each time, logged once, and no more.
func TestFindingsAreObserved(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			j := judge(t, f.kind, func(*Config) {})
			if err := j.pass(begun(t, f.kind)); err != nil || len(j.counts()) > 0 {
				t.Fatal(err, j.counts())
			}
			for range 3 {
				if err := j.pass(f.messages); err != nil {
					t.Fatal(err)
				}
			}
			want(t, "counts", f.want, j.counts())
			lines := j.logs.FilterMessage("protocol finding").All()
			if len(lines) != 1 || j.logs.Len() != 1 || lines[0].Level != f.level {
				t.Errorf("log %v, want one line at %v", j.logs.All(), f.level)
			}
			if s := j.Summary(); strings.Contains(s, "protocol") {
				t.Errorf("summary %q", s)
			}
		})
	}
}

func TestFindingsAreEnforced(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			for _, mode := range []Mode{Enforce, Off} {
				j := judge(t, f.kind, func(c *Config) { c.Mode, c.Findings = mode, EnforceFindings })
				j.pass(begun(t, f.kind))
				err := j.pass(f.messages)
				refusal, refused := errors.AsType[*Refusal](err)
				if refused != f.refused {
					t.Fatalf("refused %v, want %v", err, f.refused)
				}
				if !refused {
					continue
				}
				if refusal.Rule != ProtocolViolation || refusal.Finding.Severity != spiceproto.SeverityViolation ||
					refusal.Header != f.messages[0].header || !strings.Contains(err.Error(), refusal.Finding.Rule.String()) {
					t.Errorf("%+v: %v", refusal, err)
				}
				want(t, "summary", "Firewall verdicts this connection: protocol_violation (enforced=1, observed=0)", j.Summary())
				if n := j.logs.FilterMessage("policy verdict Terminate; ending relay").Len(); n != 1 {
					t.Errorf("log %v", j.logs.All())
				}
			}
		})
	}
}

// Under a policy that only warns, nothing is refused.
func TestFindingsUnderWarnOnly(t *testing.T) {
	for _, f := range faults {
		j := judge(t, f.kind, func(c *Config) { c.Mode, c.Findings = WarnOnly, EnforceFindings })
		if err := j.pass(append(begun(t, f.kind), f.messages...)); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if _, observed := j.counts()["c2s protocol_violation observed"]; observed != f.refused {
			t.Errorf("%s: counts %v", f.name, j.counts())
		}
	}
}

func TestFindingsAreIgnored(t *testing.T) {
	for _, f := range faults {
		j := judge(t, f.kind, func(c *Config) { c.Findings = IgnoreFindings })
		if err := j.pass(f.messages); err != nil || j.logs.Len() > 0 || j.Tally().Counts().Findings != (Counts{}).Findings {
			t.Errorf("%s: %v, %v, %v", f.name, err, j.counts(), j.logs.All())
		}
	}
}

// An image from a cache that was never filled is a finding unless another
// display channel may have filled it.
func TestSharedCache(t *testing.T) {
	box := spiceproto.Rect{Bottom: 8, Right: 8}
	draw := spicetest.Draw{Box: box, Size: spicetest.DrawOverhead, Type: spiceproto.ImageFromCache}.Append(nil)
	for _, shared := range []bool{false, true} {
		j := judge(t, spiceproto.ChannelDisplay, func(*Config) {})
		if shared {
			j.ShareCache()
		}
		j.pass(from(c2s, spiceproto.DisplayInit{}.Append(nil)))
		j.pass(from(s2c, spiceproto.SurfaceCreate{Width: 64, Height: 64, Format: 32}.Append(nil)))
		if len(j.counts()) > 0 {
			t.Fatal(j.counts())
		}
		j.pass(from(s2c, draw))
		if _, found := j.counts()["s2c image-cache"]; found == shared {
			t.Errorf("shared %v: counts %v", shared, j.counts())
		}
	}
	(*Channel)(nil).ShareCache()
}

// The two directions of a channel may be judged at the same time.
func TestBothDirectionsAtOnce(t *testing.T) {
	j := judge(t, spiceproto.ChannelMain, func(c *Config) { c.Mode = WarnOnly })
	var wg sync.WaitGroup
	for _, d := range []spiceproto.Direction{s2c, c2s} {
		wg.Go(func() {
			for range 1000 {
				j.pass([]message{{direction: d, header: spiceproto.Header{Type: 250}}})
			}
		})
	}
	wg.Wait()
	want(t, "counts", map[string]uint64{
		"s2c disallowed_type observed": 1000, "c2s disallowed_type observed": 1000,
		"s2c unknown-opcode": 1000, "c2s unknown-opcode": 1000,
	}, j.counts())
}

// A message that breaks two rules is one verdict.
func TestOneVerdictForAMessage(t *testing.T) {
	j := judge(t, spiceproto.ChannelDisplay, func(c *Config) { c.Findings = EnforceFindings })
	j.pass(begun(t, spiceproto.ChannelDisplay))
	if err := j.pass([]message{{s2c, spiceproto.Header{Type: spiceproto.MsgMigrate, Size: 4}, make([]byte, 4)}}); err != nil {
		t.Fatal(err)
	}
	err := j.pass([]message{{s2c, spiceproto.Header{Type: spiceproto.MsgDisplayCopyBits, Size: 3}, make([]byte, 3)}})
	if _, refused := errors.AsType[*Refusal](err); !refused {
		t.Fatal(err)
	}
	want(t, "counts", map[string]uint64{
		"s2c after-migrate": 1, "s2c too-short": 1, "s2c protocol_violation enforced": 1,
	}, j.counts())
}
