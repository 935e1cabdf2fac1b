package session

import (
	"bytes"
	"crypto/tls"
	"net"
	"sync/atomic"
	"testing"

	"spicepacer/spiceproto"
)

// countedConn counts the writes that reach a socket.
type countedConn struct {
	net.Conn
	writes atomic.Int64
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A tls.Conn's Read returns the bytes of one record, so what it returns must
// never go past the end of a message.
func TestRecordsHoldOneMessage(t *testing.T) {
	cert, err := SelfSigned(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	socket := &countedConn{Conn: near}
	records := &recordBuffer{Conn: socket}
	server := tls.Server(records, &tls.Config{Certificates: []tls.Certificate{cert}})
	client := tls.Client(far, &tls.Config{InsecureSkipVerify: true})
	t.Cleanup(func() { near.Close(); far.Close() })

	var stream []byte
	for _, size := range []uint32{0, 1, 0, 500, 20_000, 3, 0} {
		stream = spiceproto.Header{Type: 101, Size: size}.Append(stream)
		stream = append(stream, make([]byte, size)...)
	}
	const writes = 3
	written := make(chan error, 1)
	go func() {
		if err := server.Handshake(); err != nil {
			written <- err
			return
		}
		socket.writes.Store(0)
		w := messageWriter{to: leg{conn: server, tls: true, records: records}}
		var err error
		for i := range writes {
			if err == nil {
				_, err = w.write(stream[len(stream)*i/writes : len(stream)*(i+1)/writes])
			}
		}
		written <- err
	}()

	var got []byte
	var framer spiceproto.Framer
	buf := make([]byte, 1<<16)
	for len(got) < len(stream) {
		n, err := client.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buf[:n]...)
		for rest := buf[:n]; len(rest) > 0; {
			s := framer.Next(rest)
			rest = rest[len(s.Bytes):]
			if s.End && len(rest) > 0 {
				t.Fatalf("a record goes on for %d bytes behind the end of a message", len(rest))
			}
		}
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, stream) {
		t.Error("the stream changed")
	}
	if n := socket.writes.Load(); n != writes {
		t.Errorf("%d writes reached the socket, want one for each of %d", n, writes)
	}
}
