package session

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"

	"spicepacer/spiceproto"
)

func TestMigrationsAreLogged(t *testing.T) {
	target := spiceproto.MigrationTarget{Port: 5930, SecurePort: 5931, Host: "hv2.example\x00", CertSubject: "CN=hv2\x00"}
	long := target
	long.CertSubject = strings.Repeat("x", spiceproto.HeadSize)
	for name, tc := range map[string]struct {
		message []byte
		says    string
	}{
		"begin":                    {spiceproto.MigrateBegin{Target: target}.Append(nil), "begins a migration; the client will try its target itself"},
		"begin seamless":           {spiceproto.MigrateBeginSeamless{Target: target, SourceVersion: 1}.Append(nil), "begins a seamless migration"},
		"switch host":              {spiceproto.MigrateSwitchHost{Target: target}.Append(nil), "sends the client to another host"},
		"longer than what is seen": {spiceproto.MigrateBegin{Target: long}.Append(nil), "begins a migration"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startRelay(t, relayOptions{kind: spiceproto.ChannelMain})
				r.hypervisor.send(tc.message)
				r.client.want(tc.message) // unchanged
				lines := r.logs.FilterLevelExact(zap.WarnLevel).All()
				if len(lines) != 1 || !strings.Contains(lines[0].Message, tc.says) {
					t.Fatalf("log %v, want one line with %q", lines, tc.says)
				}
				if got, want := fmt.Sprint(lines[0].ContextMap()), "map[host:hv2.example insecure_port:5930 secure_port:5931]"; got != want {
					t.Errorf("fields %s, want %s", got, want)
				}
			})
		})
	}
}

func TestMigrationsDoNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRelay(t, relayOptions{kind: spiceproto.ChannelMain})
		message := spiceproto.MigrateBegin{}.Append(nil)
		for range 3 * maxMigrations {
			r.hypervisor.send(message)
			r.client.want(message)
		}
		if lines := r.logs.FilterLevelExact(zap.WarnLevel).Len(); lines != maxMigrations {
			t.Errorf("%d lines, want %d", lines, maxMigrations)
		}
	})
}

func TestMigrationNeedsMain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRelay(t, relayOptions{kind: spiceproto.ChannelInputs})
		message := spiceproto.MigrateBegin{}.Append(nil)
		r.hypervisor.send(message)
		r.client.want(message)
		if lines := r.logs.FilterLevelExact(zap.WarnLevel).All(); len(lines) != 0 {
			t.Errorf("log %v", lines)
		}
	})
}
