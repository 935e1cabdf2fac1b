package session

import (
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// chooses is a hypervisor that lets the client choose the compression.
var chooses = spiceproto.Caps(nil).With(spiceproto.CapDisplayPrefCompression)

// thin is a link on which the queue fills.
var thin = spicetest.LinkConfig{Profile: path(20, 1)}

// numbered makes messages tell their number: clients ignore what follows a body.
func numbered(m []byte, number uint64, padding int) []byte {
	h, body := parse(m)
	h.Size += uint32(padding) + 8
	m = append(h.Append(nil), body...)
	return binary.LittleEndian.AppendUint64(append(m, make([]byte, padding)...), number)
}

func numberOf(m []byte) uint64 { return binary.LittleEndian.Uint64(m[len(m)-8:]) }

// isFiller tells that a message is the proxy's own.
func isFiller(m []byte) bool {
	h, _ := parse(m)
	return h.Type == spiceproto.MsgDisplayInvalList && h.Size == 2
}

// scriptStream returns n numbered messages, of any size, with the script they are
// from and the choices to send them by.
func scriptStream(seed uint64, n int) (stream [][]byte, script *spicetest.Script, random *rand.Rand) {
	random = rand.New(rand.NewPCG(seed, 2))
	script = spicetest.NewScript(random.IntN)
	for i := range n {
		m := script.Next()
		if h, _ := parse(m); h.Type == spiceproto.MsgSetAck {
			m = opaque(999, 0) // a client would have to answer
		}
		stream = append(stream, numbered(m, uint64(i+1), []int{0, 0, 3000, 20_000}[random.IntN(4)]))
	}
	return stream, script, random
}

// sendAtPlay sends messages in pieces, with pauses.
func (r *relayed) sendAtPlay(stream [][]byte, random *rand.Rand) {
	for _, m := range stream {
		cut := random.IntN(len(m))
		r.hypervisor.Write(m[:cut])
		if random.IntN(4) == 0 {
			time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		}
		r.hypervisor.Write(m[cut:])
	}
}

func (r *relayed) endOfServer() { r.hypervisor.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// What the client shows in the end is what it would show without the proxy,
// whatever was left out and in whatever order the rest came; and nothing older
// was painted over something newer on the way.
func TestReorderedStreamShowsTheSame(t *testing.T) {
	var replaced, overtook uint64
	for seed := range uint64(schedules / 20) {
		synctest.Test(t, func(t *testing.T) {
			stream, script, random := scriptStream(seed, 150)
			r := startRelay(t, relayOptions{mode: pacer.Adaptive, clientLink: thin, clientTLS: seed%4 == 0})
			received := r.client.collect()
			go func() {
				r.sendAtPlay(stream, random)
				time.Sleep(time.Minute) // everything is through
				r.endOfServer()
			}()
			r.wantEnd(nil)
			direct, client := spicetest.NewRenderer(script.Grain), spicetest.NewRenderer(script.Grain)
			for i, m := range stream {
				if err := direct.Apply(uint64(i+1), m); err != nil {
					t.Fatal(err)
				}
			}
			for _, m := range messages(received()) {
				if err := client.Apply(numberOf(m), m); err != nil {
					t.Fatalf("stream %d: %v", seed, err)
				}
			}
			if d := client.Diff(direct); d != "" {
				t.Fatalf("stream %d: %s", seed, d)
			}
			replaced += r.stats.Replaced.Load()
			overtook += r.stats.Overtook.Load()
		})
	}
	t.Logf("%d messages replaced, %d went before older ones", replaced, overtook)
	if replaced == 0 || overtook == 0 {
		t.Error("nothing was reordered")
	}
}

// Where nothing may be reordered, every byte goes as it came: in withhold mode
// and in passthrough whatever the settings say, and in adaptive mode with
// reordering off. So does what the client asks for.
func TestOrderIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		mode    pacer.Mode
		reorder bool
	}{{pacer.Passthrough, true}, {pacer.Withhold, true}, {pacer.Adaptive, false}} {
		t.Run(c.mode.String(), func(t *testing.T) {
			for seed := range uint64(schedules / 100) {
				synctest.Test(t, func(t *testing.T) {
					stream, _, random := scriptStream(seed, 100)
					r := startRelay(t, relayOptions{
						mode: c.mode, clientLink: thin, serverCaps: chooses,
						pacing: func(p *Pacing) { p.Reorder = c.reorder },
					})
					upstream := r.hypervisor.collect()
					go r.sendAtPlay(stream, random)
					asked := slices.Concat(
						spiceproto.DisplayInit{}.Append(nil),
						spiceproto.PreferredCompression{Compression: spiceproto.CompressionQUIC}.Append(nil),
					)
					r.client.send(asked)
					r.client.want(slices.Concat(stream...))
					r.client.Close()
					r.wantEnd(nil)
					wantBytes(t, upstream(), asked)
				})
			}
		})
	}
}

// A hypervisor that ends in the middle of a message leaves nothing behind: all
// that had arrived is delivered, the last piece too.
func TestEndInsideAMessageWhileReordering(t *testing.T) {
	for _, cut := range []int{3, spiceproto.MiniHeaderSize, 20, 60, 300, 9000} {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: pacer.Adaptive, clientLink: thin})
			stream := drawsTo(3, 10_000)
			last := drawsTo(1, 10_000)[1][:cut]
			r.hypervisor.send(slices.Concat(stream...))
			r.hypervisor.send(last)
			r.endOfServer()
			want := slices.Concat(stream...)
			if cut >= spiceproto.MiniHeaderSize {
				want = append(want, last...)
			}
			r.client.wantRest(want)
		})
	}
}

// drawsTo returns a primary surface, and n draws to places beside each other.
func drawsTo(n, size int) [][]byte {
	stream := [][]byte{spiceproto.SurfaceCreate{Width: 1280, Height: 800, Format: 32, Flags: 1}.Append(nil)}
	for i := range n {
		left := int32(i%40) * 32
		box := spiceproto.Rect{Top: 100, Left: left, Bottom: 200, Right: left + 32}
		stream = append(stream, spicetest.Draw{Box: box, ID: uint64(i), Size: size}.Append(nil))
	}
	return stream
}

// replacing returns what a Rig takes for its proxy: a relay that reorders, for a
// hypervisor that sends no GLZ if it is asked.
func replacing(stats *Stats, log *zap.Logger) func(context.Context, net.Conn, net.Conn) error {
	return func(ctx context.Context, client, server net.Conn) error {
		ch := &channel{
			kind: spiceproto.ChannelDisplay, mode: pacer.Adaptive, log: log, stats: stats, serverCaps: chooses,
			client: simulatedLeg(client.(*spicetest.LinkConn), 0, new(int)), server: leg{conn: server},
		}
		return relay(ctx, ch, relayConfig{pacing: DefaultConfig().Pacing})
	}
}

// Messages that are left out count for the hypervisor, whose arithmetic knows no
// mercy, and not for the client, whose ACKs come when they came before.
func TestReplacedMessagesAreAcknowledged(t *testing.T) {
	for _, window := range []uint32{1, 20, 40} {
		synctest.Test(t, func(t *testing.T) {
			stats := new(Stats)
			r := spicetest.Start(t, spicetest.RigConfig{
				Server: spicetest.ServerConfig{Window: window, Columns: heavy(), FPS: 30, SocketBuffer: 400_000},
				Link:   spicetest.LinkConfig{Profile: path(80, 10)},
				Proxy:  replacing(stats, zap.NewNop()),
			})
			r.Advance(time.Second)
			for range 30 {
				r.Press()
				r.Advance(time.Second)
			}
			r.Server.Animate(0)
			r.Press()
			r.WantEcho(5 * time.Second)
			r.Advance(10 * time.Second)
			r.WantPicture()
			if stats.Replaced.Load() == 0 {
				t.Error("nothing was replaced")
			}
			r.Server.Inspect(func(s *spicetest.Sender, _ *spicetest.Desktop) {
				if s.Wrapped() || s.PipeLen() > 0 || s.Waiting() {
					t.Errorf("window %d: wrapped %v, waiting %v, %d items in the pipe", window, s.Wrapped(), s.Waiting(), s.PipeLen())
				}
			})
		})
	}
}

// Whatever happens to a server whose updates are replaced, its client and its
// link, nothing gets stuck.
func TestNeverStuckWhileReplacing(t *testing.T) {
	var replaced uint64
	for seed := range uint64(schedules / 4) {
		synctest.Test(t, func(t *testing.T) {
			s := &schedule{Rand: rand.New(rand.NewPCG(seed, 3))}
			s.window = uint32(s.among(1, 2, 20, 40))
			columns := make([]int, 1+s.IntN(12))
			for i := range columns {
				columns[i] = s.among(100, 1000, 5000)
			}
			stats := new(Stats)
			s.rig = spicetest.Start(t, spicetest.RigConfig{
				Server: spicetest.ServerConfig{
					Window: s.window, Columns: columns, FPS: s.among(0, 30), ScreenSize: s.among(200, 20_000),
					SocketBuffer: s.among(3000, 40_000, 400_000), Probe: time.Duration(s.IntN(2)) * time.Second,
				},
				Link: spicetest.LinkConfig{
					Profile: path(s.among(0, 5, 40, 200), 10), SendBuffer: s.among(0, 20_000), ReceiveBuffer: s.among(0, 20_000),
				},
				Proxy: replacing(stats, zap.NewNop()),
			})
			s.play()
			s.rig.WantPicture()
			s.rig.Server.Inspect(func(sender *spicetest.Sender, _ *spicetest.Desktop) {
				if sender.Wrapped() || sender.PipeLen() > 0 {
					t.Errorf("schedule %d: server wrapped %v, %d items wait", seed, sender.Wrapped(), sender.PipeLen())
				}
			})
			replaced += stats.Replaced.Load()
		})
		if t.Failed() {
			t.Fatalf("that was schedule %d", seed)
		}
	}
	t.Logf("%d messages replaced", replaced)
	if replaced == 0 {
		t.Error("nothing was replaced")
	}
}

// overwriting returns a primary surface and n draws to one place, so that all
// but what is being sent are replaced.
func overwriting(n, size int) [][]byte {
	stream := drawsTo(0, 0)
	box := spiceproto.Rect{Top: 100, Left: 100, Bottom: 300, Right: 300}
	for i := range n {
		stream = append(stream, spicetest.Draw{Box: box, ID: uint64(i), Size: size}.Append(nil))
	}
	return stream
}

// A client that got less than the hypervisor sent owes fewer ACKs, and no line
// in the log says that it owes more.
func TestReplacedMessagesAreNotOwedAcks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRelay(t, relayOptions{mode: pacer.Adaptive, clientLink: thin})
		r.play(func(reply []byte) []byte { return reply })
		received := r.hypervisor.collect()
		r.hypervisor.send(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
		r.hypervisor.send(overwriting(199, 5_000)...)
		time.Sleep(time.Hour)
		if n := r.stats.Replaced.Load(); n < 100 {
			t.Fatalf("%d messages replaced", n)
		}
		r.wantLogged(silentClient, 0)
		r.wantLogged(surplusClient, 0)
		r.client.Close()
		r.wantEnd(nil)
		if n := count(received(), spiceproto.MsgcAck); n != 201/20 {
			t.Errorf("%d ACKs for 201 messages, want %d", n, 201/20)
		}
	})
}

// With a second display channel the client's count of messages becomes the
// hypervisor's, on both, and stays so: nothing is left out any more.
func TestSecondDisplayEndsReordering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		displays := new(sessionDisplays)
		start := func(id uint8) *relayed {
			return startRelay(t, relayOptions{mode: pacer.Adaptive, id: id, clientLink: thin, displays: displays})
		}
		first := start(0)
		received := first.client.collect()
		before := overwriting(100, 5_000)
		first.hypervisor.send(before...)
		time.Sleep(500 * time.Millisecond) // some wait, some were replaced, one is on its way
		second := start(1)
		alsoReceived := second.client.collect()
		after := slices.Concat(overwriting(50, 5_000), drawsTo(50, 5_000))
		go first.hypervisor.send(after...)
		go second.hypervisor.send(after...)
		time.Sleep(time.Hour)
		replaced := first.stats.Replaced.Load()
		for _, r := range []*relayed{first, second} {
			r.endOfServer()
			r.wantEnd(nil)
		}
		got := messages(received())
		fillers := uint64(len(slices.Collect(filtered(got, isFiller))))
		if replaced == 0 || fillers != replaced {
			t.Errorf("%d messages without effect for %d that were replaced", fillers, replaced)
		}
		if want := len(before) + len(after); len(got) != want {
			t.Errorf("the client got %d messages of %d", len(got), want)
		}
		wantBytes(t, slices.Concat(got[len(got)-len(after):]...), slices.Concat(after...))
		wantBytes(t, alsoReceived(), slices.Concat(after...))
	})
}

func filtered(all [][]byte, keep func([]byte) bool) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for _, m := range all {
			if keep(m) && !yield(m) {
				return
			}
		}
	}
}

// However many messages were replaced in a long session, a second display takes
// no more memory than the queue may have.
func TestSecondDisplayIsBounded(t *testing.T) {
	skipUnderRace(t)
	const bound = 1 << 20
	synctest.Test(t, func(t *testing.T) {
		displays := new(sessionDisplays)
		r := startRelay(t, relayOptions{
			mode: pacer.Adaptive, displays: displays, clientLink: spicetest.LinkConfig{Profile: path(20, 0.2)},
			pacing: func(p *Pacing) { p.QueueBytes = bound },
		})
		r.client.collect()
		r.hypervisor.send(overwriting(40_000, 200)...)
		time.Sleep(time.Second)
		replaced := r.stats.Replaced.Load()
		before := heapInUse()
		startRelay(t, relayOptions{mode: pacer.Adaptive, displays: displays})
		synctest.Wait()
		if grown := heapInUse() - before; grown > 4*bound {
			t.Errorf("after %d messages were replaced, a second display takes %d bytes, bound %d", replaced, grown, bound)
		}
		r.client.Close()
		<-r.ended
	})
}

func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A key or a mouse button lets the hypervisor send, whatever of a sweep waits.
func TestInputOpensTheValve(t *testing.T) {
	begun := make(map[bool]uint64)
	for _, press := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			displays := new(sessionDisplays)
			r := startRelay(t, relayOptions{
				mode: pacer.Adaptive, displays: displays, serverCaps: chooses, clientLink: spicetest.LinkConfig{Profile: path(80, 2)},
				serverLink: spicetest.LinkConfig{Profile: path(1, 1000), SendBuffer: 30_000, ReceiveBuffer: 30_000},
			})
			r.play(func(reply []byte) []byte { return reply })
			s := r.serve(spicetest.ServerConfig{Window: 40, Columns: heavy(), FPS: 30, SocketBuffer: smallSocket})
			inputs := startRelay(t, relayOptions{kind: spiceproto.ChannelInputs, displays: displays})
			go io.Copy(io.Discard, inputs.hypervisor)
			time.Sleep(10 * time.Second)
			before := begunBy(s)
			if press {
				inputs.client.send(append(spiceproto.Header{Type: spiceproto.MsgcInputsKeyDown, Size: 4}.Append(nil), 30, 0, 0, 0))
			}
			time.Sleep(250 * time.Millisecond)
			begun[press] = begunBy(s) - before
		})
	}
	t.Logf("%d messages within 250 ms after a key, %d without", begun[true], begun[false])
	if begun[true] < begun[false]+10 {
		t.Errorf("%d messages within 250 ms after a key, %d without", begun[true], begun[false])
	}
}

// compressions returns what a stream to the hypervisor asks for, in order, and
// whether DISPLAY_INIT was before all of it.
func compressions(stream []byte) (asked []spiceproto.Compression, initFirst bool) {
	initFirst = true
	seen := false
	for _, m := range messages(stream) {
		switch h, body := parse(m); h.Type {
		case spiceproto.MsgcDisplayInit:
			seen = true
		case spiceproto.MsgcDisplayPreferredCompression:
			p, _ := spiceproto.ParsePreferredCompression(body)
			asked = append(asked, p.Compression)
			initFirst = initFirst && seen
		}
	}
	return asked, initFirst
}

// The hypervisor is asked for images without a dictionary while the link is the
// limit, if it can choose and after DISPLAY_INIT, and then for what the client
// wants.
func TestPreferredCompression(t *testing.T) {
	auto, glz, quic := spiceproto.CompressionAutoLZ, spiceproto.CompressionAutoGLZ, spiceproto.CompressionQUIC
	noGLZ := func(p *Pacing) { p.Reorder = false }
	lz := func(p *Pacing) { p.Compression, p.CompressionAuto = spiceproto.CompressionLZ, false }
	keep := func(p *Pacing) { p.CompressionAuto = false }
	type asked = []spiceproto.Compression
	for _, c := range []struct {
		name    string
		mode    pacer.Mode
		caps    spiceproto.Caps
		pacing  func(*Pacing)
		client  spiceproto.Compression
		kind    spiceproto.ImageType
		idle    bool // the link is never the limit
		want    asked
		forever bool // it is the limit to the end
	}{
		{"auto", pacer.Adaptive, chooses, nil, 0, spiceproto.ImageGLZRGB, false, asked{auto, glz}, false},
		{"auto, still the limit", pacer.Adaptive, chooses, nil, 0, spiceproto.ImageGLZRGB, false, asked{auto}, true},
		{"auto with a client that prefers GLZ", pacer.Adaptive, chooses, nil, glz, spiceproto.ImageGLZRGB, false, asked{glz, auto, glz}, false},
		{"auto with a client that prefers QUIC", pacer.Adaptive, chooses, nil, quic, spiceproto.ImageQUIC, false, asked{quic}, false},
		{"auto without GLZ", pacer.Adaptive, chooses, nil, 0, spiceproto.ImageLZRGB, false, nil, false},
		{"auto on an idle link", pacer.Adaptive, chooses, nil, 0, spiceproto.ImageGLZRGB, true, nil, false},
		{"a server that cannot choose", pacer.Adaptive, nil, nil, 0, spiceproto.ImageGLZRGB, false, nil, false},
		{"a server that cannot choose, whatever the client thinks", pacer.Adaptive, nil, nil, quic, spiceproto.ImageGLZRGB, false, asked{quic}, false},
		{"lz", pacer.Adaptive, chooses, lz, quic, spiceproto.ImageGLZRGB, true, asked{spiceproto.CompressionLZ}, false},
		{"keep", pacer.Adaptive, chooses, keep, quic, spiceproto.ImageGLZRGB, false, asked{quic}, false},
		{"no reordering", pacer.Adaptive, chooses, noGLZ, 0, spiceproto.ImageGLZRGB, false, nil, false},
		{"withhold", pacer.Withhold, chooses, nil, quic, spiceproto.ImageGLZRGB, false, asked{quic}, false},
		{"passthrough", pacer.Passthrough, chooses, nil, quic, spiceproto.ImageGLZRGB, false, asked{quic}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := relayOptions{mode: c.mode, serverCaps: c.caps, pacing: c.pacing, clientLink: spicetest.LinkConfig{Profile: path(80, 2)}}
				if c.idle {
					o.clientLink.Profile = path(80, 1000)
				}
				r := startRelay(t, o)
				go io.Copy(io.Discard, r.client)
				received := r.hypervisor.collect()
				go func() {
					for i, m := range drawsTo(400, 5_000) {
						if c.forever && i == 200 {
							break
						}
						if h, _ := parse(m); h.Type == spiceproto.MsgDisplayDrawCopy {
							m[spiceproto.MiniHeaderSize+57+8] = byte(c.kind)
						}
						r.hypervisor.send(m)
						time.Sleep(time.Millisecond)
					}
				}()
				time.Sleep(100 * time.Millisecond)
				r.client.send(spiceproto.DisplayInit{}.Append(nil))
				if c.client != 0 {
					r.client.send(spiceproto.PreferredCompression{Compression: c.client}.Append(nil))
				}
				if c.forever {
					time.Sleep(3 * time.Second)
				} else {
					time.Sleep(20 * time.Second)
					r.hypervisor.send(slices.Repeat(opaque(250, 100), 1))
					time.Sleep(20 * time.Second)
					r.hypervisor.send(opaque(250, 100))
					time.Sleep(20 * time.Second)
				}
				r.client.Close()
				<-r.ended
				got, initFirst := compressions(received())
				if !slices.Equal(got, c.want) || !initFirst {
					t.Errorf("the hypervisor was asked for %v, want %v; DISPLAY_INIT first: %v", got, c.want, initFirst)
				}
			})
		})
	}
}

// With reordering on, the bound of the queue holds, whatever it is full of, and
// the relay goes on from there.
func TestReorderedQueueIsBounded(t *testing.T) {
	const bound = 256 << 10
	for name, stream := range map[string][][]byte{
		"large":    drawsTo(100, 40_000),
		"tiny":     drawsTo(20_000, 0),
		"in place": overwriting(2000, 10_000),
		"larger":   drawsTo(4, 1<<20),
		"mixed":    slices.Concat(drawsTo(300, 300), drawsTo(2, 600_000), drawsTo(300, 3000), overwriting(20, 100_000)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				small := spicetest.LinkConfig{SendBuffer: 10_000, ReceiveBuffer: 10_000}
				r := startRelay(t, relayOptions{
					mode: pacer.Adaptive, clientLink: small, serverLink: small,
					pacing: func(p *Pacing) { p.QueueBytes = bound },
				})
				done := make(chan struct{})
				go func() {
					defer close(done)
					r.hypervisor.send(stream...)
				}()
				time.Sleep(25 * time.Second) // the client reads nothing, and is not given up yet
				if q := r.stats.QueueBytes.Load(); q > bound+busyBuffer {
					t.Errorf("%d bytes queued, bound %d", q, bound)
				}
				received := r.client.collect()
				<-done
				time.Sleep(time.Second)
				r.endOfServer()
				r.wantEnd(nil)
				got := messages(received())
				if want := len(stream) - int(r.stats.Replaced.Load()); len(got) != want {
					t.Errorf("the client got %d messages, want %d", len(got), want)
				}
			})
		})
	}
}
