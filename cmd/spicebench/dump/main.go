package dump

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// Main is the subcommand "spicebench dump".
func Main(args []string) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	return errors.Join(o.run(out), out.Flush())
}

type options struct {
	json, stats bool
	files       []string
}

func parseFlags(args []string) (o options, err error) {
	set := pflag.NewFlagSet("spicebench dump", pflag.ContinueOnError)
	set.BoolVar(&o.json, "json", false, "print an object a line, for machines")
	set.BoolVar(&o.stats, "stats", false, "print sums instead: messages and bytes by channel and type, images by encoding")
	set.Usage = func() {
		fmt.Fprintf(os.Stderr, "Usage: spicebench dump [flags] FILE...\n\n"+
			"FILE is a capture of plaintext SPICE (pcap or pcapng) or a trace of the proxy; -\n"+
			"is the standard input. A trace in several files is given oldest first.\n\n%s", set.FlagUsages())
	}
	if err := set.Parse(args); err != nil {
		return o, err
	}
	switch o.files = set.Args(); {
	case len(o.files) == 0:
		return o, errors.New("no file given")
	case o.json && o.stats:
		return o, errors.New("--json and --stats exclude each other")
	}
	return o, nil
}

func (o options) run(out *bufio.Writer) error {
	visit := textPrinter(out)
	sums := newStats()
	switch {
	case o.json:
		visit = jsonPrinter(out)
	case o.stats:
		visit = sums.add
	}
	for _, file := range o.files {
		if err := ReadFile(file, visit); err != nil {
			return err
		}
	}
	if o.stats {
		return sums.print(out)
	}
	return nil
}
