package config

import "testing"

func TestRustLog(t *testing.T) {
	for filter, want := range map[string]string{
		"debug":                          "debug",
		"TRACE":                          "debug",
		"off":                            "error",
		"warn,h2=debug":                  "warn",
		"h2=debug":                       "info",
		"h2=trace, kerbside_proxy=error": "error",
		"info,kerbside_proxy=debug":      "debug",
		"":                               "info",
		"[span]=debug":                   "info",
		"loud":                           "info",
	} {
		cfg, _, err := load(nil, []string{"RUST_LOG=" + filter}, "/no/such/file")
		if err != nil || cfg.Log.Level != want {
			t.Errorf("%q gives level %q, %v; want %q", filter, cfg.Log.Level, err, want)
		}
	}
	cfg, _, err := load([]string{"--verbose"}, []string{"RUST_LOG=warn"}, "/no/such/file")
	if err != nil || cfg.Log.Level != "warn" {
		t.Errorf("level %q, %v; want RUST_LOG to override --verbose", cfg.Log.Level, err)
	}
}
