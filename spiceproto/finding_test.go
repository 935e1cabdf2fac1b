package spiceproto

import "testing"

func TestRulesAreTold(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.String() == "" || seen[r.String()] || r.Explain() == "" {
			t.Errorf("rule %d: name %q, %q", uint8(r), r, r.Explain())
		}
		seen[r.String()] = true
	}
	if got := numRules.String(); got != "rule-31" {
		t.Errorf("a number without a rule is %q", got)
	}
	if numRules.Severity() != SeverityNote || numRules.Explain() != "" {
		t.Error("a number without a rule tells something")
	}
}

func TestFindingString(t *testing.T) {
	f := Finding{
		Channel: ChannelDisplay, Opcode: MsgDisplayDrawCopy,
		Rule: RuleDeadSurface, Severity: SeverityViolation, Got: 7,
	}
	want := "display s2c DRAW_COPY (304): violation: dead-surface " +
		"(the message uses a surface that does not exist; got its id; got 7, want 0)"
	if f.String() != want {
		t.Errorf("%s\nwant %s", f, want)
	}
	if got := Severity(9).String() + " " + Phase(9).String() + " " + Advertiser(9).String(); got != "severity-9 phase-9 advertiser-9" {
		t.Error(got)
	}
}
