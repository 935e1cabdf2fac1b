package cost

import (
	"fmt"
	"time"

	"spicepacer/cmd/spicebench/process"
)

// Result is one cell as the results file keeps it.
type Result struct {
	Load   string `json:"load"`
	Arm    string `json:"arm"`
	Repeat int    `json:"repeat"`
	// Error tells why the cell failed; what was measured then does not count.
	Error string `json:"error,omitempty"`

	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`

	// Bytes and Messages are what the viewer received after the link stage, in
	// Elapsed seconds.
	Bytes    uint64  `json:"bytes"`
	Messages uint64  `json:"messages"`
	Elapsed  float64 `json:"elapsed_s"`
	// User and System are the seconds of processor time of the program that
	// carried them; Before is what it had used for starting and linking.
	User   float64 `json:"user_s"`
	System float64 `json:"system_s"`
	Before float64 `json:"before_s"`

	TLS     string       `json:"tls"` // version and cipher
	Program string       `json:"program"`
	Command []string     `json:"command"`
	Host    process.Host `json:"host"`
}

// perGB returns seconds of processor time for each GB carried.
func (r Result) perGB(seconds float64) float64 { return seconds / (float64(r.Bytes) / gigabyte) }

// rate returns MB/s.
func (r Result) rate() float64 { return float64(r.Bytes) / megabyte / r.Elapsed }

// String tells the outcome in one line.
func (r Result) String() string {
	if r.Error != "" {
		return "failed: " + r.Error
	}
	return fmt.Sprintf("%.2f CPU s/GB, %.0f MB/s", r.perGB(r.User+r.System), r.rate())
}

// Failed implements series.Result.
func (r Result) Failed() bool { return r.Error != "" }

// Span implements series.Result.
func (r Result) Span() (began, ended time.Time) { return r.Started, r.Ended }
