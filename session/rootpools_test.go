package session

import (
	"strings"
	"testing"

	"spicepacer/session/authz"
)

func TestRootPoolsAreShared(t *testing.T) {
	var pools rootPools
	one, other := issue(t, nil, "one").pem, issue(t, nil, "other").pem
	first, err := pools.of(authz.Target{CACert: one})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := pools.of(authz.Target{CACert: one}); again != first || err != nil {
		t.Errorf("the same certificates are parsed again, err %v", err)
	}
	if second, err := pools.of(authz.Target{CACert: other}); second.Equal(first) || err != nil {
		t.Errorf("other certificates are taken for the same, err %v", err)
	}
	if pool, err := pools.of(authz.Target{}); pool != nil || err != nil {
		t.Errorf("no certificates give %v, %v; want the system's", pool, err)
	}
	if _, err := pools.of(authz.Target{CACert: "no PEM"}); err == nil {
		t.Error("what is no certificate is no error")
	}
	for i := range 2 * maxRootPools {
		if _, err := pools.of(authz.Target{CACert: one + strings.Repeat("\n", i)}); err != nil {
			t.Fatal(err)
		}
		if n := len(pools.byText); n > maxRootPools {
			t.Fatalf("%d pools are remembered", n)
		}
	}
}
