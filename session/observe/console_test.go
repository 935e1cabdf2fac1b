package observe

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// lines logs what f does.
func lines(level zapcore.Level, f func(*zap.Logger)) string {
	var out bytes.Buffer
	f(zap.New(NewConsole(zapcore.AddSync(&out), level), zap.WithClock(stopped{})))
	return out.String()
}

// stopped is a clock.
type stopped struct{}

func (stopped) Now() time.Time {
	return time.Date(2026, 1, 2, 4, 4, 5, 6789, time.FixedZone("CET", 3600))
}
func (stopped) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

func TestConsoleLine(t *testing.T) {
	got := lines(zap.InfoLevel, func(log *zap.Logger) {
		log = log.With(zap.String("connection_ref", "r1"), zap.Stringer("peer", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7}))
		log.Info("hypervisor requires TLS; retrying backend connection over the secure port",
			zap.String("hypervisor", "hv"), zap.String("channel_type", "main"), zap.String("host_subject", `C=US,O=Lab\, Inc.,CN=hv 1`))
		log.Warn("ended", zap.NamedError("reason", nil), zap.Error(errors.New("read: reset")), zap.Bool("terminated", true),
			zap.Duration("after", 1500*time.Millisecond), zap.Strings("missing", []string{"a", "b"}))
		log.Debug("not shown")
	})
	want := `2026-01-02T03:04:05.000006Z  INFO kerbside_proxy: hypervisor requires TLS; retrying backend connection over the secure port` +
		` connection_ref=r1 peer=192.0.2.1:7 hypervisor=hv channel_type="main" host_subject=C=US,O=Lab\, Inc.,CN=hv 1
2026-01-02T03:04:05.000006Z  WARN kerbside_proxy: ended connection_ref=r1 peer=192.0.2.1:7 error=read: reset terminated=true after=1.5s missing=[a b]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestConsoleKeepsLinesWhole(t *testing.T) {
	got := lines(zap.DebugLevel, func(log *zap.Logger) {
		log.Debug("a\nb", zap.String("reason", "x\r\n2026 INFO forged\x1b[31m é \xff"))
	})
	want := "2026-01-02T03:04:05.000006Z DEBUG kerbside_proxy: a\\nb reason=x\\r\\n2026 INFO forged\\x1b[31m é \ufffd\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if strings.Count(got, "\n") != 1 {
		t.Error("more than one line")
	}
}
