package ab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/process"
)

// resultsFile holds one Result a line, in the order in which cells ended.
const resultsFile = "results.jsonl"

// Result is one cell as results.jsonl keeps it.
type Result struct {
	Profile  string `json:"profile"`
	Activity string `json:"activity"`
	Arm      string `json:"arm"`
	Repeat   int    `json:"repeat"`
	// Compression is what the client asked for; empty: nothing.
	Compression string `json:"compression,omitempty"`
	// Error tells why the cell failed; what was measured then does not count.
	Error string `json:"error,omitempty"`

	// Started and Ended bound the cell, WindowStarted and WindowEnded what was
	// measured.
	Started       time.Time `json:"started"`
	Ended         time.Time `json:"ended"`
	WindowStarted time.Time `json:"window_started"`
	WindowEnded   time.Time `json:"window_ended"`

	Client     client.Result `json:"client"`
	LatencyMax float64       `json:"latency_max_ms"`

	Queues Queues `json:"queues"`
	CPU    CPU    `json:"cpu"`
	// Backend is what QEMU sent on its display connection between the same
	// samples, in Mbit/s.
	Backend           float64  `json:"backend_mbit_per_s"`
	CongestionControl LegNames `json:"congestion_control"`
	TLS               bool     `json:"tls"`
	ProxyConfig       settings `json:"proxy_config"`
	Command           []string `json:"command"`
	Host              Host     `json:"host"`
}

// String tells the outcome in one line.
func (r Result) String() string {
	if r.Error != "" {
		return "failed: " + r.Error
	}
	return fmt.Sprintf("p50 %.0f ms, p95 %.0f ms, %.2f Mbit/s, age p95 %.0f ms",
		milliseconds(client.Percentile(r.Client.Latencies, 50)), milliseconds(client.Percentile(r.Client.Latencies, 95)),
		r.Client.Mbit(), milliseconds(r.Client.Age.P95))
}

// Failed implements series.Result.
func (r Result) Failed() bool { return r.Error != "" }

// Span implements series.Result.
func (r Result) Span() (began, ended time.Time) { return r.Started, r.Ended }

// Queues are the bytes that waited at three places on the way of the picture.
type Queues struct {
	ClientSend   Queue `json:"client_send"`   // proxy's socket to the client
	ProxyReceive Queue `json:"proxy_receive"` // proxy's socket to QEMU
	ServerSend   Queue `json:"server_send"`   // QEMU's socket
}

// Queue is one of them over the measuring window, in bytes.
type Queue struct {
	P50     float64   `json:"p50"`
	P95     float64   `json:"p95"`
	Samples []float64 `json:"samples"`
}

// CPU are the seconds of processor time used between the first and the last
// sample of the measuring window, which are Span seconds apart.
type CPU struct {
	QEMU  float64 `json:"qemu_s"`
	Proxy float64 `json:"proxy_s"`
	Span  float64 `json:"span_s"`
}

// LegNames has a name for the sending side of each connection.
type LegNames struct {
	Client  string `json:"client"`
	Backend string `json:"backend"`
	Server  string `json:"server"`
}

// Host is what the figures depend on besides the bench.
type Host struct {
	process.Host
	QEMU string `json:"qemu"`
}

// observe fills in what the samples of the measuring window tell.
func (r *Result) observe(samples []sample) error {
	samples = within(samples, r.WindowStarted, r.WindowEnded)
	if len(samples) < 2 {
		return fmt.Errorf("%d samples of the sockets in a window of %v, want two at least", len(samples), r.WindowEnded.Sub(r.WindowStarted))
	}
	first, last := samples[0], samples[len(samples)-1]
	r.CPU = CPU{
		QEMU:  (last.qemu - first.qemu).Seconds(),
		Proxy: (last.proxy - first.proxy).Seconds(),
		Span:  last.at.Sub(first.at).Seconds(),
	}
	toClient, toQEMU, ofQEMU := clientLeg.series(samples), backendLeg.series(samples), serverLeg.series(samples)
	if len(toClient) == 0 || len(toQEMU) == 0 || len(ofQEMU) == 0 {
		return errors.New("no connection to the client, to QEMU or of QEMU among the sockets")
	}
	r.Backend = 8e-6 * float64(toQEMU[len(toQEMU)-1].bytesReceived-toQEMU[0].bytesReceived) / r.CPU.Span
	r.Queues = Queues{
		ClientSend:   newQueue(toClient, func(s socket) int { return s.sendQueue }),
		ProxyReceive: newQueue(toQEMU, func(s socket) int { return s.receiveQueue }),
		ServerSend:   newQueue(ofQEMU, func(s socket) int { return s.sendQueue }),
	}
	r.CongestionControl = LegNames{
		Client:  toClient[0].congestionControl,
		Backend: toQEMU[0].congestionControl,
		Server:  ofQEMU[0].congestionControl,
	}
	return nil
}

func newQueue(series []socket, size func(socket) int) Queue {
	var q Queue
	for _, s := range series {
		q.Samples = append(q.Samples, float64(size(s)))
	}
	q.P50, q.P95 = percentile(q.Samples, 50), percentile(q.Samples, 95)
	return q
}

// readResults reads what a run has written.
func readResults(dir string) ([]Result, error) {
	path := filepath.Join(dir, resultsFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var results []Result
	decoder := json.NewDecoder(bufio.NewReader(f))
	for {
		var r Result
		switch err := decoder.Decode(&r); {
		case errors.Is(err, io.EOF):
			return results, nil
		case err != nil:
			return nil, fmt.Errorf("%s, result %d: %w", path, len(results)+1, err)
		}
		results = append(results, r)
	}
}
