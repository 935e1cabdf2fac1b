package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

const (
	keyDelimiter = "."
	envPrefix    = "SPICEPACER_"
	envDelimiter = "__"
)

// DefaultFile is read if no other is named and it exists.
const DefaultFile = "/etc/spicepacer/proxy.yaml"

// Load reads the settings. args are the arguments after the program's name,
// environ is as os.Environ gives it. Values that the Action does not need are
// checked for their types only.
func Load(args, environ []string) (Config, Action, error) { return load(args, environ, DefaultFile) }

func load(args, environ []string, defaultFile string) (Config, Action, error) {
	flags := newFlags()
	if err := parse(flags, args); errors.Is(err, pflag.ErrHelp) {
		return Config{}, PrintUsage, nil
	} else if err != nil {
		return Config{}, Run, &Error{Err: err}
	}
	if flags.NArg() > 0 {
		return Config{}, Run, &Error{Err: fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	layers, err := readLayers(flags, environ, defaultFile)
	if err != nil {
		return Config{}, Run, err
	}
	action := Run
	check := (*Config).complete
	if wanted, _ := flags.GetBool("contract-hash"); wanted {
		action, check = PrintContractHash, (*Config).checkContractHash
	}
	cfg, err := layers.decode()
	if err == nil {
		err = check(&cfg)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.Source = layers.source(e.Key)
	}
	return cfg, action, err
}

// layer is one source of settings.
type layer struct {
	values *koanf.Koanf
	// name tells where the source keeps key.
	name func(key string) string
}

// layers are in order of rising precedence.
type layers []layer

func readLayers(flags *pflag.FlagSet, environ []string, defaultFile string) (layers, error) {
	ls, err := readFile(flags, defaultFile)
	if err != nil {
		return nil, err
	}
	vars := koanf.New(keyDelimiter)
	if err := vars.Load(env.Provider(keyDelimiter, env.Opt{
		Prefix:        envPrefix,
		EnvironFunc:   func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) { return envKey(name), value },
	}), nil); err != nil {
		return nil, &Error{Err: fmt.Errorf("read environment: %w", err)}
	}
	given := koanf.New(keyDelimiter)
	if err := given.Load(posflag.ProviderWithFlag(changed(flags), keyDelimiter, given, flagValue), nil); err != nil {
		return nil, &Error{Err: fmt.Errorf("read flags: %w", err)}
	}
	return append(ls, layer{vars, envName}, layer{given, flagOf}, rustLog(environ)), nil
}

// readFile reads the file that the flags name, or the default one. Only that may
// be absent.
func readFile(flags *pflag.FlagSet, defaultFile string) (layers, error) {
	path := defaultFile
	named := flags.Changed("config")
	if named {
		path, _ = flags.GetString("config")
	}
	k := koanf.New(keyDelimiter)
	err := k.Load(file.Provider(path), yaml.Parser())
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return nil, nil
	case err != nil:
		return nil, &Error{Err: fmt.Errorf("read %s: %w", path, err)}
	}
	return layers{{k, func(string) string { return path }}}, nil
}

// changed returns the flags that were given: the others are no layer but
// repeat the defaults.
func changed(flags *pflag.FlagSet) *pflag.FlagSet {
	given := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Visit(given.AddFlag)
	return given
}

func envKey(name string) string {
	name = strings.ToLower(strings.TrimPrefix(name, envPrefix))
	return strings.ReplaceAll(name, envDelimiter, keyDelimiter)
}

func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, keyDelimiter, envDelimiter))
}

// source tells where key got its value; empty for a default.
func (ls layers) source(key string) string {
	key, _, _ = strings.Cut(key, "[")
	for i := len(ls) - 1; i >= 0; i-- {
		if ls[i].values.Exists(key) {
			return ls[i].name(key)
		}
	}
	return ""
}
