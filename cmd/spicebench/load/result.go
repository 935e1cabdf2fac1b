package load

import (
	"errors"
	"fmt"
	"time"

	"spicepacer/cmd/spicebench/process"
)

// Result is one run as the results file keeps it.
type Result struct {
	// Error tells why the run failed or what was left behind.
	Error string `json:"error,omitempty"`

	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`

	Mode          string `json:"mode"`
	HypervisorTLS bool   `json:"hypervisor_tls"`
	Sessions      int    `json:"sessions"`

	Start Sample `json:"start"` // before the first connection
	// Kinds tell what the channels of each type added.
	Kinds []Kind `json:"kinds"`
	Idle  Idle   `json:"idle"`
	Churn Churn  `json:"churn"`
	End   Sample `json:"end"` // after the last connection

	Program string       `json:"program"`
	Command []string     `json:"command"`
	Host    process.Host `json:"host"`
}

// Kind is one channel type of the sessions that stay.
type Kind struct {
	Channel string `json:"channel"`
	// Opening is how long it took to open them all, in seconds.
	Opening float64 `json:"opening_s"`
	// Goroutines and RSS are what each of them added, RSS in bytes and as of
	// then, which is before the runtime gives back what opening took.
	Goroutines float64 `json:"goroutines"`
	RSS        float64 `json:"rss_bytes"`
}

// Idle is a time in which no byte was carried.
type Idle struct {
	Seconds float64 `json:"seconds"`
	// CPU is the processor time the proxy used meanwhile, in seconds.
	CPU    float64 `json:"cpu_s"`
	Before Sample  `json:"before"`
	After  Sample  `json:"after"`
	// Lost are channels that ended by themselves, up to the end of the run.
	Lost int64 `json:"lost"`
}

// Churn is many connections that end soon.
type Churn struct {
	Connects int `json:"connects"`
	// Rate is what was asked for, Reached what was done, in connections a second.
	Rate    float64 `json:"rate"`
	Reached float64 `json:"reached"`
	// UpP50 and UpP99 are the time from the begin of a connection until its
	// channel was up, in seconds.
	UpP50 float64 `json:"up_p50_s"`
	UpP99 float64 `json:"up_p99_s"`
	// CPU is the processor time the proxy used for each connection, in seconds.
	CPU    float64 `json:"cpu_per_connect_s"`
	Stages []Stage `json:"stages"`
	// Unexpected are examples of outcomes that should not have been.
	Unexpected []string `json:"unexpected,omitempty"`
	Before     Sample   `json:"before"`
	After      Sample   `json:"after"`
	// Tolerance is how much more memory After may show than Before, as a share.
	Tolerance float64 `json:"tolerance"`
	// Released is how long it took from the end of the last connection until as
	// many descriptors and goroutines were in use as before, in seconds.
	Released float64 `json:"released_s"`
	// Recovery is the same with memory back within the tolerance, at After.
	Recovery float64 `json:"recovery_s"`
}

// Stage is where connections failed, as they should.
type Stage struct {
	Name     string `json:"name"`
	Connects int    `json:"connects"`
	// Unexpected are those among them that went otherwise.
	Unexpected int `json:"unexpected"`
}

// perChannel returns the memory a channel of the sessions takes, in bytes.
func (r Result) perChannel() float64 {
	return float64(r.Idle.After.RSS-r.Start.RSS) / float64(r.Sessions*len(kinds))
}

// wrong tells what must not be, whatever the machine.
func (r Result) wrong() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(r.Idle.Lost == 0, "%d idle channels were lost", r.Idle.Lost)
	check(r.Idle.After.samePlace(r.Idle.Before), "idle channels changed what is held: %v, then %v", r.Idle.Before, r.Idle.After)
	check(r.Idle.After.Channels == r.Sessions*len(kinds), "%d channels are relayed for %d sessions", r.Idle.After.Channels, r.Sessions)
	for _, text := range r.Churn.Unexpected {
		errs = append(errs, errors.New(text))
	}
	for _, s := range r.Churn.Stages {
		check(s.Unexpected == 0, "%d of %d connections went otherwise (%s)", s.Unexpected, s.Connects, s.Name)
	}
	check(r.Churn.After.samePlace(r.Churn.Before), "a churn left something behind: %v before, %v after", r.Churn.Before, r.Churn.After)
	check(r.Churn.After.within(r.Churn.Before, r.Churn.Tolerance), "a churn cost memory: %v before, %v after", r.Churn.Before, r.Churn.After)
	check(r.End.samePlace(r.Start), "the sessions left something behind: %v before, %v after", r.Start, r.End)
	return errors.Join(errs...)
}

// String names what is held.
func (s Sample) String() string {
	return fmt.Sprintf("%d channels, %d descriptors, %d goroutines, %.1f MB", s.Channels, s.FDs, s.Goroutines, float64(s.RSS)/1e6)
}
