package link

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// joinNetem joins the namespaces by a veth pair shaped with netem at both ends.
//
// GSO is capped besides being switched off: TCP otherwise builds 64 KiB packets
// that netem counts as one, and its queue becomes several times too deep.
func (l *Link) joinNetem(ctx context.Context, p Profile) error {
	err := l.server.ip(ctx, "link", "add", device, "type", "veth", "peer", "name", device, "netns", l.client.name)
	if err != nil {
		return err
	}
	for _, n := range []*Namespace{l.server, l.client} {
		if err := n.ip(ctx, "link", "set", device, "gso_max_size", fmt.Sprint(mtu), "gso_max_segs", "1"); err != nil {
			return err
		}
		if err := runTool(n.Command(ctx, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off")); err != nil {
			return err
		}
	}
	return l.setNetem(ctx, p)
}

func (l *Link) setNetem(ctx context.Context, p Profile) error {
	for _, n := range []*Namespace{l.server, l.client} {
		args := append([]string{"-n", n.name, "qdisc", "replace", "dev", device, "root"}, netemArgs(p)...)
		if err := runTool(exec.CommandContext(ctx, "tc", args...)); err != nil {
			if strings.Contains(err.Error(), "qdisc kind is unknown") {
				return fmt.Errorf("this kernel has no netem (CONFIG_NET_SCH_NETEM); without --netem the link is emulated in user space: %w", err)
			}
			return err
		}
	}
	return nil
}

// netemArgs is the profile in the words of tc-netem(8). The limit counts packets
// and includes those in the delay line, so their share is added to the queue's.
func netemArgs(p Profile) []string {
	inFlight := p.bdp() / 2
	limit := int((inFlight+p.bdp()*p.bufferBDP())/mtu) + minQueuePackets
	args := []string{"netem", "delay", fmt.Sprintf("%dus", p.RTT.Microseconds()/2)}
	if p.RateMbit > 0 {
		args = append(args, "rate", fmt.Sprintf("%dbit", int64(p.RateMbit*1e6)))
	} else {
		limit = 100_000 // as good as none: the queue is only the delay line
	}
	if p.Loss > 0 {
		args = append(args, "loss", fmt.Sprintf("%g%%", p.Loss*100))
	}
	return append(args, "limit", fmt.Sprint(limit))
}
