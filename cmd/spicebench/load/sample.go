package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Sample is what the proxy holds at a time.
type Sample struct {
	FDs        int   `json:"fds"`
	Goroutines int   `json:"goroutines"`
	RSS        int64 `json:"rss_bytes"`
	// Channels are those being relayed.
	Channels int `json:"channels"`
}

// samePlace tells whether as many things are held. How much memory that takes is
// another matter: the runtime gives it back when it sees fit.
func (s Sample) samePlace(o Sample) bool {
	return s.FDs == o.FDs && s.Goroutines == o.Goroutines && s.Channels == o.Channels
}

// within tells whether no more memory is resident than before, but for a share.
func (s Sample) within(before Sample, tolerance float64) bool {
	return float64(s.RSS) <= float64(before.RSS)*(1+tolerance)
}

// gauge samples the proxy.
type gauge struct {
	pid     int
	metrics string // URL of its metrics page
}

// scraper leaves no connection behind that would count.
var scraper = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

func (g gauge) sample(ctx context.Context) (s Sample, err error) {
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.pid))
	if err != nil {
		return s, err
	}
	s.FDs = len(fds)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.pid))
	if err != nil {
		return s, err
	}
	if s.RSS, err = parseRSS(status); err != nil {
		return s, err
	}
	page, err := g.page(ctx)
	if err != nil {
		return s, fmt.Errorf("metrics page: %w", err)
	}
	s.Goroutines = int(metricSum(page, "go_goroutines"))
	s.Channels = int(metricSum(page, "spicepacer_connections_active"))
	if s.Goroutines == 0 {
		return s, fmt.Errorf("metrics page of %s does not tell the goroutines", g.metrics)
	}
	return s, nil
}

func (g gauge) page(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.metrics, nil)
	if err != nil {
		return nil, err
	}
	response, err := scraper.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", response.Status)
	}
	return io.ReadAll(response.Body)
}

// parseRSS reads the resident memory from /proc/PID/status (proc_pid_status(5)),
// in bytes.
func parseRSS(status []byte) (int64, error) {
	for line := range strings.Lines(string(status)) {
		value, found := strings.CutPrefix(line, "VmRSS:")
		if !found {
			continue
		}
		kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("process status: %w", err)
		}
		return kB << 10, nil
	}
	return 0, fmt.Errorf("process status has no VmRSS")
}

// metricSum adds up the series of a metric; 0 if there is none.
func metricSum(page []byte, name string) (sum float64) {
	for lines := bufio.NewScanner(bytes.NewReader(page)); lines.Scan(); {
		line := lines.Text()
		rest, found := strings.CutPrefix(line, name)
		if !found || (rest[0] != ' ' && rest[0] != '{') {
			continue
		}
		if v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64); err == nil {
			sum += v
		}
	}
	return sum
}

// samplePause is between samples: the proxy gives no event one could wait for.
const samplePause = 250 * time.Millisecond

// settle samples until the proxy holds the same twice in a row.
func (g gauge) settle(ctx context.Context) (Sample, error) {
	const limit = 20 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the proxy does not come to rest within %v", limit))
	defer cancel()
	before, err := g.sample(ctx)
	for err == nil {
		if !sleepUntil(ctx, time.Now().Add(samplePause)) {
			return before, context.Cause(ctx)
		}
		var now Sample
		if now, err = g.sample(ctx); err == nil && now.samePlace(before) {
			return now, nil
		}
		before = now
	}
	return before, err
}

// recovered samples until the proxy holds what it did before, its memory to within
// tolerance, or the limit has passed. It returns the last sample.
func (g gauge) recovered(ctx context.Context, before Sample, tolerance float64, limit time.Duration) (Sample, error) {
	deadline := time.Now().Add(limit)
	for {
		now, err := g.sample(ctx)
		if err != nil {
			return now, err
		}
		back := now.samePlace(before) && now.within(before, tolerance)
		if back || time.Now().After(deadline) {
			return now, nil
		}
		if !sleepUntil(ctx, time.Now().Add(samplePause)) {
			return now, context.Cause(ctx)
		}
	}
}
