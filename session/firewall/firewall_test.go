package firewall

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/spiceproto"
)

const (
	s2c = spiceproto.ServerToClient
	c2s = spiceproto.ClientToServer
)

// judged is a Channel with its log.
type judged struct {
	*Channel
	logs *observer.ObservedLogs
}

// judge returns what judges a channel under the default settings, changed.
func judge(t *testing.T, kind spiceproto.ChannelType, change func(*Config)) judged {
	t.Helper()
	cfg := DefaultConfig()
	change(&cfg)
	core, logs := observer.New(zap.DebugLevel)
	_, caps := spiceproto.ServerCaps(kind)
	m := spiceproto.MachineConfig{Channel: kind, Client: caps, Server: caps, SoleDisplay: true}
	return judged{New(cfg, m, zap.New(core)), logs}
}

func (j judged) counts() map[string]uint64 { return countsOf(j.Tally().Counts()) }

// countsOf names what is not 0.
func countsOf(c Counts) map[string]uint64 {
	named := make(map[string]uint64)
	add := func(n uint64, parts ...any) {
		if n > 0 {
			named[strings.TrimSuffix(fmt.Sprintln(parts...), "\n")] = n
		}
	}
	for d := range c.Verdicts {
		direction := spiceproto.Direction(d)
		for _, r := range Rules() {
			add(c.Verdicts[d][r][Enforced], direction, r, Enforced)
			add(c.Verdicts[d][r][Observed], direction, r, Observed)
		}
		for r, n := range c.Findings[d] {
			add(n, direction, spiceproto.Rule(r))
		}
	}
	return named
}

func want(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// offences are messages with the rules they break, in the order in which they
// are looked at.
var offences = []struct {
	name      string
	kind      spiceproto.ChannelType
	direction spiceproto.Direction
	header    spiceproto.Header
	rules     []Rule
	// harmless: no mode ends the channel.
	harmless bool
}{
	{"client sends a message of nobody", spiceproto.ChannelMain, c2s, spiceproto.Header{Type: 250}, []Rule{DisallowedType}, false},
	{"server sends a message of nobody", spiceproto.ChannelDisplay, s2c, spiceproto.Header{Type: 301}, []Rule{DisallowedType}, false},
	{"server sends what clients send", spiceproto.ChannelInputs, s2c, spiceproto.Header{Type: spiceproto.MsgcInputsKeyScancode, Size: 1}, []Rule{DisallowedType}, false},
	{"type above all others", spiceproto.ChannelPlayback, s2c, spiceproto.Header{Type: 65535}, []Rule{DisallowedType}, false},
	{"message of another channel", spiceproto.ChannelCursor, s2c, spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy}, []Rule{DisallowedType}, false},
	{"clients send nothing of their own on playback", spiceproto.ChannelPlayback, c2s, spiceproto.Header{Type: 101}, []Rule{DisallowedType}, false},
	{"large input", spiceproto.ChannelInputs, c2s, spiceproto.Header{Type: spiceproto.MsgcInputsKeyScancode, Size: 4097}, []Rule{SizeCap}, false},
	{"large answer on cursor", spiceproto.ChannelCursor, c2s, spiceproto.Header{Type: spiceproto.MsgcAck, Size: 1 << 20}, []Rule{SizeCap}, false},
	{"large on any other channel", spiceproto.ChannelUSBRedir, c2s, spiceproto.Header{Type: spiceproto.MsgcVMCData, Size: 16<<20 + 1}, []Rule{SizeCap}, false},
	{"large cursor", spiceproto.ChannelCursor, s2c, spiceproto.Header{Type: spiceproto.MsgCursorSet, Size: 16<<20 + 1}, []Rule{SizeCap}, false},
	{"large picture", spiceproto.ChannelDisplay, s2c, spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy, Size: 128<<20 + 1}, []Rule{SizeCap}, false},
	{"large and of nobody", spiceproto.ChannelInputs, c2s, spiceproto.Header{Type: 200, Size: 1 << 31}, []Rule{SizeCap, DisallowedType}, false},
	{"large and unknown on record", spiceproto.ChannelRecord, c2s, spiceproto.Header{Type: 200, Size: 1 << 31}, []Rule{SizeCap, UnmodeledType}, false},
	{"unknown on record", spiceproto.ChannelRecord, c2s, spiceproto.Header{Type: 200}, []Rule{UnmodeledType}, true},
	{"unknown on smartcard", spiceproto.ChannelSmartcard, s2c, spiceproto.Header{Type: 102}, []Rule{UnmodeledType}, true},
	{"anything on tunnel", spiceproto.ChannelTunnel, s2c, spiceproto.Header{Type: spiceproto.MsgPing, Size: 12}, []Rule{UnmodeledType}, true},
}

func TestEnforce(t *testing.T) {
	for _, mode := range []Mode{Auto, Enforce} {
		for _, o := range offences {
			t.Run(o.name, func(t *testing.T) {
				j := judge(t, o.kind, func(c *Config) { c.Mode = mode })
				err := j.Header(o.direction, o.header)
				if o.harmless {
					if err != nil || j.logs.Len() != 0 {
						t.Errorf("err %v, log %v", err, j.logs.All())
					}
					want(t, "counts", map[string]uint64{o.direction.String() + " unmodeled_type observed": 1}, j.counts())
					return
				}
				first := o.rules[0]
				refusal, refused := errors.AsType[*Refusal](err)
				if !refused || *refusal != (Refusal{Channel: o.kind, Direction: o.direction, Header: o.header, Rule: first}) {
					t.Errorf("got %+v", err)
				}
				want(t, "counts", map[string]uint64{fmt.Sprint(o.direction, " ", first, " enforced"): 1}, j.counts())
				line := "policy header check verdict Terminate; ending relay"
				if first == DisallowedType {
					line = "policy verdict Terminate; ending relay"
				}
				wantLine(t, j, line, map[string]any{
					"channel": o.kind.String(), "direction": DirectionName(o.direction), "rule": first.String(),
					"opcode": o.header.Type, "size": o.header.Size,
					"message": spiceproto.MessageName(o.kind, o.direction, o.header.Type),
				})
				want(t, "summary", fmt.Sprintf("Firewall verdicts this connection: %v (enforced=1, observed=0)", first), j.Summary())
			})
		}
	}
}

func TestWarnOnly(t *testing.T) {
	for _, o := range offences {
		t.Run(o.name, func(t *testing.T) {
			j := judge(t, o.kind, func(c *Config) { c.Mode = WarnOnly })
			counts, lines := make(map[string]uint64), 0
			for range 5 {
				if err := j.Header(o.direction, o.header); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range o.rules {
				counts[fmt.Sprint(o.direction, " ", r, " observed")] = 5
				if r != UnmodeledType {
					lines += 3 // at the first, the second and the fourth
				}
			}
			want(t, "counts", counts, j.counts())
			if n := j.logs.FilterMessage("firewall WarnOnly: would have blocked; forwarding").Len(); n != lines || j.logs.Len() != lines {
				t.Errorf("%d lines, want %d: %v", n, lines, j.logs.All())
			}
		})
	}
}

func TestOff(t *testing.T) {
	for _, o := range offences {
		j := judge(t, o.kind, func(c *Config) { c.Mode = Off })
		if err := j.Header(o.direction, o.header); err != nil || len(j.counts()) != 0 || j.Summary() != "" {
			t.Errorf("%s: %v, %v, %q", o.name, err, j.counts(), j.Summary())
		}
	}
	if c := New(Config{Mode: Off}, spiceproto.MachineConfig{Channel: spiceproto.ChannelMain}, zap.NewNop()); c != nil || c.Tally() != nil {
		t.Error("something judges although nothing is to be judged")
	}
}

// wantLine expects one line in the log, at warn.
func wantLine(t *testing.T, j judged, message string, fields map[string]any) {
	t.Helper()
	lines := j.logs.FilterMessage(message).All()
	if len(lines) != 1 || lines[0].Level != zap.WarnLevel {
		t.Fatalf("log %v, want one line %q", j.logs.All(), message)
	}
	want(t, message, fields, lines[0].ContextMap())
}

// The largest messages are allowed.
func TestSizesThatAreAllowed(t *testing.T) {
	for _, m := range []struct {
		kind      spiceproto.ChannelType
		direction spiceproto.Direction
		header    spiceproto.Header
	}{
		{spiceproto.ChannelInputs, c2s, spiceproto.Header{Type: spiceproto.MsgcInputsKeyScancode, Size: 4096}},
		{spiceproto.ChannelInputs, s2c, spiceproto.Header{Type: spiceproto.MsgPing, Size: 256_012}},
		{spiceproto.ChannelCursor, s2c, spiceproto.Header{Type: spiceproto.MsgCursorSet, Size: 16 << 20}},
		{spiceproto.ChannelMain, s2c, spiceproto.Header{Type: spiceproto.MsgPing, Size: 256_012}},
		{spiceproto.ChannelWebDAV, c2s, spiceproto.Header{Type: spiceproto.MsgcVMCData, Size: 16 << 20}},
		// An uncompressed screen of 7680x4320.
		{spiceproto.ChannelDisplay, s2c, spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy, Size: 4*7680*4320 + 200}},
	} {
		j := judge(t, m.kind, func(*Config) {})
		if err := j.Header(m.direction, m.header); err != nil {
			t.Error(err)
		}
	}
}

// Messages and bytes are counted for each second and each direction.
func TestRateCap(t *testing.T) {
	pong := spiceproto.Header{Type: spiceproto.MsgcPong, Size: 12} // 18 bytes
	for name, rate := range map[string]Rate{
		"messages": {Messages: 3}, "bytes": {Bytes: 3*18 + 17}, "both": {Messages: 3, Bytes: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				warn := judge(t, spiceproto.ChannelMain, func(c *Config) { c.Mode, c.Rate = WarnOnly, rate })
				enforce := judge(t, spiceproto.ChannelMain, func(c *Config) { c.Rate = rate })
				for second := range 3 {
					for range 3 {
						if err := errors.Join(warn.Header(c2s, pong), enforce.Header(c2s, pong)); err != nil {
							t.Fatal(second, err)
						}
					}
					for range 2 {
						if err := warn.Header(c2s, pong); err != nil {
							t.Fatal(second, err)
						}
					}
					time.Sleep(time.Second)
				}
				want(t, "counts", map[string]uint64{"c2s rate_cap observed": 6}, warn.counts())
				for range 3 {
					enforce.Header(c2s, pong)
				}
				err := enforce.Header(c2s, pong)
				if refusal, refused := errors.AsType[*Refusal](err); !refused || refusal.Rule != RateCap {
					t.Errorf("got %v", err)
				}
				wantLine(t, enforce, "policy header check verdict Terminate; ending relay", map[string]any{
					"channel": "main", "direction": "client_to_server", "rule": "rate_cap",
					"opcode": uint16(spiceproto.MsgcPong), "message": "PONG", "size": uint32(12),
				})
				if err := enforce.Header(s2c, spiceproto.Header{Type: spiceproto.MsgPing, Size: 12}); err != nil {
					t.Errorf("the other direction: %v", err)
				}
			})
		})
	}
}

func TestSummary(t *testing.T) {
	j := judge(t, spiceproto.ChannelInputs, func(c *Config) { c.Mode = WarnOnly })
	if got := j.Summary(); got != "" {
		t.Errorf("before anything: %q", got)
	}
	for range 3 {
		j.Header(c2s, spiceproto.Header{Type: 200, Size: 5000})
	}
	j.Header(s2c, spiceproto.Header{Type: 201})
	want(t, "summary",
		"Firewall verdicts this connection: disallowed_type (enforced=0, observed=4), size_cap (enforced=0, observed=3)", j.Summary())

	var all Counts
	for r := range all.Verdicts[s2c] {
		all.Verdicts[s2c][r] = [numActions]uint64{1, 2}
		all.Verdicts[c2s][r] = [numActions]uint64{10, 20}
	}
	want(t, "order", "Firewall verdicts this connection: "+
		"disallowed_type (enforced=11, observed=22), unmodeled_type (enforced=11, observed=22), "+
		"size_cap (enforced=11, observed=22), rate_cap (enforced=11, observed=22), "+
		"protocol_violation (enforced=11, observed=22)", all.summary())
}

func TestCountsAdd(t *testing.T) {
	j := judge(t, spiceproto.ChannelInputs, func(c *Config) { c.Mode = WarnOnly })
	j.Header(c2s, spiceproto.Header{Type: 200, Size: 5000})
	j.Head(c2s, spiceproto.Header{Type: 200}, nil)
	sum := j.Tally().Counts()
	sum.Add(j.Tally().Counts())
	want(t, "sum", map[string]uint64{
		"c2s disallowed_type observed": 2, "c2s size_cap observed": 2, "c2s unknown-opcode": 2,
	}, countsOf(sum))
}

// Labels are those of Kerbside's proxy, and every rule of the protocol has room.
func TestLabels(t *testing.T) {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.String())
	}
	want(t, "rules", []string{"disallowed_type", "unmodeled_type", "size_cap", "rate_cap", "protocol_violation"}, names)
	want(t, "actions", []string{"enforced", "observed"}, []string{Enforced.String(), Observed.String()})
	want(t, "directions", []string{"server_to_client", "client_to_server"}, []string{DirectionName(s2c), DirectionName(c2s)})
	if n := len(spiceproto.Rules()); n != protocolRules || n > 64 {
		t.Errorf("the protocol has %d rules, there is room for %d", n, protocolRules)
	}
	for _, m := range spiceproto.Grammar() {
		if int(m.Opcode) >= 64*len(opcodes{}) {
			t.Errorf("no room for opcode %d", m.Opcode)
		}
	}
	for r, line := range terminates {
		if line == "" && Rule(r) != UnmodeledType {
			t.Errorf("no line for %v", Rule(r))
		}
	}
}

func TestRefusalNamesTheMessage(t *testing.T) {
	j := judge(t, spiceproto.ChannelInputs, func(*Config) {})
	err := j.Header(c2s, spiceproto.Header{Type: spiceproto.MsgcInputsKeyScancode, Size: 5000})
	for _, part := range []string{"firewall", "size_cap", "inputs c2s", "104 (KEY_SCANCODE)", "5000 bytes"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// Judging allowed messages costs no memory.
func TestJudgingDoesNotAllocate(t *testing.T) {
	j := judge(t, spiceproto.ChannelDisplay, func(c *Config) { c.Rate = Rate{Messages: 1 << 40} })
	head := slices.Repeat([]byte{0}, spiceproto.HeadSize)
	h := spiceproto.Header{Type: spiceproto.MsgDisplayStreamData, Size: 4000} // of no stream: a finding each
	if n := testing.AllocsPerRun(100, func() {
		if j.Header(s2c, h) != nil || j.Head(s2c, h, head) != nil {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
}

func BenchmarkJudge(b *testing.B) {
	for name, change := range map[string]func(*Config){
		"all":       func(*Config) {},
		"rate too":  func(c *Config) { c.Rate = Rate{Messages: 1 << 40} },
		"L0 and L1": func(c *Config) { c.Findings = IgnoreFindings },
		"findings":  func(c *Config) { c.Mode = Off },
	} {
		b.Run(name, func(b *testing.B) {
			cfg := DefaultConfig()
			change(&cfg)
			c := New(cfg, spiceproto.MachineConfig{Channel: spiceproto.ChannelDisplay, Client: spiceproto.Caps{^uint32(0)}}, zap.NewNop())
			create := spiceproto.SurfaceCreate{Width: 64, Height: 64, Format: 32}.Append(nil)
			c.Head(c2s, spiceproto.Header{Type: spiceproto.MsgcDisplayInit, Size: 14}, make([]byte, 14))
			c.Head(s2c, spiceproto.Header{Type: spiceproto.MsgDisplaySurfaceCreate, Size: 20}, create[spiceproto.MiniHeaderSize:])
			fill := make([]byte, 50)
			h := spiceproto.Header{Type: spiceproto.MsgDisplayDrawFill, Size: 50}
			b.ReportAllocs()
			for b.Loop() {
				if c.Header(s2c, h) != nil || c.Head(s2c, h, fill) != nil {
					b.Fatal("refused")
				}
			}
			if n := len(countsOf(c.Tally().Counts())); n > 0 {
				b.Log(countsOf(c.Tally().Counts()))
			}
		})
	}
}
