package config

import (
	"errors"
	"fmt"
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

// Load reads the settings. args are the arguments after the program's name,
// environ is as os.Environ gives it. Values that the Action does not need are
// checked for their types only.
func Load(args, environ []string) (Config, Action, error) {
	flags := newFlags()
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return Config{}, PrintUsage, nil
	} else if err != nil {
		return Config{}, Run, &Error{Err: err}
	}
	if flags.NArg() > 0 {
		return Config{}, Run, &Error{Err: fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	layers, err := readLayers(flags, environ)
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

func readLayers(flags *pflag.FlagSet, environ []string) (layers, error) {
	var ls layers
	if path, _ := flags.GetString("config"); path != "" {
		k := koanf.New(keyDelimiter)
		if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
			return nil, &Error{Err: fmt.Errorf("read %s: %w", path, err)}
		}
		ls = append(ls, layer{k, func(string) string { return path }})
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
	return append(ls, layer{vars, envName}, layer{given, flagOf}), nil
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
