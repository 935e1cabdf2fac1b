// Package observe shows what the proxy does as Prometheus metrics.
//
//	m := observe.New()
//	server, err := session.New(cfg, session.Deps{Observer: m, ...})
//	err = m.Serve(ctx, netip.MustParseAddrPort("127.0.0.1:13003"), log)
package observe

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"spicepacer/session"
	"spicepacer/spiceproto"
)

// Metrics implements session.Observer. Figures of live channels are read from
// their Stats at each scrape; what ended channels counted stays in the totals.
type Metrics struct {
	registry    *prometheus.Registry
	connections *prometheus.CounterVec
	kerbside    *kerbsideMetrics
	ready       func() error // nil: no health endpoint

	mu    sync.Mutex
	live  map[*session.Stats]session.ChannelInfo
	ended totals
}

// New returns Metrics with a registry of its own. Beside the proxy's metrics it
// has those of the Go runtime, under the names they have everywhere.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		connections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spicepacer_connections_total",
			Help: "Client connections accepted, by channel type (unknown before the link message) and by what they came to.",
		}, []string{"channel", "result"}),
		kerbside: newKerbsideMetrics(),
		live:     make(map[*session.Stats]session.ChannelInfo),
	}
	m.registry.MustRegister(m.connections, channelCollector{m}, collectors.NewGoCollector())
	m.registry.MustRegister(m.kerbside.collectors()...)
	return m
}

// Connection counts an accepted connection.
func (m *Metrics) Connection(channel spiceproto.ChannelType, r session.Result) {
	name := "unknown"
	if channel.Valid() {
		name = channel.String()
	}
	m.connections.WithLabelValues(name, r.String()).Inc()
	if r == session.Denied {
		m.kerbside.denied.Inc()
	}
}

// ChannelStarted puts a channel on the page.
func (m *Metrics) ChannelStarted(c session.ChannelInfo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live[c.Stats] = c
}

// ChannelEnded takes it off and keeps what it counted.
func (m *Metrics) ChannelEnded(c session.ChannelInfo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, c.Stats)
	m.ended.add(c)
}

// snapshot returns the live channels, and the totals with their share.
func (m *Metrics) snapshot() ([]session.ChannelInfo, totals) {
	m.mu.Lock()
	defer m.mu.Unlock()
	live := make([]session.ChannelInfo, 0, len(m.live))
	sum := m.ended
	for _, c := range m.live {
		live = append(live, c)
		sum.add(c)
	}
	return live, sum
}
