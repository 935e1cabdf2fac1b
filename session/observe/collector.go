package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spicepacer/pacer"
	"spicepacer/session"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("spicepacer_"+name, help, labels, nil)
}

var (
	activeDesc = desc("connections_active",
		"Channels being relayed.", "channel")
	bytesDesc = desc("bytes_total",
		"SPICE bytes written after the link stage, message headers included.", "channel", "direction")

	verdictsDesc = prometheus.NewDesc("kerbside_proxy_firewall_verdicts_total",
		"Messages that the firewall objected to, by rule and by what became of them: enforced (the channel ended) or observed (let through).",
		[]string{"channel", "direction", "rule", "action"}, nil)
	findingsDesc = desc("protocol_findings_total",
		"Messages that the protocol does not admit where they stood, by the rule they break.", "channel", "direction", "rule")

	truncatedDesc = desc("truncated_messages_total",
		"Messages in the middle of which their sender closed the connection.", "channel", "direction")

	displaysDesc = desc("display_channels",
		"Display channels being relayed.", "mode")
	queueDesc = desc("display_queue_bytes",
		"Bytes waiting in the display queues, sum over channels.", "mode")
	budgetDesc = desc("display_budget_bytes",
		"Bytes that may stand unacknowledged in a client's socket, mean over the channels that have a budget.", "mode")
	rateDesc = desc("display_rate_bytes_per_second",
		"Estimated rate of a client's link in bytes per second, mean over the channels that have an estimate.", "mode")
	rttDesc = desc("display_min_rtt_seconds",
		"Base round trip time of a client's link in seconds, mean over the channels that have a sample.", "mode")
	heldDesc = desc("display_acks_held_total",
		"ACKs that went to the hypervisor later than they might have.", "mode")
	holdDesc = desc("display_ack_hold_seconds_total",
		"Time for which ACKs to the hypervisor were held, in seconds.", "mode")
	sweepsDesc = desc("display_sweeps_total",
		"Times the read valve let the hypervisor send a sweep of updates.", "mode")
	replacedDesc = desc("display_replaced_messages_total",
		"Messages that were not sent to the client because newer ones cover them.", "mode")
	replacedBytesDesc = desc("display_replaced_bytes_total",
		"Bytes of the messages that were not sent because newer ones cover them, headers included.", "mode")
	overtookDesc = desc("display_overtaking_messages_total",
		"Messages that were sent to the client before older ones.", "mode")
)

// channelCollector reads the channels when the page is asked for.
type channelCollector struct{ metrics *Metrics }

// Describe implements prometheus.Collector.
func (c channelCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		activeDesc, bytesDesc, verdictsDesc, findingsDesc, truncatedDesc, displaysDesc, queueDesc, budgetDesc, rateDesc, rttDesc,
		heldDesc, holdDesc, sweepsDesc, replacedDesc, replacedBytesDesc, overtookDesc, relayedDesc,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c channelCollector) Collect(out chan<- prometheus.Metric) {
	live, sum := c.metrics.snapshot()
	collectChannels(out, live, sum)
	collectRelayed(out, sum)
	collectFaults(out, sum)
	for _, mode := range pacer.Modes() {
		collectDisplays(out, mode, live, sum.displays[mode])
	}
}

// directions are labelled as Kerbside's proxy does.
var directions = map[spiceproto.Direction]string{
	spiceproto.ServerToClient: firewall.DirectionName(spiceproto.ServerToClient),
	spiceproto.ClientToServer: firewall.DirectionName(spiceproto.ClientToServer),
}

func collectChannels(out chan<- prometheus.Metric, live []session.ChannelInfo, sum totals) {
	var active [len(sum.bytes)]int
	for _, c := range live {
		active[c.Type]++
	}
	for t := spiceproto.ChannelMain; t.Valid(); t++ {
		gauge(out, activeDesc, float64(active[t]), t.String())
		for d, name := range directions {
			counter(out, bytesDesc, float64(sum.bytes[t][d]), t.String(), name)
		}
	}
}

// collectFaults gives what was counted at all: a series begins with its first
// count.
func collectFaults(out chan<- prometheus.Metric, sum totals) {
	count := func(desc *prometheus.Desc, n uint64, labels ...string) {
		if n > 0 {
			counter(out, desc, float64(n), labels...)
		}
	}
	for t := spiceproto.ChannelMain; t.Valid(); t++ {
		for d, direction := range directions {
			verdicts, findings := sum.firewall[t].Verdicts[d], sum.firewall[t].Findings[d]
			for _, r := range firewall.Rules() {
				for a, n := range verdicts[r] {
					count(verdictsDesc, n, t.String(), direction, r.String(), firewall.Action(a).String())
				}
			}
			for r, n := range findings {
				count(findingsDesc, n, t.String(), direction, spiceproto.Rule(r).String())
			}
			count(truncatedDesc, sum.truncated[t][d], t.String(), direction)
		}
	}
}

func collectDisplays(out chan<- prometheus.Metric, mode pacer.Mode, live []session.ChannelInfo, sum displayTotals) {
	var channels, queue int64
	var budget, rate, rtt mean
	for _, c := range live {
		if c.Type != spiceproto.ChannelDisplay || c.Mode != mode {
			continue
		}
		channels++
		queue += c.Stats.QueueBytes.Load()
		budget.add(c.Stats.BudgetBytes.Load())
		rate.add(c.Stats.RateBytes.Load())
		rtt.add(c.Stats.MinRTT.Load())
	}
	label := mode.String()
	gauge(out, displaysDesc, float64(channels), label)
	gauge(out, queueDesc, float64(queue), label)
	budget.collect(out, budgetDesc, 1, label)
	rate.collect(out, rateDesc, 1, label)
	rtt.collect(out, rttDesc, float64(time.Second), label)
	counter(out, heldDesc, float64(sum.held), label)
	counter(out, holdDesc, sum.holdTime.Seconds(), label)
	counter(out, sweepsDesc, float64(sum.sweeps), label)
	counter(out, replacedDesc, float64(sum.replaced), label)
	counter(out, replacedBytesDesc, float64(sum.replacedBytes), label)
	counter(out, overtookDesc, float64(sum.overtook), label)
}

// mean is over the values that are known; zero means unknown.
type mean struct{ sum, n float64 }

func (m *mean) add(v int64) {
	if v != 0 {
		m.sum += float64(v)
		m.n++
	}
}

// collect gives the mean in a unit; no value at all is no series.
func (m mean) collect(out chan<- prometheus.Metric, d *prometheus.Desc, unit float64, label string) {
	if m.n > 0 {
		gauge(out, d, m.sum/m.n/unit, label)
	}
}

func gauge(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}
