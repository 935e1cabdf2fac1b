package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPageIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatalf("read the page: %v", err)
	}
	if diff := cmp.Diff(string(render()), string(got)); diff != "" {
		t.Errorf("docs/protocol.md is not what the grammar says; run make generate: (-want +got)\n%s", diff)
	}
}
