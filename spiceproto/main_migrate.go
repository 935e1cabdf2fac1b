package spiceproto

// MigrationTarget tells where a migrating guest goes (DstInfo in spice.proto):
// u16 port, u16 sport, u32 host_size, ptr host, u32 cert_subject_size, ptr
// cert_subject. The strings follow the fixed part of the message.
type MigrationTarget struct {
	// Port is the TCP port without TLS, SecurePort the one with it; 0 for none.
	Port, SecurePort uint16
	// Host and CertSubject are as they were sent: spice-server ends them with a
	// NUL. No subject is an empty string.
	Host, CertSubject string
}

const migrationTargetSize = 20

func (d *body) migrationTarget() MigrationTarget {
	m := MigrationTarget{Port: d.u16("port"), SecurePort: d.u16("sport")}
	m.Host = string(d.pointer("host_data", d.u32("host_size")))
	m.CertSubject = string(d.pointer("cert_subject_data", d.u32("cert_subject_size")))
	return m
}

// appendFixed appends the fixed part of m, which points to where the strings
// will begin: at byte fixed of the body.
func (m MigrationTarget) appendFixed(b []byte, fixed int) []byte {
	b = le.AppendUint16(b, m.Port)
	b = le.AppendUint16(b, m.SecurePort)
	b = appendPointer(b, m.Host, fixed)
	return appendPointer(b, m.CertSubject, fixed+len(m.Host))
}

func (m MigrationTarget) appendStrings(b []byte) []byte {
	return append(append(b, m.Host...), m.CertSubject...)
}

func (m MigrationTarget) stringsSize() int { return len(m.Host) + len(m.CertSubject) }

// appendPointer appends the size of s, and the offset at unless s is empty.
func appendPointer(b []byte, s string, at int) []byte {
	if s == "" {
		at = 0
	}
	return appendU32s(b, uint32(len(s)), uint32(at))
}

// MigrateBegin asks the client to connect to the target beforehand
// (MSG_MAIN_MIGRATE_BEGIN).
type MigrateBegin struct{ Target MigrationTarget }

// ParseMigrateBegin decodes the body of MsgMainMigrateBegin. The error is a
// *DecodeError.
func ParseMigrateBegin(b []byte) (MigrateBegin, error) {
	d := mainBody(ServerToClient, MsgMainMigrateBegin, b)
	m := MigrateBegin{Target: d.migrationTarget()}
	return m, d.err
}

// Append appends header and body to b.
func (m MigrateBegin) Append(b []byte) []byte {
	return appendMigration(b, MsgMainMigrateBegin, m.Target)
}

// MigrateSwitchHost asks the client to leave and connect to the target
// (MSG_MAIN_MIGRATE_SWITCH_HOST).
type MigrateSwitchHost struct{ Target MigrationTarget }

// ParseMigrateSwitchHost decodes the body of MsgMainMigrateSwitchHost. The error
// is a *DecodeError.
func ParseMigrateSwitchHost(b []byte) (MigrateSwitchHost, error) {
	d := mainBody(ServerToClient, MsgMainMigrateSwitchHost, b)
	m := MigrateSwitchHost{Target: d.migrationTarget()}
	return m, d.err
}

// Append appends header and body to b.
func (m MigrateSwitchHost) Append(b []byte) []byte {
	return appendMigration(b, MsgMainMigrateSwitchHost, m.Target)
}

func appendMigration(b []byte, op uint16, m MigrationTarget) []byte {
	b = Header{op, uint32(migrationTargetSize + m.stringsSize())}.Append(b)
	return m.appendStrings(m.appendFixed(b, migrationTargetSize))
}

// MigrateBeginSeamless is a MigrateBegin for clients with
// CapMainSeamlessMigrate (MSG_MAIN_MIGRATE_BEGIN_SEAMLESS): the target, u32
// src_mig_version.
type MigrateBeginSeamless struct {
	Target MigrationTarget
	// SourceVersion is the version of the server's migration data.
	SourceVersion uint32
}

// ParseMigrateBeginSeamless decodes the body of MsgMainMigrateBeginSeamless. The
// error is a *DecodeError.
func ParseMigrateBeginSeamless(b []byte) (MigrateBeginSeamless, error) {
	d := mainBody(ServerToClient, MsgMainMigrateBeginSeamless, b)
	m := MigrateBeginSeamless{
		Target: d.migrationTarget(), SourceVersion: d.u32("src_mig_version"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m MigrateBeginSeamless) Append(b []byte) []byte {
	const fixed = migrationTargetSize + 4
	b = Header{MsgMainMigrateBeginSeamless, uint32(fixed + m.Target.stringsSize())}.Append(b)
	b = m.Target.appendFixed(b, fixed)
	b = le.AppendUint32(b, m.SourceVersion)
	return m.Target.appendStrings(b)
}

// MigrateDstDoSeamless asks the target whether it takes over the source's state
// (MSGC_MAIN_MIGRATE_DST_DO_SEAMLESS): u32 src_version. It answers with one of
// the MIGRATE_DST_SEAMLESS messages.
type MigrateDstDoSeamless struct {
	// SourceVersion is the one of the MigrateBeginSeamless.
	SourceVersion uint32
}

// ParseMigrateDstDoSeamless decodes the body of MsgcMainMigrateDstDoSeamless. The
// error is a *DecodeError.
func ParseMigrateDstDoSeamless(b []byte) (MigrateDstDoSeamless, error) {
	d := mainBody(ClientToServer, MsgcMainMigrateDstDoSeamless, b)
	m := MigrateDstDoSeamless{SourceVersion: d.u32("src_version")}
	return m, d.err
}

// Append appends header and body to b.
func (m MigrateDstDoSeamless) Append(b []byte) []byte {
	return appendU32(b, MsgcMainMigrateDstDoSeamless, m.SourceVersion)
}
