package client

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spicepacer/spiceproto"
)

func TestParseFlags(t *testing.T) {
	cfg, asJSON, err := parseFlags(strings.Fields(
		"--addr host:5900 --tls --insecure-skip-verify --password p --presses 7 --warmup 1s --timeout 3s " +
			"--pause-min 10ms --pause-max 20ms --seed 9 --area 624,160,1264,640 --area 0,0,32,32 --key-box 1,2,3,4 " +
			"--duration 10m --cell 16 --compression auto-lz --json"))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Addr != "host:5900" || cfg.TLS == nil || !cfg.TLS.InsecureSkipVerify || cfg.Password != "p" || !asJSON {
		t.Errorf("connection %+v, JSON %v", cfg, asJSON)
	}
	if cfg.Presses != 7 || cfg.Warmup != time.Second || cfg.Timeout != 3*time.Second || cfg.PauseMin != ms(10) ||
		cfg.PauseMax != ms(20) || cfg.Seed != 9 || cfg.Duration != 10*time.Minute || cfg.Cell != 16 ||
		cfg.Compression != spiceproto.CompressionAutoLZ {
		t.Errorf("measurement %+v", cfg)
	}
	if cfg.KeyBox != box(1, 2, 3, 4) || len(cfg.Activities) != 2 || cfg.Activities[0] != box(624, 160, 1264, 640) {
		t.Errorf("key box %v, activities %v", cfg.KeyBox, cfg.Activities)
	}
}

func TestParseFlagsErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ args, want string }{
		{"--area 1,2,3", "not left,top,right,bottom"},
		{"--key-box 1,2,3,x", "not left,top,right,bottom"},
		{"--tls --ca /nonexistent", "read authorities"},
		{"--tls --ca " + empty, "no certificate in"},
		{"--compression zip", `"zip" is none of auto-glz, auto-lz,`},
		{"stray", `unexpected argument "stray"`},
	}
	for _, tt := range tests {
		if _, _, err := parseFlags(strings.Fields(tt.args)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want it to say %q", tt.args, err, tt.want)
		}
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	valid := func() Config { c := DefaultConfig(); c.Addr = "host:1"; return c }
	if err := valid().Validate(); err != nil {
		t.Fatalf("default configuration with an address: %v", err)
	}
	tests := []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Addr = "" }, "no address"},
		{func(c *Config) { c.SecureAddr = "host:2" }, "secure address host:2 without TLS"},
		{func(c *Config) { c.Password = strings.Repeat("x", 61) }, "password longer than 60"},
		{func(c *Config) { c.Presses = -1 }, "-1 presses"},
		{func(c *Config) { c.Presses = 0 }, "neither presses nor a duration"},
		{func(c *Config) { c.Warmup = -1 }, "negative"},
		{func(c *Config) { c.Timeout = 0 }, "timeout 0s"},
		{func(c *Config) { c.PauseMin = time.Hour }, "pause from 1h0m0s"},
		{func(c *Config) { c.KeyBox = spiceproto.Rect{} }, "empty key box 0,0,0,0"},
		{func(c *Config) { c.Activities = []spiceproto.Rect{box(5, 5, 5, 9)} }, "empty activity 5,5,5,9"},
		{func(c *Config) { c.Activities, c.Cell = []spiceproto.Rect{box(0, 0, 9, 9)}, 0 }, "cells of 0 pixels"},
	}
	for _, tt := range tests {
		c := valid()
		tt.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want it to say %q", err, tt.want)
		}
	}
}

func TestWriteForPeople(t *testing.T) {
	var b bytes.Buffer
	r := Result{Latencies: []time.Duration{ms(100), ms(200)}, Bytes: 1e6, Elapsed: time.Second, Window: 20}
	if err := write(&b, r, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"p50 150.0 ms", "8.00 Mbit/s", "W 20"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
}
