package observe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"spicepacer/session"
)

// boundAddress is what the log's first line says.
func boundAddress(t *testing.T, log io.Reader) string {
	t.Helper()
	line, err := bufio.NewReader(log).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var entry struct{ Addr string }
	if err := json.Unmarshal(line, &entry); err != nil {
		t.Fatal(err)
	}
	return entry.Addr
}

func TestServeUntilTheContextEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	read, write := io.Pipe()
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	log := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(write), zap.InfoLevel))
	ctx, cancel := context.WithCancel(t.Context())
	m := New()
	m.Connection(0, session.Limited)
	served := make(chan error)
	go func() { served <- m.Serve(ctx, netip.MustParseAddrPort("127.0.0.1:0"), log) }()

	client := http.Client{Transport: &http.Transport{}}
	response, err := client.Get("http://" + boundAddress(t, read) + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), `spicepacer_connections_total{channel="unknown",result="limited"} 1`) {
		t.Errorf("page %s, err %v", body, err)
	}
	response.Body.Close()
	client.CloseIdleConnections()
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := netip.MustParseAddrPort(taken.Addr().String())
	err = New().Serve(t.Context(), address, zap.NewNop())
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), address.String()) {
		t.Errorf("Serve: %v, want the address in use", err)
	}
}
