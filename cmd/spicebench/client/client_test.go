package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"spicepacer/spiceproto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var keyBox = DefaultConfig().KeyBox

func TestRunLinksLikeGTK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		s.password = "open sesame"
		cfg := s.config()
		cfg.Password = s.password
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, cfg)

		main := s.linked(spiceproto.ChannelMain)
		if main.link.ConnectionID != 0 {
			t.Errorf("main channel linked with connection id %d, want 0", main.link.ConnectionID)
		}
		main.wantNone() // nothing before MAIN_INIT
		main.send(spiceproto.MainInit{SessionID: sessionID, RAMHint: 64 << 20})
		main.want("ATTACH_CHANNELS")
		main.send(spiceproto.ChannelsList{Channels: s.channels})

		display := s.linked(spiceproto.ChannelDisplay)
		names := spiceproto.ChannelCapNames(spiceproto.ChannelDisplay, display.link.Channel)
		want := []string{
			"sized-stream", "monitors-config", "composite", "a8-surface", "stream-report", "lz4-compression",
			"multi-codec", "codec-mjpeg",
		}
		if !slices.Equal(names, want) {
			t.Errorf("display capabilities %v, want %v", names, want)
		}
		init, err := spiceproto.ParseDisplayInit(display.want("INIT").body)
		if err != nil || init.PixmapCacheSize != 20971520 || init.GLZWindowSize != 8<<20 || init.PixmapCacheID != 1 || init.GLZDictionaryID != 1 {
			t.Errorf("DISPLAY_INIT %+v, %v", init, err)
		}
		for _, p := range []*peer{main, display, s.linked(spiceproto.ChannelInputs), s.linked(spiceproto.ChannelCursor)} {
			common := spiceproto.CommonCapNames(p.link.Common)
			if !slices.Equal(common, []string{"auth-selection", "auth-spice", "mini-header"}) {
				t.Errorf("%s channel: common capabilities %v", p.link.Type, common)
			}
			if p != main && p.link.ConnectionID != sessionID {
				t.Errorf("%s channel linked with connection id %#x, want the session's", p.link.Type, p.link.ConnectionID)
			}
		}
		cancel()
		if got := <-done; !errors.Is(got.err, context.Canceled) {
			t.Errorf("error after cancel: %v", got.err)
		}
	})
}

func TestRunAsksForACompression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses, cfg.Duration, cfg.Warmup = 0, time.Second, 0
		cfg.Compression = spiceproto.CompressionAutoLZ
		done := start(t.Context(), cfg)
		_, display, _ := s.begin()
		asked, err := spiceproto.ParsePreferredCompression(display.want("PREFERRED_COMPRESSION").body)
		if err != nil || asked.Compression != spiceproto.CompressionAutoLZ {
			t.Errorf("the client asks for %+v, %v", asked, err)
		}
		if got := <-done; got.err != nil {
			t.Error(got.err)
		}
	})
}

func TestRunNeedsAServerWithAChoice(t *testing.T) {
	cfg := Config{Compression: spiceproto.CompressionLZ}
	ch := &channel{kind: spiceproto.ChannelDisplay, peer: "server:1"}
	var failed *ChannelError
	if err := cfg.beginDisplay(ch, 0); !errors.As(err, &failed) || !errors.Is(err, errNoChoice) {
		t.Errorf("error %v, want one of the channel that says there is no choice", err)
	}
}

func TestRunCountsPixels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses, cfg.Duration, cfg.Warmup = 0, 2*time.Second, time.Second
		done := start(t.Context(), cfg)
		_, display, _ := s.begin()
		time.Sleep(2 * time.Second)
		display.send(
			draw(box(0, 0, 10, 20), 100),
			drawOn(3, box(0, 0, 5, 5), 100), // of no screen, but painted
			raw{spiceproto.MsgDisplayStreamCreate, streamCreate(3, box(10, 10, 20, 20))},
			raw{spiceproto.MsgDisplayStreamData, words(3, 1000, 0)},
		)
		got := <-done
		if got.err != nil {
			t.Fatal(got.err)
		}
		want := map[string]Tally{
			"lz-rgb":      {Count: 2, Bytes: 2 * (6 + 79 + 100), Pixels: 225},
			"STREAM_DATA": {Count: 1, Bytes: 6 + 12, Pixels: 100},
		}
		if diff := cmp.Diff(want, got.Images); diff != "" {
			t.Errorf("images (-want +got):\n%s", diff)
		}
		if sum := (Tally{3, 388, 325}); got.Painted() != sum {
			t.Errorf("painted %+v, want %+v", got.Painted(), sum)
		}
	})
}

func TestRunAcksAndPongsInOrder(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprintf("full headers %v", full), func(t *testing.T) { testAcksAndPongs(t, full) })
	}
}

func testAcksAndPongs(t *testing.T, full bool) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses, cfg.Duration, cfg.FullHeaders = 0, time.Second, full
		done := start(t.Context(), cfg)
		main, display, _ := s.begin()

		// Channels plugged in later are of no interest.
		list := spiceproto.ChannelsList{Channels: s.channels}
		main.send(list, list, list)
		// The net test's padding is read and not echoed.
		main.send(raw{spiceproto.MsgPing, append(words(7, 11, 0), make([]byte, 256000)...)})
		if pong := main.want("PONG"); len(pong.body) != 12 || pong.u32(0) != 7 || pong.u32(1) != 11 {
			t.Errorf("PONG body % x", pong.body)
		}

		display.send(spiceproto.SetAck{Generation: 5, Window: 3})
		if sync := display.want("ACK_SYNC"); sync.u32(0) != 5 {
			t.Errorf("ACK_SYNC of generation %d, want 5", sync.u32(0))
		}
		mark := raw{op: spiceproto.MsgDisplayMark}
		display.send(mark, mark)
		display.wantNone() // messages 2 and 3
		display.send(spiceproto.Ping{ID: 1}, mark, mark, mark)
		display.want("ACK") // the PING is message 4 = 1+W, and counted before it is looked at
		display.want("PONG")
		display.want("ACK") // message 7
		display.wantNone()

		got := <-done
		if got.err != nil || got.Window != 3 || got.ACKs != 2 {
			t.Errorf("W %d, %d ACKs, error %v; want 3, 2 and none", got.Window, got.ACKs, got.err)
		}
	})
}

func TestRunMeasuresKeypressToDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses = 3
		began := time.Now()
		done := start(t.Context(), cfg)
		_, display, inputs := s.begin()
		for n := range 1 + cfg.Presses {
			down := inputs.want("KEY_DOWN")
			if down.u32(0) != 0x39 {
				t.Fatalf("scan code %#x, want the space key", down.u32(0))
			}
			if n == 0 && down.at.Sub(began) != cfg.Warmup {
				t.Errorf("probe press %v after the start, want the warm-up", down.at.Sub(began))
			}
			time.Sleep(20 * time.Millisecond)
			display.send(drawOn(1, keyBox, 10))                                      // another surface
			display.send(draw(box(112, 16, 208, 112), 10), draw(keyBox, 10).cut(20)) // a neighbour, an incomplete draw
			time.Sleep(100 * time.Millisecond)
			display.send(draw(keyBox, 10).rest(20))
			up := inputs.want("KEY_UP")
			if up.u32(0) != 0xb9 || up.at.Sub(down.at) != 50*time.Millisecond {
				t.Errorf("break code %#x after %v", up.u32(0), up.at.Sub(down.at))
			}
		}
		got := <-done
		if got.err != nil {
			t.Fatal(got.err)
		}
		want := []time.Duration{ms(120), ms(120), ms(120)}
		if !slices.Equal(got.Latencies, want) || got.Timeouts != 0 {
			t.Errorf("latencies %v, %d time-outs, want %v and none", got.Latencies, got.Timeouts, want)
		}
		if tally := got.Images["lz-rgb"]; tally.Count != 9 {
			t.Errorf("%d LZ_RGB draws in the window, want 3 a press without the probe's", tally.Count)
		}
	})
}

func TestRunCountsTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses, cfg.Timeout = 1, 2*time.Second
		done := start(t.Context(), cfg)
		_, display, inputs := s.begin()
		answer := func(after time.Duration) time.Time {
			down := inputs.want("KEY_DOWN").at
			inputs.want("KEY_UP")
			time.Sleep(time.Until(down.Add(after)))
			display.send(draw(keyBox, 10))
			return down
		}
		answer(ms(100)) // the probe
		first := answer(3 * time.Second)
		second := answer(ms(300))
		if gap := second.Sub(first); gap < 2*cfg.Timeout+cfg.PauseMin || gap > 2*cfg.Timeout+cfg.PauseMax {
			t.Errorf("%v between a missed press and the next, want two time-outs and a pause", gap)
		}
		got := <-done
		if got.err != nil || got.Timeouts != 1 || !slices.Equal(got.Latencies, []time.Duration{ms(300)}) {
			t.Errorf("%d time-outs, latencies %v, error %v", got.Timeouts, got.Latencies, got.err)
		}
	})
}

func TestRunFailsWithoutAProbeDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		done := start(t.Context(), s.config())
		s.begin()
		if got := <-done; !errors.Is(got.err, ErrProbe) || got.Elapsed != 0 {
			t.Errorf("error %v, window of %v; want ErrProbe and none", got.err, got.Elapsed)
		}
	})
}

// TestDrawBeatsTimer lets a draw come in time and be looked at too late.
func TestDrawBeatsTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := DefaultConfig()
		r := newRun(t.Context(), cfg)
		r.schedule.start(time.Now(), 0)
		want := func(want action) {
			t.Helper()
			if got, _, err := r.next(); got != want || err != nil {
				t.Fatalf("action %v, error %v; want %v", got, err, want)
			}
		}
		want(keyDown)
		time.Sleep(keyHold)
		want(keyUp)
		r.draws <- time.Now()
		time.Sleep(cfg.Timeout)
		want(wait) // not ErrProbe
	})
}

func TestRunMeasuresAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses, cfg.Duration, cfg.Warmup = 0, 4*time.Second, time.Second
		cfg.Activities = []spiceproto.Rect{box(624, 160, 688, 640)} // two columns
		done := start(t.Context(), cfg)
		_, display, _ := s.begin()
		activity := cfg.Activities[0]
		display.send(draw(activity, 10)) // before the window
		time.Sleep(2 * time.Second)
		display.send(draw(activity, 10))
		time.Sleep(time.Second)
		display.send(
			// A stream's frames paint at its place, one with a size of its own there.
			raw{spiceproto.MsgDisplayStreamCreate, streamCreate(3, box(600, 100, 656, 700))},
			raw{spiceproto.MsgDisplayStreamData, words(3, 1000, 0)},
			raw{spiceproto.MsgDisplayStreamDataSized, words(3, 1000, 64, 480, 160, 688, 640, 752, 0)},
			raw{spiceproto.MsgDisplayStreamDestroy, words(3)},
			raw{spiceproto.MsgDisplayStreamData, words(3, 1000, 0)},
		)
		got := <-done
		if got.err != nil {
			t.Fatal(got.err)
		}
		// The 15 cells of column 0: 1, 1, 2 s; of column 1: 1, 3 s. Above x are 8-5x, later 3-x.
		want := Age{P50: ms(800), P95: ms(2600), Max: ms(3000), Regions: 30, LeastUpdates: 1, MostUpdates: 2}
		if got.Age != want {
			t.Errorf("age %+v, want %+v", got.Age, want)
		}
		if got.Elapsed != cfg.Duration {
			t.Errorf("window of %v, want %v", got.Elapsed, cfg.Duration)
		}
	})
}

func TestRunFollowsNeedSecured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		s.needTLS = true
		certificate, pool := serverCertificate(t, "server")
		s.secure = &tls.Config{Certificates: []tls.Certificate{certificate}}
		cfg := s.config()
		cfg.SecureAddr, cfg.TLS = secureAddr, &tls.Config{RootCAs: pool}
		cfg.Presses, cfg.Duration = 0, time.Second
		done := start(t.Context(), cfg)
		_, display, _ := s.begin()
		if _, ok := display.conn.(*tls.Conn); !ok {
			t.Error("the display channel is not in TLS")
		}
		if got := <-done; got.err != nil {
			t.Error(got.err)
		}
	})
}

func TestRunErrorsNameChannelAndPeer(t *testing.T) {
	untrusted, _ := serverCertificate(t, "server")
	tests := []struct {
		name   string
		change func(*fakeServer, *Config)
		// play takes the server's part after the link stage, if that is reached.
		play    func(*fakeServer)
		want    string
		wantErr error
	}{
		{
			name:   "refused connection",
			change: func(_ *fakeServer, c *Config) { c.Addr = "elsewhere:1" },
			want:   "client: main channel with elsewhere:1: connect: no route to elsewhere:1",
		},
		{
			name:    "wrong password",
			change:  func(s *fakeServer, _ *Config) { s.password = "secret" },
			want:    "client: main channel with server:5901: link: ",
			wantErr: spiceproto.LinkErrPermissionDenied,
		},
		{
			name:    "TLS wanted and not configured",
			change:  func(s *fakeServer, _ *Config) { s.needTLS = true },
			want:    "client: main channel with server:5901: link: ",
			wantErr: spiceproto.LinkErrNeedSecured,
		},
		{
			name: "untrusted certificate",
			change: func(s *fakeServer, c *Config) {
				s.secure = &tls.Config{Certificates: []tls.Certificate{untrusted}}
				c.Addr, c.TLS = secureAddr, &tls.Config{RootCAs: x509.NewCertPool()}
			},
			want: "client: main channel with server:5900: TLS handshake: ",
		},
		{
			name: "no channel list",
			play: func(s *fakeServer) {
				s.linked(spiceproto.ChannelMain).send(spiceproto.MainInit{SessionID: sessionID})
			},
			want: "client: main channel with server:5901: wait for CHANNELS_LIST: nothing in 30s",
		},
		{
			name: "no inputs channel",
			change: func(s *fakeServer, _ *Config) {
				s.channels = []spiceproto.ChannelID{{Type: spiceproto.ChannelDisplay}, {Type: spiceproto.ChannelCursor}}
			},
			play: func(s *fakeServer) {
				main := s.linked(spiceproto.ChannelMain)
				main.send(spiceproto.MainInit{SessionID: sessionID}, spiceproto.ChannelsList{Channels: s.channels})
			},
			want: "client: the server lists no inputs channel 0",
		},
		{
			name: "display closed by the server",
			play: func(s *fakeServer) {
				_, display, _ := s.begin()
				display.conn.Close()
			},
			want:    "client: display channel with server:5901: receive: EOF",
			wantErr: io.EOF,
		},
		{
			name: "draw without a body",
			play: func(s *fakeServer) {
				_, display, _ := s.begin()
				display.send(raw{op: spiceproto.MsgDisplayDrawCopy})
			},
			want:    "client: display channel with server:5901: handle DRAW_COPY: ",
			wantErr: spiceproto.ErrTruncated,
		},
		{
			name: "truncated stream message",
			play: func(s *fakeServer) {
				_, display, _ := s.begin()
				display.send(raw{spiceproto.MsgDisplayStreamCreate, words(0, 1)})
			},
			want:    "client: display channel with server:5901: handle STREAM_CREATE: ",
			wantErr: spiceproto.ErrTruncated,
		},
		{
			name: "migration",
			play: func(s *fakeServer) {
				main, _, _ := s.begin()
				main.send(raw{op: spiceproto.MsgMainMigrateBegin})
			},
			want:    "client: main channel with server:5901: handle MIGRATE_BEGIN: ",
			wantErr: errMigration,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFakeServer(t)
				cfg := s.config()
				if tt.change != nil {
					tt.change(s, &cfg)
				}
				done := start(t.Context(), cfg)
				if tt.play != nil {
					tt.play(s)
				}
				got := <-done
				if got.err == nil || !strings.HasPrefix(got.err.Error(), tt.want) {
					t.Errorf("error %q, want it to begin with %q", got.err, tt.want)
				}
				if tt.wantErr != nil && !errors.Is(got.err, tt.wantErr) {
					t.Errorf("error %v does not wrap %v", got.err, tt.wantErr)
				}
			})
		})
	}
}

func TestRunReturnsWhatItHasWhenCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, cfg)
		_, display, inputs := s.begin()
		for range 3 {
			inputs.want("KEY_DOWN")
			inputs.want("KEY_UP")
			display.send(draw(keyBox, 10))
		}
		synctest.Wait()
		cancel()
		got := <-done
		if !errors.Is(got.err, context.Canceled) || len(got.Latencies) != 2 || got.Elapsed == 0 || got.Messages == 0 {
			t.Errorf("%d latencies, %d messages in %v, error %v", len(got.Latencies), got.Messages, got.Elapsed, got.err)
		}
	})
}

func TestDisplayInitFollowsTheRAMHint(t *testing.T) {
	for hint, pixels := range map[uint32]int32{0: 3 << 20, 16 << 20: 3 << 20, 64 << 20: 8 << 20, 256 << 20: 16 << 20} {
		if got := displayInit(hint).GLZWindowSize; got != pixels {
			t.Errorf("GLZ window of %d pixels for %d bytes of video memory, want %d", got, hint, pixels)
		}
	}
}

// TestRunCancelLeavesNothing cancels a client whose server accepts and then says
// nothing, over real sockets; TestMain looks for goroutines left behind.
func TestRunCancelLeavesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cfg := DefaultConfig()
	cfg.Addr = l.Addr().String()
	done := start(ctx, cfg)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := spiceproto.ReadLinkMess(conn); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-done; !errors.Is(got.err, context.Canceled) {
		t.Errorf("error %v, want context canceled", got.err)
	}
}

// streamCreate is the body of a STREAM_CREATE for an MJPEG stream.
func streamCreate(id uint32, dest spiceproto.Rect) []byte {
	b := append(words(0, id), 0, 1)      // surface, id, flags, codec
	b = append(b, make([]byte, 8+16)...) // stamp, sizes
	b = append(b, words(uint32(dest.Top), uint32(dest.Left), uint32(dest.Bottom), uint32(dest.Right))...)
	return append(b, byte(spiceproto.ClipNone))
}

// part is some bytes of a message.
type part []byte

func (p part) Append(b []byte) []byte { return append(b, p...) }

// cut is a message without its last n bytes, rest those.
func (m raw) cut(n int) part { b := m.Append(nil); return b[:len(b)-n] }

func (m raw) rest(n int) part { b := m.Append(nil); return b[len(b)-n:] }

// serverCertificate makes a certificate for a host and a pool that trusts it, valid
// also at the start of a synctest bubble's time.
func serverCertificate(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Unix(1<<33, 0),
		DNSNames:     []string{host},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
