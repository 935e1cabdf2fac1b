package link

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// mtu is the largest IP packet the link carries, in bytes.
	mtu = 1500
	// minQueuePackets keeps the queue of a thin, short link deep enough for TCP
	// to recover losses without time-outs.
	minQueuePackets = 10
)

// Profile is what one link does to the packets it carries, the same in both
// directions.
type Profile struct {
	// RTT is the round trip of an idle link; each direction delays by half.
	RTT time.Duration
	// RateMbit is the rate of IP bytes in Mbit/s; 0 does not limit it.
	RateMbit float64
	// Loss is the share of packets lost at random, 0..1.
	Loss float64
	// BufferBDP is the depth of the drop-tail queue before each direction, in
	// products of rate and RTT. 0 means 1.
	BufferBDP float64
}

// ParseProfile reads "RTT:RATE" or "RTT:RATE:LOSS": milliseconds, Mbit/s and
// percent (the % sign may be left out).
func ParseProfile(s string) (Profile, error) {
	fields := strings.Split(s, ":")
	if len(fields) < 2 || len(fields) > 3 {
		return Profile{}, fmt.Errorf("link profile %q: want RTT_MS:RATE_MBIT or RTT_MS:RATE_MBIT:LOSS%%", s)
	}
	numbers := [3]float64{}
	for i, f := range fields {
		if i == 2 {
			f = strings.TrimSuffix(f, "%")
		}
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || !(v >= 0) || v > 1e6 {
			return Profile{}, fmt.Errorf("link profile %q: %q is no number from 0 to a million", s, f)
		}
		numbers[i] = v
	}
	if numbers[2] > 100 {
		return Profile{}, fmt.Errorf("link profile %q: loss above 100 %%", s)
	}
	return Profile{
		RTT:       time.Duration(numbers[0] * float64(time.Millisecond)),
		RateMbit:  numbers[1],
		Loss:      numbers[2] / 100,
		BufferBDP: 1,
	}, nil
}

// String is the inverse of ParseProfile; the buffer is not part of it.
func (p Profile) String() string {
	s := fmt.Sprintf("%g:%g", p.RTT.Seconds()*1000, p.RateMbit)
	if p.Loss > 0 {
		s += fmt.Sprintf(":%g%%", p.Loss*100)
	}
	return s
}

// transmission is how long size bytes occupy the link.
func (p Profile) transmission(size int) time.Duration {
	if p.RateMbit == 0 {
		return 0
	}
	return time.Duration(float64(size) * 8000 / p.RateMbit)
}

// queueBytes is the bound of the drop-tail queue.
func (p Profile) queueBytes() int {
	return max(int(p.bdp()*p.bufferBDP()), minQueuePackets*mtu)
}

// bdp is the product of rate and RTT in bytes.
func (p Profile) bdp() float64 { return p.RateMbit * 1e6 / 8 * p.RTT.Seconds() }

func (p Profile) bufferBDP() float64 {
	if p.BufferBDP == 0 {
		return 1
	}
	return p.BufferBDP
}
