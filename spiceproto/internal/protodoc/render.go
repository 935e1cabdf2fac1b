package main

import (
	"bytes"
	"fmt"
	"strings"

	"spicepacer/spiceproto"
)

const intro = `# Protocol

<!-- Generated from package spiceproto by "make generate"; changes made here are lost. -->

What the proxy knows of SPICE, protocol version 2.2: every message, and what the
state machine checks. A message type that is not listed is unknown; it is
forwarded all the same, unless the firewall forbids it.

Sizes are those of the body in bytes, without the header. A single number is the
only legal size; "…" is no limit. *Since* is the release of spice-server that
introduced the message. *Needs* is the channel capability that admits it, and
the peer that must have advertised it.
`

const rulesIntro = `
## What is checked

A channel goes through these phases: %s.

Breaches of the rules below are told; none of them ends a connection by itself. A
*violation* makes the receiver disconnect, freeze or show a wrong picture; a
*warning* is against the protocol, but the peers carry on; a *note* is odd and
harmless.

| Rule | Severity | Found |
|---|---|---|
`

// render returns the page.
func render() []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	for t := spiceproto.ChannelType(0); t <= spiceproto.ChannelWebDAV; t++ {
		renderChannel(&b, t)
	}
	fmt.Fprintf(&b, rulesIntro, phases())
	for _, r := range spiceproto.Rules() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r, r.Severity(), r.Explain())
	}
	return b.Bytes()
}

func phases() string {
	var names []string
	for p := spiceproto.PhaseLink; p <= spiceproto.PhaseClosed; p++ {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

func renderChannel(b *bytes.Buffer, t spiceproto.ChannelType) {
	title := "Every channel"
	if t != 0 {
		title = fmt.Sprintf("%s (%d)", t, uint8(t))
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	server := renderDirection(b, t, spiceproto.ServerToClient)
	client := renderDirection(b, t, spiceproto.ClientToServer)
	if !server && !client {
		b.WriteString("\nReserved; no server offers it.\n")
	}
}

// renderDirection reports whether the channel has messages in the direction.
func renderDirection(b *bytes.Buffer, t spiceproto.ChannelType, d spiceproto.Direction) bool {
	found := false
	for _, s := range spiceproto.Grammar() {
		if s.Channel != t || s.Direction != d {
			continue
		}
		if !found {
			fmt.Fprintf(b, "\n%s:\n\n| Type | Name | Body | Since | Needs |\n|--:|---|---|---|---|\n", sender(d))
			found = true
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s |\n", s.Opcode, s.Name, size(s), s.Since, needs(s))
	}
	return found
}

func sender(d spiceproto.Direction) string {
	if d == spiceproto.ServerToClient {
		return "Server to client"
	}
	return "Client to server"
}

func size(s spiceproto.MessageSpec) string {
	switch {
	case s.Fixed():
		return fmt.Sprint(s.Min)
	case s.Max == spiceproto.Unlimited:
		return fmt.Sprintf("%d…", s.Min)
	}
	return fmt.Sprintf("%d…%d", s.Min, s.Max)
}

func needs(s spiceproto.MessageSpec) string {
	if s.Gate.By == spiceproto.NoGate {
		return ""
	}
	names := spiceproto.ChannelCapNames(s.Channel, s.Gate.Caps())
	return s.Gate.By.String() + ": " + strings.Join(names, " or ")
}
