package keydraw

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// The agent's side of vd_agent.h: chunks with a header of u32 port and u32 size
// carry messages with a header of u32 protocol, u32 type, u64 opaque and u32 size.
const (
	agentClientPort = 1
	agentProtocol   = 1
	agentHeader     = 20
	agentMaxChunk   = 2048 // VD_AGENT_MAX_DATA_SIZE
	agentMaxMessage = 1 << 20

	agentMonitorsConfig   = 2
	agentReply            = 3
	agentClipboard        = 4
	agentCapabilities     = 6
	agentClipboardGrab    = 7
	agentClipboardRequest = 8

	agentSuccess = 1 // of a reply
	agentUTF8    = 1 // VD_AGENT_CLIPBOARD_UTF8_TEXT

	// agentCaps are bits: 1 monitors config, 2 reply, 5 clipboard by demand.
	agentCaps = 1<<1 | 1<<2 | 1<<5
)

// agentText is what the agent's clipboard holds; it takes several chunks.
var agentText = bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog.\n"), 120)

// agent plays the guest agent: it tells its capabilities, offers a text and hands it
// out as soon as the client has told its own, and acknowledges monitors. A real agent
// hands nothing out unasked; here a long message is to pass whatever the client does.
type agent struct {
	port io.ReadWriter
	in   []byte // of the message under way
}

// openAgentPort opens the first port of a virtio serial device.
func openAgentPort() (io.ReadWriter, error) {
	ports, err := filepath.Glob("/dev/vport*p*")
	if err != nil || len(ports) == 0 {
		return nil, fmt.Errorf("no virtio serial port: %v", err)
	}
	return os.OpenFile(ports[0], os.O_RDWR, 0)
}

// run serves one client after the other until the port fails. A port without a
// client takes no bytes and reads as ended.
func (a *agent) run() error {
	const retry = 200 * time.Millisecond
	if err := a.announce(); err != nil {
		return err
	}
	for {
		err := a.serve()
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		a.in = nil
		time.Sleep(retry)
	}
}

func (a *agent) announce() error { return a.send(agentCapabilities, words(1, agentCaps)) }

// serve answers until the port ends.
func (a *agent) serve() error {
	for {
		var head [8]byte
		if _, err := io.ReadFull(a.port, head[:]); err != nil {
			return fmt.Errorf("read agent's port: %w", err)
		}
		size := binary.LittleEndian.Uint32(head[4:])
		if size > agentMaxMessage {
			return fmt.Errorf("chunk of %d bytes on the agent's port", size)
		}
		chunk := make([]byte, size)
		if _, err := io.ReadFull(a.port, chunk); err != nil {
			return fmt.Errorf("read agent's port: %w", err)
		}
		if err := a.chunk(chunk); err != nil {
			return err
		}
	}
}

// chunk adds to the message under way, and answers it once it is complete.
func (a *agent) chunk(b []byte) error {
	a.in = append(a.in, b...)
	for len(a.in) >= agentHeader {
		kind, size := binary.LittleEndian.Uint32(a.in[4:]), binary.LittleEndian.Uint32(a.in[16:])
		if size > agentMaxMessage {
			return fmt.Errorf("message of %d bytes for the agent", size)
		}
		if len(a.in) < agentHeader+int(size) {
			return nil
		}
		if err := a.answer(kind); err != nil {
			return err
		}
		a.in = a.in[agentHeader+int(size):]
	}
	return nil
}

func (a *agent) answer(kind uint32) error {
	switch kind {
	case agentCapabilities:
		// What was sent before a client came is gone.
		return errors.Join(a.send(agentCapabilities, words(0, agentCaps)),
			a.send(agentClipboardGrab, words(agentUTF8)), a.sendText())
	case agentClipboardRequest:
		return a.sendText()
	case agentMonitorsConfig:
		return a.send(agentReply, words(agentMonitorsConfig, agentSuccess))
	}
	return nil
}

func (a *agent) sendText() error {
	return a.send(agentClipboard, append(words(agentUTF8), agentText...))
}

// send cuts a message into chunks.
func (a *agent) send(kind uint32, data []byte) error {
	message := append(words(agentProtocol, kind, 0, 0, uint32(len(data))), data...)
	for len(message) > 0 {
		n := min(len(message), agentMaxChunk)
		if _, err := a.port.Write(append(words(agentClientPort, uint32(n)), message[:n]...)); err != nil {
			return fmt.Errorf("write agent's port: %w", err)
		}
		message = message[n:]
	}
	return nil
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
