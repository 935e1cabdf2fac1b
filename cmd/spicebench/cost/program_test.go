package cost

import (
	"strings"
	"testing"
)

func TestMissingProgramNamesThePackage(t *testing.T) {
	if _, err := findHAProxy(t.Context(), "/no/such/haproxy"); err == nil || !strings.Contains(err.Error(), "Debian package haproxy") {
		t.Errorf("without HAProxy: %v, want the package that has it", err)
	}
	if _, err := findProxy("/no/such/proxy"); err == nil || !strings.Contains(err.Error(), "/no/such/proxy") {
		t.Errorf("without the proxy: %v, want its path", err)
	}
}
