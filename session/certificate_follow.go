package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"
)

// certificateLooks is how often the certificate's files are read. Looking finds
// every way to replace a file, be it rename, rewrite or a link that is moved, on
// every file system; a notification does not.
const certificateLooks = 10 * time.Second

// FollowCertificate keeps the certificate of the secure port as files have it
// until ctx ends: it looks at them every 10 s, and when hangup receives. A new one
// is shown to the clients that connect from then on; connections go on with what
// they have. One that cannot be used leaves the old one in place, with a warning
// that names the path.
func (s *Server) FollowCertificate(ctx context.Context, files CertificateFiles, hangup <-chan os.Signal) {
	f := certificateFollower{server: s, files: files}
	tick := time.NewTicker(certificateLooks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.look(false)
		case <-hangup:
			f.look(true)
		}
	}
}

// certificateFollower remembers what the last looks found.
type certificateFollower struct {
	server *Server
	files  CertificateFiles
	// shown is the content of the files that is in use, zero at first.
	shown [sha256.Size]byte
	// failed is the text of the last error, which is logged once.
	failed string
}

// look reads the files and shows what they hold, if it is new. The outcome of a
// look that was asked for is always logged.
func (f *certificateFollower) look(asked bool) {
	chain, key, err := f.files.read()
	content := sha256.Sum256(bytes.Join([][]byte{chain, key}, []byte{0}))
	if err == nil && content == f.shown && !asked {
		return
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = f.usable(chain, key)
	}
	if err != nil {
		f.warn(err, asked)
		return
	}
	f.shown, f.failed = content, ""
	old := f.server.certificate.Swap(&pair)
	if asked || !bytes.Equal(old.Certificate[0], pair.Certificate[0]) {
		f.server.log.Info("certificate reloaded", zap.String("cert", f.files.Cert), zap.String("key", f.files.Key),
			zap.Time("not_after", pair.Leaf.NotAfter))
	}
}

// usable refuses a certificate that no client would accept now.
func (f *certificateFollower) usable(chain, key []byte) (tls.Certificate, error) {
	pair, err := f.files.parse(chain, key)
	if err != nil {
		return pair, err
	}
	switch now := time.Now(); {
	case now.Before(pair.Leaf.NotBefore):
		return pair, fmt.Errorf("certificate %s is not valid before %v", f.files.Cert, pair.Leaf.NotBefore)
	case now.After(pair.Leaf.NotAfter):
		return pair, fmt.Errorf("certificate %s has expired at %v", f.files.Cert, pair.Leaf.NotAfter)
	}
	return pair, nil
}

func (f *certificateFollower) warn(err error, asked bool) {
	if err.Error() == f.failed && !asked {
		return
	}
	f.failed = err.Error()
	f.server.log.Warn("certificate not reloaded; keeping the old one", zap.String("cert", f.files.Cert),
		zap.String("key", f.files.Key), zap.NamedError("reason", err))
}
