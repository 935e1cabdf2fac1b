package kerbsidepb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// contract is Kerbside's, as its own .proto defines it: kind, name, number.
const contract = `
kerbside.rpc.AuthorizeConnectionReply
  denied=1 kerbside.rpc.Denied oneof result
  firewall_policy=3 kerbside.rpc.FirewallPolicy
  target=2 kerbside.rpc.Target oneof result
kerbside.rpc.AuthorizeConnectionRequest
  channel_id=7 uint32
  channel_type=6 string
  client_ip=3 string
  client_port=4 uint32
  connection_id=5 uint32
  connection_ref=2 string
  token=1 string
kerbside.rpc.AuditEventRequest
  channel=4 string
  connection_ref=6 string
  message=7 string
  node=5 string
  session_id=3 string
  source=1 string
  uuid=2 string
kerbside.rpc.ClearNodeChannelsRequest
  node=1 string
kerbside.rpc.Denied
  reason=1 string
kerbside.rpc.DeregisterChannelRequest
  connection_ref=2 string
  node=1 string
kerbside.rpc.FirewallPolicy
  mode=1 kerbside.rpc.FirewallPolicy.Mode ENFORCE=0 WARN_ONLY=1
  permitted_channels=2 uint32 repeated
kerbside.rpc.Heartbeat
kerbside.rpc.ProxyControlEvent
  heartbeat=1 kerbside.rpc.Heartbeat oneof event
  terminate_session=2 kerbside.rpc.TerminateSession oneof event
kerbside.rpc.ProxyControlRequest
  node=1 string
kerbside.rpc.RegisterChannelRequest
  channel_id=7 uint32
  channel_type=6 string
  client_ip=3 string
  client_port=4 uint32
  connection_id=5 uint32
  connection_ref=2 string
  node=1 string
kerbside.rpc.StatusReply
  error=2 string
  success=1 bool
kerbside.rpc.Target
  ca_cert=6 string
  host_subject=7 string
  hypervisor=1 string
  hypervisor_ip=2 string
  insecure_port=3 uint32
  secure_port=4 uint32
  session_id=10 string
  source=8 string
  ticket=5 string
  uuid=9 string
kerbside.rpc.TerminateSession
  session_id=1 string
service kerbside.rpc.KerbsideProxy
  AuthorizeConnection(kerbside.rpc.AuthorizeConnectionRequest) kerbside.rpc.AuthorizeConnectionReply
  ClearNodeChannels(kerbside.rpc.ClearNodeChannelsRequest) kerbside.rpc.StatusReply
  DeregisterChannel(kerbside.rpc.DeregisterChannelRequest) kerbside.rpc.StatusReply
  ProxyControl(kerbside.rpc.ProxyControlRequest) stream kerbside.rpc.ProxyControlEvent
  RecordAuditEvent(kerbside.rpc.AuditEventRequest) kerbside.rpc.StatusReply
  RegisterChannel(kerbside.rpc.RegisterChannelRequest) kerbside.rpc.StatusReply
`

func TestContract(t *testing.T) {
	want := blocks(contract)
	for block, lines := range blocks(described()) {
		if !slices.Equal(lines, want[block]) {
			t.Errorf("%s is\n%s\nwant\n%s", block, strings.Join(lines, "\n"), strings.Join(want[block], "\n"))
		}
		delete(want, block)
	}
	for block := range want {
		t.Errorf("%s is missing", block)
	}
}

// blocks splits a description into its messages, each with sorted lines.
func blocks(text string) map[string][]string {
	found := make(map[string][]string)
	name := ""
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, " ") {
			name = line
			found[name] = []string{}
			continue
		}
		found[name] = append(found[name], line)
		slices.Sort(found[name])
	}
	return found
}

// described writes down what the generated code was made from.
func described() string {
	var b strings.Builder
	file := File_kerbside_proto
	for i := range file.Messages().Len() {
		m := file.Messages().Get(i)
		fmt.Fprintln(&b, m.FullName())
		for j := range m.Fields().Len() {
			fmt.Fprintln(&b, field(m.Fields().Get(j)))
		}
	}
	for i := range file.Services().Len() {
		s := file.Services().Get(i)
		fmt.Fprintln(&b, "service", s.FullName())
		for j := range s.Methods().Len() {
			m := s.Methods().Get(j)
			stream := ""
			if m.IsStreamingServer() {
				stream = "stream "
			}
			fmt.Fprintf(&b, "  %s(%s) %s%s\n", m.Name(), m.Input().FullName(), stream, m.Output().FullName())
		}
	}
	return b.String()
}

func field(f protoreflect.FieldDescriptor) string {
	line := fmt.Sprintf("  %s=%d ", f.Name(), f.Number())
	switch {
	case f.Message() != nil:
		line += string(f.Message().FullName())
	case f.Enum() != nil:
		line += string(f.Enum().FullName())
		for i := range f.Enum().Values().Len() {
			v := f.Enum().Values().Get(i)
			line += fmt.Sprintf(" %s=%d", v.Name(), v.Number())
		}
	default:
		line += f.Kind().String()
	}
	if f.IsList() {
		line += " repeated"
	}
	if o := f.ContainingOneof(); o != nil {
		line += " oneof " + string(o.Name())
	}
	return line
}
