package authz

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
)

// Static authorizes from a fixed list: a token names a target.
type Static struct {
	tokens  [][sha256.Size]byte
	targets []Target
}

// Entry gives holders of Token access to Target.
type Entry struct {
	Token  Secret
	Target Target
}

// NewStatic fails on an empty or repeated token and on a target whose host
// subject or certificates cannot be used, naming the entry by its index.
func NewStatic(entries []Entry) (*Static, error) {
	s := &Static{}
	seen := make(map[Secret]int)
	for i, e := range entries {
		if err := checkEntry(e); err != nil {
			return nil, fmt.Errorf("target %d: %w", i, err)
		}
		if first, dup := seen[e.Token]; dup {
			return nil, fmt.Errorf("target %d: same token as target %d", i, first)
		}
		seen[e.Token] = i
		s.tokens = append(s.tokens, sha256.Sum256([]byte(e.Token)))
		s.targets = append(s.targets, e.Target)
	}
	return s, nil
}

func checkEntry(e Entry) error {
	if e.Token == "" {
		return errors.New("empty token")
	}
	if _, err := e.Target.Roots(); err != nil {
		return err
	}
	_, err := ParseSubject(e.Target.HostSubject)
	return err
}

// Authorize compares digests, of one length, with every token, so that its
// time tells nothing about how close a guess was.
func (s *Static) Authorize(_ context.Context, r Request) (Target, error) {
	digest := sha256.Sum256([]byte(r.Token))
	found := -1
	for i := range s.tokens {
		equal := subtle.ConstantTimeCompare(digest[:], s.tokens[i][:])
		found = subtle.ConstantTimeSelect(equal, i, found)
	}
	if found < 0 {
		return Target{}, &Denied{Reason: "unknown token"}
	}
	return s.targets[found], nil
}
