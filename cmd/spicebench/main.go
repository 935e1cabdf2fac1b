// Command spicebench measures how long a key press takes to show through a SPICE
// proxy on a slow link, and what that costs. It runs on Linux, as root.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"spicepacer/cmd/spicebench/ab"
	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/control"
	"spicepacer/cmd/spicebench/cost"
	"spicepacer/cmd/spicebench/dump"
	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/keydraw"
	"spicepacer/cmd/spicebench/link"
	"spicepacer/cmd/spicebench/load"
)

const usage = `Usage: spicebench COMMAND [flags]

Commands:
  ab      compare proxy settings on emulated links and print a table
  link    emulate a wide-area link between two network namespaces
  guest   build or boot the guest that draws activity and answers keys
  client  measure as a SPICE client without a screen
  cost    compare the processor time per GB with HAProxy's
  control stand in for the Kerbside daemon
  load    hold many idle channels, and let connections come, fail and go
  dump    show the messages in a capture of plaintext SPICE or in a trace

Flags of a command: spicebench COMMAND --help
`

var commands = map[string]func(args []string) error{
	"ab":      tidily(ab.Main),
	"client":  tidily(client.Main),
	"control": tidily(control.Main),
	"cost":    tidily(cost.Main),
	"dump":    dump.Main,
	"guest":   tidily(guest.Main),
	"link":    tidily(link.Main),
	"load":    tidily(load.Main),
}

// tidily has a command end in its own time when this program is interrupted: it has
// programs and devices to remove.
func tidily(command func(context.Context, []string) error) func([]string) error {
	return func(args []string) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return command(ctx, args)
	}
}

func main() {
	if os.Getpid() == 1 {
		keydraw.Main() // this program is also the guest's init
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	err := commands[os.Args[1]](os.Args[2:])
	if err != nil && !errors.Is(err, pflag.ErrHelp) { // which has been printed
		fmt.Fprintf(os.Stderr, "spicebench %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
