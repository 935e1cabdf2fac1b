package spiceproto

import (
	"errors"
	"testing"
)

var testTarget = MigrationTarget{
	Port: 5900, SecurePort: 5901, Host: "host\x00", CertSubject: "CN=x\x00",
}

var migrateCodecs = []codec{
	codecOf(ChannelMain, ServerToClient, MsgMainMigrateBegin, ParseMigrateBegin,
		MigrateBegin{testTarget},
		`6500 1e000000 0c17 0d17 05000000 14000000 05000000 19000000
		 686f737400 434e3d7800`),
	codecOf(ChannelMain, ServerToClient, MsgMainMigrateSwitchHost, ParseMigrateSwitchHost,
		MigrateSwitchHost{MigrationTarget{Port: 5900, Host: "h\x00"}},
		`6f00 16000000 0c17 0000 02000000 14000000 00000000 00000000 6800`),
	codecOf(ChannelMain, ServerToClient, MsgMainMigrateBeginSeamless, ParseMigrateBeginSeamless,
		MigrateBeginSeamless{testTarget, 1},
		`7400 22000000 0c17 0d17 05000000 18000000 05000000 1d000000 01000000
		 686f737400 434e3d7800`),
	codecOf(ChannelMain, ClientToServer, MsgcMainMigrateDstDoSeamless, ParseMigrateDstDoSeamless,
		MigrateDstDoSeamless{SourceVersion: 1}, "6e00 04000000 01000000"),
}

func TestMigrateMessages(t *testing.T) { testCodecs(t, migrateCodecs) }

func TestMigrationTargetPointers(t *testing.T) {
	for _, c := range []struct {
		name  string
		body  string
		field string // "": accepted
		want  MigrationTarget
	}{
		{
			"strings in the other order",
			"0c17 0d17 02000000 16000000 02000000 14000000 6300 6800", "",
			MigrationTarget{Port: 5900, SecurePort: 5901, Host: "h\x00", CertSubject: "c\x00"},
		},
		{
			"one string for both",
			"0c17 0d17 02000000 14000000 02000000 14000000 6800", "",
			MigrationTarget{Port: 5900, SecurePort: 5901, Host: "h\x00", CertSubject: "h\x00"},
		},
		{
			"empty strings that point to the end",
			"0c17 0d17 00000000 14000000 00000000 14000000", "",
			MigrationTarget{Port: 5900, SecurePort: 5901},
		},
		{
			"no host where one is announced",
			"0c17 0d17 02000000 00000000 00000000 00000000 6800", "host_data", MigrationTarget{},
		},
		{
			"host beyond the body",
			"0c17 0d17 02000000 15000000 00000000 00000000 6800", "host_data", MigrationTarget{},
		},
		{
			"pointer and size that wrap",
			"0c17 0d17 ffffffff 14000000 00000000 00000000 6800", "host_data", MigrationTarget{},
		},
		{
			"subject far away",
			"0c17 0d17 02000000 14000000 00000000 ffffffff 6800", "cert_subject_data", MigrationTarget{},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ParseMigrateBegin(fromHex(t, c.body))
			if c.field == "" {
				if err != nil || m.Target != c.want {
					t.Errorf("%+v, %v", m, err)
				}
				return
			}
			var e *DecodeError
			if !errors.As(err, &e) || e.Err != ErrPointer || e.Field != c.field {
				t.Errorf("error %v, want a bad pointer %s", err, c.field)
			}
		})
	}
}
