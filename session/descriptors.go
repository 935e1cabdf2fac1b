package session

import (
	"go.uber.org/zap"

	"spicepacer/session/sockopt"
)

const (
	// socketsPerConnection are a client's and its hypervisor's.
	socketsPerConnection = 2
	// spareDescriptors are for what is no connection of a client: listeners, the
	// metrics page and who asks for it, the control plane, the log, up to 64 traces,
	// certificates and name look-ups.
	spareDescriptors = 128
)

// descriptorsFor is how many descriptors a number of connections may need.
func descriptorsFor(connections int) uint64 {
	return socketsPerConnection*uint64(connections) + spareDescriptors
}

// checkDescriptors warns if the process may not open as many descriptors as its
// connections may need: a connection would fail then at accept or, worse, when it
// is to reach its hypervisor, long before the limit that was set refuses it.
func (s *Server) checkDescriptors() {
	limit, err := sockopt.Descriptors()
	if err != nil {
		s.log.Debug("limit of open files not known", zap.Error(err))
		return
	}
	if need := descriptorsFor(s.cfg.Connections); limit < need {
		s.log.Warn("the limit of open files is below what the limit of connections needs; raise RLIMIT_NOFILE, such as with LimitNOFILE of systemd, or lower the limit of connections",
			zap.Uint64("open_files", limit), zap.Uint64("needed", need), zap.Int("connections", s.cfg.Connections))
	}
}
