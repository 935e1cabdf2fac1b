package session

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"spicepacer/spiceproto"
)

// Lines of a console's log, in the words that Kerbside's tools look for.
const (
	auditConnected = "Hypervisor connection successful"
	auditFailed    = "Hypervisor connection failed: "
)

// auditFailure is the line for a hypervisor that could not be reached. Causes
// that Kerbside's proxy has a text for get that one; others keep ours.
func auditFailure(err error, limit time.Duration) string {
	return auditFailed + failureText(err, limit)
}

func failureText(err error, limit time.Duration) string {
	link, refused := errors.AsType[spiceproto.LinkError](err)
	number, system := errors.AsType[syscall.Errno](err)
	switch {
	case errors.Is(err, errNoTLSPort):
		return "Server requires TLS connection. Use tls-port in config."
	case errors.Is(err, errAuthentication) && refused:
		return "Authentication failed: " + linkErrorName(link)
	case refused:
		return "Link error: " + linkErrorName(link)
	case errors.Is(err, errTooSlow):
		return fmt.Sprintf("backend connect timed out after %v", limit)
	case system:
		text := number.Error()
		return fmt.Sprintf("%s%s (os error %d)", strings.ToUpper(text[:1]), text[1:], int(number))
	}
	if problem := certificateProblem(err); problem != "" {
		return "invalid peer certificate: " + problem
	}
	return err.Error()
}

// linkErrorNames are Kerbside's; a number without a name counts as Error.
var linkErrorNames = [...]string{
	spiceproto.LinkErrError:               "Error",
	spiceproto.LinkErrInvalidMagic:        "InvalidMagic",
	spiceproto.LinkErrInvalidData:         "InvalidData",
	spiceproto.LinkErrVersionMismatch:     "VersionMismatch",
	spiceproto.LinkErrNeedSecured:         "NeedSecured",
	spiceproto.LinkErrNeedUnsecured:       "NeedUnsecured",
	spiceproto.LinkErrPermissionDenied:    "PermissionDenied",
	spiceproto.LinkErrBadConnectionID:     "BadConnectionId",
	spiceproto.LinkErrChannelNotAvailable: "ChannelUnavailable",
}

func linkErrorName(e spiceproto.LinkError) string {
	if e > spiceproto.LinkOK && int(e) < len(linkErrorNames) {
		return linkErrorNames[e]
	}
	return linkErrorNames[spiceproto.LinkErrError]
}

// certificateProblem names what is wrong with a hypervisor's certificate as
// rustls does, whose names Kerbside's tools know; empty when it is something
// else.
func certificateProblem(err error) string {
	if _, ok := errors.AsType[*SubjectError](err); ok {
		return "NotValidForName"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "NotValidForName"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "UnknownIssuer"
	}
	if errors.Is(err, errOldCertificate) {
		return "UnsupportedCertVersion"
	}
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	if ok && invalid.Reason == x509.Expired {
		return "Expired"
	}
	return ""
}
