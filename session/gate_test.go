package session

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"
	"pgregory.net/rapid"

	"spicepacer/pacer"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// guardOf judges a channel under the default settings, changed.
func guardOf(kind spiceproto.ChannelType, change func(*firewall.Config)) *firewall.Channel {
	cfg := firewall.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	return firewall.New(cfg, spiceproto.MachineConfig{Channel: kind}, zap.NewNop())
}

// allowedMessage draws a message that its channel has, of any content.
func allowedMessage(kind spiceproto.ChannelType, d spiceproto.Direction) *rapid.Generator[[]byte] {
	var ops []uint16
	for _, m := range spiceproto.Grammar() {
		if (m.Channel == 0 || m.Channel == kind) && m.Direction == d {
			ops = append(ops, m.Opcode)
		}
	}
	return rapid.Custom(func(t *rapid.T) []byte {
		size := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 4096))
		return opaque(rapid.SampledFrom(ops).Draw(t, "op"), size.Draw(t, "size"))
	})
}

// What is allowed passes as it is, whatever it is, however it comes; what is not
// allowed, too, where the firewall only warns.
func TestFirewallChangesNothing(t *testing.T) {
	for _, c := range []relayOptions{
		{kind: spiceproto.ChannelMain},
		{kind: spiceproto.ChannelInputs, clientTLS: true},
		{kind: spiceproto.ChannelPort, clientTLS: true, serverTLS: true},
		{kind: spiceproto.ChannelDisplay},
		{kind: spiceproto.ChannelDisplay, mode: pacer.Withhold},
		{kind: spiceproto.ChannelDisplay, mode: pacer.Adaptive, clientTLS: true},
	} {
		t.Run(fmt.Sprintf("%v %v", c.kind, c.mode), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				down := rapid.SliceOfN(allowedMessage(c.kind, spiceproto.ServerToClient), 1, 30).Draw(rt, "down")
				up := rapid.SliceOfN(allowedMessage(c.kind, spiceproto.ClientToServer), 1, 30).Draw(rt, "up")
				mode := rapid.SampledFrom([]firewall.Mode{firewall.Enforce, firewall.WarnOnly}).Draw(rt, "mode")
				if mode == firewall.WarnOnly {
					down, up = append(down, opaque(250, 5000)), append(up, opaque(250, 5000))
				}
				toClient, toServer := slices.Concat(down...), slices.Concat(up...)
				piecesDown, piecesUp := pieces(rt, toClient), pieces(rt, toServer)
				synctest.Test(t, func(t *testing.T) {
					c := c
					c.pacing = func(p *Pacing) { p.Reorder = false }
					c.guard = guardOf(c.kind, func(f *firewall.Config) { f.Mode = mode })
					r := startRelay(t, c)
					go r.hypervisor.send(piecesDown...)
					go r.client.send(piecesUp...)
					r.client.want(toClient)
					if c.mode == pacer.Passthrough {
						r.hypervisor.want(toServer)
					} else {
						wantBytes(t, withoutAcks(r.hypervisor.readMessages(withoutAcks(toServer))), withoutAcks(toServer))
					}
					r.wantRunning()
				})
			})
		})
	}
}

// readMessages reads messages until all but ACKs are as long as want.
func (e *farEnd) readMessages(want []byte) (all []byte) {
	e.t.Helper()
	for len(withoutAcks(all)) < len(want) {
		m, err := readMessage(e)
		if err != nil {
			e.t.Fatalf("%d of %d bytes, then %v", len(withoutAcks(all)), len(want), err)
		}
		all = append(all, m...)
	}
	return all
}

// offence is a message that is refused, with those before and after it that are
// not.
type offence struct {
	name      string
	direction spiceproto.Direction
	change    func(*firewall.Config)
	before    []byte
	offender  []byte
	rule      firewall.Rule
}

var offences = []offence{
	{
		name: "type from the hypervisor", direction: spiceproto.ServerToClient, rule: firewall.DisallowedType,
		before: opaque(spiceproto.MsgDisplayQualityIndicator, 1000), offender: opaque(250, 1000),
	},
	{
		name: "type from the client", direction: spiceproto.ClientToServer, rule: firewall.DisallowedType,
		before: opaque(spiceproto.MsgcPong, 12), offender: opaque(250, 1000),
	},
	{
		name: "type without a body", direction: spiceproto.ClientToServer, rule: firewall.DisallowedType,
		before: opaque(spiceproto.MsgcPong, 12), offender: opaque(250, 0),
	},
	{
		name: "size from the hypervisor", direction: spiceproto.ServerToClient, rule: firewall.SizeCap,
		change: func(c *firewall.Config) { c.MaxPicture = 20_000 },
		before: opaque(spiceproto.MsgDisplayQualityIndicator, 20_000), offender: opaque(spiceproto.MsgDisplayQualityIndicator, 20_001),
	},
	{
		name: "size from the client", direction: spiceproto.ClientToServer, rule: firewall.SizeCap,
		change: func(c *firewall.Config) { c.MaxMessage = 12 },
		before: opaque(spiceproto.MsgcPong, 12), offender: opaque(spiceproto.MsgcPong, 13),
	},
	{
		name: "finding from the hypervisor", direction: spiceproto.ServerToClient, rule: firewall.ProtocolViolation,
		change: func(c *firewall.Config) { c.Findings = firewall.EnforceFindings },
		before: opaque(spiceproto.MsgDisplayQualityIndicator, 1000),
		// On a surface that does not exist, with more behind its head.
		offender: opaque(spiceproto.MsgDisplayDrawFill, 1000),
	},
	{
		name: "finding from the client", direction: spiceproto.ClientToServer, rule: firewall.ProtocolViolation,
		change: func(c *firewall.Config) { c.Findings = firewall.EnforceFindings },
		before: opaque(spiceproto.MsgcPong, 12), offender: opaque(spiceproto.MsgcDisplayStreamReport, 31),
	},
}

// A message that is refused does not reach the other side, not one byte of it,
// nor does what follows; what came before it does. The channel ends in good order.
func TestRefusedMessagesDoNotPass(t *testing.T) {
	for _, o := range offences {
		t.Run(o.name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, options relayOptions) {
				stream := slices.Concat(o.before, o.offender, o.before)
				for _, size := range []int{len(stream), 1, 5, len(o.before) + 3, len(o.before) + spiceproto.MiniHeaderSize} {
					options.guard = guardOf(spiceproto.ChannelDisplay, o.change)
					r := startRelay(t, options)
					from, to := r.hypervisor, r.client
					if o.direction == spiceproto.ClientToServer {
						from, to = to, from
					}
					go func() {
						for piece := range slices.Chunk(stream, size) {
							if _, err := from.Write(piece); err != nil {
								return // it was refused by then
							}
						}
					}()
					go io.Copy(io.Discard, from)
					to.wantRest(o.before)
					to.Close()
					from.Close()
					wantRefusal(t, r.result(), o.rule)
					sent := r.stats.BytesToClient.Load() + r.stats.BytesToServer.Load()
					wantCount(t, "in all", sent, len(o.before))
				}
			})
		})
	}
}

func wantRefusal(t *testing.T, err error, rule firewall.Rule) {
	t.Helper()
	if refusal, ok := err.(*firewall.Refusal); !ok || refusal.Rule != rule {
		t.Errorf("relay ended with %v, want a refusal by %v", err, rule)
	}
}

// Of a message that never becomes complete nothing passes that was not judged.
func TestUnjudgedStartOfAMessage(t *testing.T) {
	for _, c := range []struct {
		direction spiceproto.Direction
		message   []byte
	}{
		{spiceproto.ServerToClient, opaque(spiceproto.MsgMainName, 1000)},
		{spiceproto.ClientToServer, opaque(spiceproto.MsgcMainAgentData, 1000)},
	} {
		for _, n := range []int{1, 5, 6, 7, spiceproto.MiniHeaderSize + spiceproto.HeadSize - 1} {
			synctest.Test(t, func(t *testing.T) {
				r := startRelay(t, relayOptions{kind: spiceproto.ChannelMain, guard: guardOf(spiceproto.ChannelMain, nil)})
				from, to := r.hypervisor, r.client
				if c.direction == spiceproto.ClientToServer {
					from, to = to, from
				}
				from.send(c.message[:n])
				to.wantNothing(soon)
				from.send(c.message[n : spiceproto.MiniHeaderSize+spiceproto.HeadSize])
				to.want(c.message[:spiceproto.MiniHeaderSize+spiceproto.HeadSize])
				from.send(c.message[spiceproto.MiniHeaderSize+spiceproto.HeadSize:], c.message[:n])
				to.want(c.message[spiceproto.MiniHeaderSize+spiceproto.HeadSize:])
				from.Close()
				to.wantRest(nil)
				r.wantEnd(io.ErrUnexpectedEOF)
			})
		}
	}
}

// Whatever is refused, the queue gives its memory back, and the hypervisor is
// still followed to the end of its message; see settle.
func TestRefusalInsideABatch(t *testing.T) {
	for _, mode := range pacer.Modes() {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: mode, guard: guardOf(spiceproto.ChannelDisplay, nil)})
			good, bad := opaque(spiceproto.MsgDisplayQualityIndicator, 10), opaque(250, 10)
			half := opaque(spiceproto.MsgDisplayQualityIndicator, 100)
			r.hypervisor.send(slices.Concat(good, bad, good, half[:50]))
			synctest.Wait()
			r.client.wantRest(good)
			r.client.Close()
			go r.hypervisor.send(half[50:])
			r.hypervisor.wantRest(nil)
			r.hypervisor.Close()
			wantRefusal(t, r.result(), firewall.DisallowedType)
			if n := r.stats.QueueBytes.Load(); n != 0 {
				t.Errorf("%d bytes left in the queue", n)
			}
		})
	}
}

// What is bad is found in every mode of pacing, and nothing on a legal session.
func TestFindingsOfRelays(t *testing.T) {
	legal := [][]byte{
		spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil),
		spiceproto.SurfaceCreate{Width: 64, Height: 64, Format: 32}.Append(nil),
		spiceproto.Ping{ID: 7}.Append(nil),
	}
	for _, bad := range []bool{false, true} {
		eachMode(t, func(t *testing.T, o relayOptions) {
			o.guard = guardOf(spiceproto.ChannelDisplay, nil)
			r := startRelay(t, o)
			down := bytes.Join(legal, nil)
			up := slices.Concat(spiceproto.AckSync{Generation: 1}.Append(nil), spiceproto.Pong{ID: 7}.Append(nil))
			if bad {
				down = append(down, legal[1]...)                             // the surface exists
				up = spiceproto.Pong{ID: 8}.Append(spiceproto.AppendAck(up)) // too early; and never asked
			}
			go io.Copy(io.Discard, r.hypervisor)
			r.client.send(spiceproto.DisplayInit{}.Append(nil))
			synctest.Wait()
			r.hypervisor.send(down)
			r.client.want(down)
			r.client.send(up)
			r.wantRunning()
			var want firewall.Counts
			if bad {
				want.Findings[spiceproto.ServerToClient][spiceproto.RuleDuplicateSurface] = 1
				want.Findings[spiceproto.ClientToServer][spiceproto.RuleAckEarly] = 1
				want.Findings[spiceproto.ClientToServer][spiceproto.RulePong] = 1
			}
			if got := o.guard.Tally().Counts(); got != want {
				t.Errorf("bad %v: counts %v, want %v", bad, got, want)
			}
		})
	}
}
