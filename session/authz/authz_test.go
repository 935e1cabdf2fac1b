package authz

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestStaticFindsTheTokensTarget(t *testing.T) {
	s, err := NewStatic([]Entry{
		{Token: "one", Target: Target{Name: "a"}},
		{Token: "two", Target: Target{Name: "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[Secret]string{"one": "a", "two": "b"} {
		got, err := s.Authorize(t.Context(), Request{Token: token})
		if err != nil || got.Name != want {
			t.Errorf("token %q gives %q, %v; want %q", string(token), got.Name, err, want)
		}
	}
	for _, token := range []Secret{"", "on", "one ", "ONE", "three"} {
		target, err := s.Authorize(t.Context(), Request{Token: token})
		if _, denied := errors.AsType[*Denied](err); !denied || target != (Target{}) {
			t.Errorf("token %q gives %+v, %v; want a denial", string(token), target, err)
		}
	}
}

func TestStaticRefusesUnusableEntries(t *testing.T) {
	good := Entry{Token: "t"}
	for name, tc := range map[string]struct {
		entries []Entry
		want    string
	}{
		"empty token":  {[]Entry{good, {}}, "target 1: empty token"},
		"token twice":  {[]Entry{good, good}, "target 1: same token as target 0"},
		"bad subject":  {[]Entry{{Token: "t", Target: Target{HostSubject: "CN"}}}, "target 0: host_subject"},
		"no CA in PEM": {[]Entry{{Token: "t", Target: Target{CACert: "text"}}}, "target 0: no certificate"},
	} {
		if _, err := NewStatic(tc.entries); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: err = %v, want %q", name, err, tc.want)
		}
	}
}

func TestSecretNeverFormats(t *testing.T) {
	r := Request{Token: "hush"}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		fmt.Sprint(r), fmt.Sprintf("%+v", r), fmt.Sprintf("%#v", r), fmt.Sprintf("%s %q %v", r.Token, r.Token, r.Token), string(data),
	} {
		if strings.Contains(text, "hush") {
			t.Errorf("secret shown in %s", text)
		}
	}
}

func TestUnixPath(t *testing.T) {
	if path, ok := (Target{Hypervisor: "unix:/run/vm.sock"}).UnixPath(); !ok || path != "/run/vm.sock" {
		t.Errorf("path %q, %v", path, ok)
	}
	if _, ok := (Target{Hypervisor: "unix.example.org"}).UnixPath(); ok {
		t.Error("a host name taken for a path")
	}
}
