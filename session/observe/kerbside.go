package observe

import (
	"github.com/prometheus/client_golang/prometheus"

	"spicepacer/spiceproto"
)

// kerbsideMetrics have the names, labels and meaning of those of Kerbside's own
// proxy. A connection counts from the end of its TLS handshake on.
type kerbsideMetrics struct {
	active                          prometheus.Gauge
	connections, authorized, denied prometheus.Counter
}

func newKerbsideMetrics() *kerbsideMetrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "kerbside_proxy_" + name, Help: help})
	}
	return &kerbsideMetrics{
		active: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kerbside_proxy_active_connections", Help: "Client connections past their TLS handshake.",
		}),
		connections: counter("connections_total", "Client connections that came past their TLS handshake."),
		authorized:  counter("authorized_total", "Channels that were given their hypervisor."),
		denied:      counter("denied_total", "Channels whose token or type was refused."),
	}
}

func (k *kerbsideMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{k.active, k.connections, k.authorized, k.denied}
}

var relayedDesc = prometheus.NewDesc("kerbside_proxy_bytes_relayed_total",
	"SPICE bytes relayed, message headers included.", []string{"direction"}, nil)

// collectRelayed sums the bytes over all channel types.
func collectRelayed(out chan<- prometheus.Metric, sum totals) {
	for d, name := range directions {
		var bytes uint64
		for t := spiceproto.ChannelMain; t.Valid(); t++ {
			bytes += sum.bytes[t][d]
		}
		counter(out, relayedDesc, float64(bytes), name)
	}
}

// ConnectionStarted implements session.Observer.
func (m *Metrics) ConnectionStarted() {
	m.kerbside.active.Inc()
	m.kerbside.connections.Inc()
}

// ConnectionEnded implements session.Observer.
func (m *Metrics) ConnectionEnded() { m.kerbside.active.Dec() }

// ChannelAuthorized implements session.Observer.
func (m *Metrics) ChannelAuthorized() { m.kerbside.authorized.Inc() }
