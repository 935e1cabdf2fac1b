package observe

import (
	"fmt"
	"net/http"
)

// Health adds answers for whoever watches over the proxy to Handler: GET
// /healthz is 200 while the process answers at all; GET /healthz/ready is 200
// while ready returns nil, else 503 with its error as text, so that a balancer
// sends no more clients. Neither asks a hypervisor or the control plane: these
// being away is no reason to restart the proxy. It must be called before the
// first request.
func (m *Metrics) Health(ready func() error) { m.ready = ready }

// health tells whether it answered r.
func (m *Metrics) health(w http.ResponseWriter, r *http.Request) bool {
	if m.ready == nil || r.Method != http.MethodGet {
		return false
	}
	switch r.URL.Path {
	case "/healthz":
		answer(w, http.StatusOK, "ok")
	case "/healthz/ready":
		if err := m.ready(); err != nil {
			answer(w, http.StatusServiceUnavailable, err.Error())
		} else {
			answer(w, http.StatusOK, "ready")
		}
	default:
		return false
	}
	return true
}

func answer(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	fmt.Fprintln(w, text)
}
