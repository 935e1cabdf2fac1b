package ab

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"spicepacer/cmd/spicebench/link"
)

// socket is what ss(8) tells about one established TCP connection.
type socket struct {
	local, peer netip.AddrPort
	// receiveQueue are bytes the program has not read, sendQueue bytes the peer
	// has not acknowledged.
	receiveQueue, sendQueue int
	congestionControl       string
	// bytesAcked and bytesReceived count since the connection began.
	bytesAcked, bytesReceived uint64
}

// listSockets lists the established TCP connections in a namespace.
func listSockets(ctx context.Context, n *link.Namespace) ([]socket, error) {
	out, err := n.Command(ctx, "ss", "-tinmHO", "state", "established").Output()
	if err != nil {
		return nil, fmt.Errorf("list sockets in %s: %w", n.Name(), err)
	}
	return parseSockets(string(out))
}

// parseSockets reads the output of `ss -tinmHO state established`: a line for
// each connection, with both queues, both addresses, and then words and
// name:value pairs, whose order is that of tcp_stats_print in iproute2's
// misc/ss.c.
func parseSockets(out string) ([]socket, error) {
	var sockets []socket
	for line := range strings.Lines(out) {
		s, err := parseSocket(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("ss says %q: %w", strings.TrimSpace(line), err)
		}
		sockets = append(sockets, s)
	}
	return sockets, nil
}

func parseSocket(fields []string) (s socket, err error) {
	if len(fields) < 4 {
		return s, fmt.Errorf("%d fields, want 4 at least", len(fields))
	}
	if s.receiveQueue, err = strconv.Atoi(fields[0]); err != nil {
		return s, err
	}
	if s.sendQueue, err = strconv.Atoi(fields[1]); err != nil {
		return s, err
	}
	if s.local, err = netip.ParseAddrPort(fields[2]); err != nil {
		return s, err
	}
	if s.peer, err = netip.ParseAddrPort(fields[3]); err != nil {
		return s, err
	}
	for i, field := range fields[4:] {
		switch name, value, _ := strings.Cut(field, ":"); name {
		case "wscale", "rto":
			// The algorithm's name is the last word before the first of these.
			if before := fields[4+i-1]; s.congestionControl == "" && !strings.Contains(before, ":") {
				s.congestionControl = before
			}
		case "bytes_acked":
			s.bytesAcked, err = strconv.ParseUint(value, 10, 64)
		case "bytes_received":
			s.bytesReceived, err = strconv.ParseUint(value, 10, 64)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// role picks the connection of one kind that carries the display: of several,
// the one that has carried most (kerbside-rig.md, section 7).
type role struct {
	matches func(socket) bool
	carried func(socket) uint64
}

// The connections on the way of a picture. Ports are those of the bench.
var (
	clientLeg = role{
		func(s socket) bool { return s.local.Port() == securePort || s.local.Port() == insecurePort },
		func(s socket) uint64 { return s.bytesAcked },
	}
	backendLeg = role{
		func(s socket) bool { return s.peer.Port() == qemuPort },
		func(s socket) uint64 { return s.bytesReceived },
	}
	serverLeg = role{
		func(s socket) bool { return s.local.Port() == qemuPort },
		func(s socket) uint64 { return s.bytesAcked },
	}
)

// series follows the role's connection through the samples.
func (r role) series(samples []sample) []socket {
	var busiest socket
	for _, s := range r.among(samples[len(samples)-1]) {
		if !busiest.local.IsValid() || r.carried(s) > r.carried(busiest) {
			busiest = s
		}
	}
	var series []socket
	for _, sample := range samples {
		for _, s := range r.among(sample) {
			if s.local == busiest.local && s.peer == busiest.peer {
				series = append(series, s)
			}
		}
	}
	return series
}

func (r role) among(s sample) (found []socket) {
	for _, candidate := range s.sockets {
		if r.matches(candidate) {
			found = append(found, candidate)
		}
	}
	return found
}
