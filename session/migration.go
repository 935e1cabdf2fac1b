package session

import (
	"strings"

	"go.uber.org/zap"

	"spicepacer/spiceproto"
)

// maxMigrations is how many migration messages of a channel are logged: more
// than any guest needs, and no way to fill a disk.
const maxMigrations = 16

// migrationWatch tells the log of a guest that moves to another hypervisor. The
// messages are carried unchanged. A client obeys them by itself, with the
// password it gave here (spice-gtk channel-main.c, main_migrate_connect): it
// connects to a host that it may not reach, with a token that host does not know.
type migrationWatch struct {
	log    *zap.Logger
	logged int
}

var migrationMessages = map[uint16]string{
	spiceproto.MsgMainMigrateBegin:         "hypervisor begins a migration; the client will try its target itself, past this proxy, and the session ends when the guest has moved",
	spiceproto.MsgMainMigrateBeginSeamless: "hypervisor begins a seamless migration; the client will try its target itself, past this proxy, and the session ends when the guest has moved",
	spiceproto.MsgMainMigrateSwitchHost:    "hypervisor sends the client to another host; it will leave this proxy",
}

// fromServer looks at a message of the main channel.
func (w *migrationWatch) fromServer(h spiceproto.Header, head []byte) {
	message, migrates := migrationMessages[h.Type]
	if !migrates || w.logged == maxMigrations {
		return
	}
	w.logged++
	target := migrationTarget(h.Type, head)
	w.log.Warn(message, zap.String("host", strings.TrimRight(target.Host, "\x00")),
		zap.Uint16("insecure_port", target.Port), zap.Uint16("secure_port", target.SecurePort))
}

// migrationTarget returns what the head tells of the target. Of a long message
// the last strings may be missing.
func migrationTarget(op uint16, head []byte) spiceproto.MigrationTarget {
	switch op {
	case spiceproto.MsgMainMigrateBegin:
		m, _ := spiceproto.ParseMigrateBegin(head)
		return m.Target
	case spiceproto.MsgMainMigrateBeginSeamless:
		m, _ := spiceproto.ParseMigrateBeginSeamless(head)
		return m.Target
	}
	m, _ := spiceproto.ParseMigrateSwitchHost(head)
	return m.Target
}
