package ab

import (
	"context"
	"os/exec"

	"spicepacer/cmd/spicebench/link"
	"spicepacer/cmd/spicebench/process"
)

// command prepares a program, contained, inside a namespace.
func command(n *link.Namespace) func(ctx context.Context, name string, args ...string) *exec.Cmd {
	return func(ctx context.Context, name string, args ...string) *exec.Cmd {
		cmd := n.Command(ctx, name, args...)
		process.Contain(cmd)
		return cmd
	}
}

// guestNice is the guest's scheduling priority (nice(1)). Without hardware
// virtualisation it keeps a core busy, and the proxy and the client, which run
// on machines of their own elsewhere, would wait for it.
const guestNice = "10"

// lowPriority has a command start its program at the guest's priority.
func lowPriority(command func(context.Context, string, ...string) *exec.Cmd) func(context.Context, string, ...string) *exec.Cmd {
	return func(ctx context.Context, name string, args ...string) *exec.Cmd {
		return command(ctx, "nice", append([]string{"-n", guestNice, name}, args...)...)
	}
}
