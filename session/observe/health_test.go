package observe

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHealth(t *testing.T) {
	var state error
	m := New()
	m.Health(func() error { return state })
	handler := m.Handler()
	for _, step := range []struct {
		state      error
		path, text string
		code       int
	}{
		{errors.New("proxy is starting"), "/healthz", "ok\n", http.StatusOK},
		{errors.New("proxy is starting"), "/healthz/ready", "proxy is starting\n", http.StatusServiceUnavailable},
		{nil, "/healthz/ready", "ready\n", http.StatusOK},
		{errors.New("proxy is shutting down"), "/healthz/ready", "proxy is shutting down\n", http.StatusServiceUnavailable},
		{errors.New("proxy is shutting down"), "/healthz", "ok\n", http.StatusOK},
	} {
		state = step.state
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, step.path, nil))
		if w.Code != step.code || w.Body.String() != step.text {
			t.Errorf("%s while %v: %d %q, want %d %q", step.path, step.state, w.Code, w.Body, step.code, step.text)
		}
	}
}
