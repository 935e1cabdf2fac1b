package pcap_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"spicepacer/cmd/spicebench/dump/pcap"
	"spicepacer/cmd/spicebench/dump/pcap/pcaptest"
	"spicepacer/spiceproto"
)

// What reading may allocate in all: four times the file, and what does not depend
// on it: buffers, tables, and what the runtime does beside.
const (
	allocFactor   = 4
	allocConstant = 1 << 20
)

// discard takes what an Assembler finds and keeps nothing.
type discard struct{ bytes, conns int }

func (d *discard) Data(_ *pcap.Conn, _ spiceproto.Direction, _ pcap.Packet, b []byte) {
	d.bytes += len(b)
}
func (d *discard) Lost(*pcap.Conn, spiceproto.Direction, pcap.Packet, int) {}
func (d *discard) Closed(*pcap.Conn, pcap.Packet)                          { d.conns++ }

// FuzzReader reads any file to its end. Nothing may be delivered that was not in
// it, and nothing allocated that it merely announces.
func FuzzReader(f *testing.F) {
	c := pcaptest.New()
	a := c.Dial(1000)
	a.Send(spiceproto.ClientToServer, []byte("REDQ"))
	a.Segment(spiceproto.ServerToClient, pcaptest.ACK, 3, []byte("out of order"))
	a.Close()
	f.Add(c.Bytes())
	f.Add(nanosecondNG())
	f.Fuzz(func(t *testing.T, file []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var sink discard
		if r, err := pcap.NewReader(bytes.NewReader(file)); err == nil {
			assembler := pcap.NewAssembler(&sink)
			for {
				p, err := r.Next()
				if err != nil {
					break
				}
				if s, ok := pcap.ParseSegment(p); ok {
					assembler.Add(p, s)
				}
			}
			assembler.Close(pcap.Packet{})
		}
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(allocFactor*len(file)+allocConstant); got > most {
			t.Errorf("%d bytes allocated for a file of %d, want at most %d", got, len(file), most)
		}
		if sink.bytes > len(file) {
			t.Errorf("%d bytes delivered of a file of %d", sink.bytes, len(file))
		}
	})
}

// nanosecondNG is a pcapng file with one Ethernet packet.
func nanosecondNG() []byte {
	le := binary.LittleEndian
	words := func(values ...uint32) (b []byte) {
		for _, v := range values {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	return bytes.Join([][]byte{
		words(0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28),
		words(1, 28, 1, 0, 1<<16|9, 9, 28),
		words(6, 36, 0, 0, 7, 4, 4, 0xdeadbeef, 36),
	}, nil)
}
