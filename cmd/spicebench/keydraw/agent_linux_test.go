package keydraw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// wire is an agent's port: it reads from one buffer and writes to another.
type wire struct {
	io.Reader
	bytes.Buffer
}

func (w *wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }

// message is one as the agent's peer sends it, in chunks of n bytes.
func message(kind uint32, data []byte, n int) (b []byte) {
	m := append(words(agentProtocol, kind, 0, 0, uint32(len(data))), data...)
	for len(m) > 0 {
		n := min(n, len(m))
		b = append(append(b, words(agentClientPort, uint32(n))...), m[:n]...)
		m = m[n:]
	}
	return b
}

// sent takes the chunks apart and returns the messages' types and data.
func sent(t *testing.T, b []byte) (kinds []uint32, data [][]byte) {
	t.Helper()
	var stream []byte
	for len(b) > 0 {
		n := binary.LittleEndian.Uint32(b[4:])
		if n > agentMaxChunk || binary.LittleEndian.Uint32(b) != agentClientPort {
			t.Fatalf("chunk % x", b[:8])
		}
		stream, b = append(stream, b[8:8+n]...), b[8+n:]
	}
	for len(stream) > 0 {
		end := agentHeader + binary.LittleEndian.Uint32(stream[16:])
		kinds = append(kinds, binary.LittleEndian.Uint32(stream[4:]))
		data, stream = append(data, stream[agentHeader:end]), stream[end:]
	}
	return kinds, data
}

func TestAgent(t *testing.T) {
	in := message(agentCapabilities, words(1, 7), 3)
	in = append(in, message(agentMonitorsConfig, make([]byte, 28), 100)...)
	in = append(in, message(99, nil, 100)...)
	in = append(in, message(agentClipboardRequest, words(agentUTF8), 100)...)
	port := &wire{Reader: bytes.NewReader(in)}
	a := agent{port: port}
	if err := errors.Join(a.announce(), a.serve()); !errors.Is(err, io.EOF) {
		t.Errorf("served until %v, want the port's end", err)
	}
	kinds, data := sent(t, port.Bytes())
	want := []uint32{
		agentCapabilities, agentCapabilities, agentClipboardGrab, agentClipboard, agentReply, agentClipboard,
	}
	if len(kinds) != len(want) {
		t.Fatalf("sent %d, want %d", kinds, want)
	}
	for i := range want {
		if kinds[i] != want[i] {
			t.Errorf("message %d is %d, want %d", i, kinds[i], want[i])
		}
	}
	if !bytes.Equal(data[5][4:], agentText) || len(agentText) < 2*agentMaxChunk {
		t.Errorf("clipboard of %d bytes, want %d", len(data[5]), len(agentText))
	}
}

func TestAgentRefusesHugeMessages(t *testing.T) {
	for name, in := range map[string][]byte{
		"chunk":   words(agentClientPort, agentMaxMessage+1),
		"message": append(words(agentClientPort, agentHeader), words(1, 6, 0, 0, agentMaxMessage+1)...),
	} {
		if err := (&agent{port: &wire{Reader: bytes.NewReader(in)}}).serve(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
