package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"
)

// requestTimeout bounds a scraper that sends or reads slowly.
const requestTimeout = 10 * time.Second

// Handler answers GET /metrics and what Health adds, and anything else with an
// empty 404.
func (m *Metrics) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.health(w, r) {
			return
		}
		if r.Method != http.MethodGet || r.URL.Path != "/metrics" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		text, err := page(m.registry)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Write(text)
	})
}

// Serve serves the page on address until ctx ends and returns nil then. An
// address that cannot be bound is an error that names it.
func (m *Metrics) Serve(ctx context.Context, address netip.AddrPort, log *zap.Logger) error {
	network := "tcp"
	if address.Addr().Is4() {
		network = "tcp4" // Go would open 0.0.0.0 for IPv6 too
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network, address.String())
	if err != nil {
		return fmt.Errorf("metrics listener: %w", err)
	}
	log.Info("Prometheus metrics listener bound", zap.Stringer("addr", l.Addr()))
	server := &http.Server{
		Handler:      m.Handler(),
		ReadTimeout:  requestTimeout,
		WriteTimeout: requestTimeout,
		ErrorLog:     zap.NewStdLog(log),
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics server: %w", err)
	}
	return nil
}
