package spiceproto

import "strconv"

// LinkError is the code in LinkReply.error and in the link result
// (SPICE_LINK_ERR_* in spice/enums.h). As an error value it stands for "the
// peer refused the link"; LinkOK is never returned as an error.
type LinkError uint32

// The codes. A server sends the Need… and Invalid… ones and VersionMismatch in
// its LinkReply, the rest as link result.
const (
	LinkOK LinkError = iota
	LinkErrError
	LinkErrInvalidMagic
	LinkErrInvalidData
	LinkErrVersionMismatch
	LinkErrNeedSecured
	LinkErrNeedUnsecured
	LinkErrPermissionDenied
	LinkErrBadConnectionID
	LinkErrChannelNotAvailable
)

var linkErrorNames = [...]string{
	"ok", "error", "invalid magic", "invalid data", "version mismatch", "need secured",
	"need unsecured", "permission denied", "bad connection id", "channel not available",
}

// String returns the code's name, or "code-N" for one that has none.
func (e LinkError) String() string {
	if int64(e) < int64(len(linkErrorNames)) {
		return linkErrorNames[e]
	}
	return "code-" + strconv.FormatUint(uint64(e), 10)
}

// Error makes a refusal usable with errors.Is and errors.As.
func (e LinkError) Error() string { return "spice link: " + e.String() }
