package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestParityNamesTests keeps docs/parity.md from naming tests that are gone.
func TestParityNamesTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/parity.md")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, match := range declared.FindAllSubmatch(source, -1) {
			known[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(text, -1) {
		if !known[string(match[1])] {
			t.Errorf("no test %s", match[1])
		}
	}
}
