package config

import (
	"strings"

	"github.com/knadh/koanf/v2"
)

// rustLogLevels are the levels of Rust's tracing as ours.
var rustLogLevels = map[string]string{
	"off": "error", "error": "error", "warn": "warn", "info": "info", "debug": "debug", "trace": "debug",
}

// rustLogTarget is the name of Kerbside's proxy in a filter.
const rustLogTarget = "kerbside_proxy"

// rustLog is the layer of the variable RUST_LOG, by which operators of
// Kerbside's proxy set the level, whatever the flags say. Of a filter of several
// directives, the last one counts that is for everything or for the proxy; a
// filter without any leaves the level alone.
func rustLog(environ []string) layer {
	k := koanf.New(keyDelimiter)
	for _, variable := range environ {
		filter, ok := strings.CutPrefix(variable, "RUST_LOG=")
		if !ok {
			continue
		}
		for directive := range strings.SplitSeq(filter, ",") {
			target, level, targeted := strings.Cut(strings.TrimSpace(directive), "=")
			if !targeted {
				target, level = rustLogTarget, target
			}
			if known := rustLogLevels[strings.ToLower(level)]; known != "" && target == rustLogTarget {
				k.Set("log.level", known)
			}
		}
	}
	return layer{k, func(string) string { return "RUST_LOG" }}
}
