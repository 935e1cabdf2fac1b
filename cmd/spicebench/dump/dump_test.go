package dump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spicepacer/cmd/spicebench/dump/pcap/pcaptest"
	"spicepacer/spiceproto"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
	}
}

// printed dumps a file as text, as JSON and as sums.
func printed(t *testing.T, file []byte) (text, json, sums string) {
	t.Helper()
	var texts, jsons, tables bytes.Buffer
	s := newStats()
	for _, visit := range []Visit{textPrinter(&texts), jsonPrinter(&jsons), s.add} {
		if err := Read(bytes.NewReader(file), visit); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.print(&tables); err != nil {
		t.Fatal(err)
	}
	return texts.String(), jsons.String(), tables.String()
}

// wantText compares a dump's lines without their times.
func wantText(t *testing.T, c *pcaptest.Capture, want ...string) {
	t.Helper()
	text, _, _ := printed(t, c.Bytes())
	var got []string
	for line := range strings.Lines(text) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// peers are the two ends of a captured channel.
type peers struct {
	*pcaptest.Conn
	link  spiceproto.LinkMess
	reply spiceproto.LinkReply
}

// withMiniHeader is what all current peers offer.
var withMiniHeader = spiceproto.Caps{}.With(spiceproto.CapAuthSelection).
	With(spiceproto.CapAuthSpice).With(spiceproto.CapMiniHeader)

func newPeers(c *pcaptest.Capture, port uint16, kind spiceproto.ChannelType) *peers {
	return &peers{
		Conn:  c.Dial(port),
		link:  spiceproto.LinkMess{Type: kind, Common: withMiniHeader},
		reply: spiceproto.LinkReply{Common: withMiniHeader},
	}
}

// linked goes through the link stage.
func (p *peers) linked() *peers {
	p.Send(up, p.link.Append(nil))
	p.Send(down, p.reply.Append(nil))
	var auth []byte
	if p.link.Common.Has(spiceproto.CapAuthSelection) {
		auth = spiceproto.AppendAuthMechanism(nil, spiceproto.AuthMechanismSpice)
	}
	p.Send(up, append(auth, make([]byte, spiceproto.TicketSize)...))
	p.Send(down, spiceproto.AppendLinkResult(nil, spiceproto.LinkOK))
	return p
}

// full is a message with the header of 18 bytes.
func full(serial uint64, op uint16, subList uint32, body []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, serial)
	b = spiceproto.Header{Type: op, Size: uint32(len(body))}.Append(b)
	b = binary.LittleEndian.AppendUint32(b, subList)
	return append(b, body...)
}

// drawCopy is the message of testdata's size: a tile without compression.
func drawCopy() []byte {
	body := make([]byte, 93+4*32*8)
	le := binary.LittleEndian
	for i, v := range []uint32{0, 10, 20, 18, 52} { // surface; top, left, bottom, right
		le.PutUint32(body[4*i:], v)
	}
	le.PutUint32(body[21:], 57)
	le.PutUint64(body[57:], 7)
	le.PutUint32(body[67:], 32)
	le.PutUint32(body[71:], 8)
	return append(spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy, Size: uint32(len(body))}.Append(nil), body...)
}

// sample is a capture with a bit of everything.
func sample() *pcaptest.Capture {
	c := pcaptest.New()
	main := newPeers(c, 1000, spiceproto.ChannelMain).linked()
	main.Send(down, spiceproto.MainInit{SessionID: 9, AgentTokens: 10}.Append(nil))
	display := newPeers(c, 1001, spiceproto.ChannelDisplay)
	display.link.ConnectionID = 9
	display.linked()
	display.Send(up, spiceproto.DisplayInit{PixmapCacheID: 1, PixmapCacheSize: 100, GLZWindowSize: -1}.Append(nil))
	b := spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil)
	b = spiceproto.SurfaceCreate{Width: 1280, Height: 800, Format: 32, Flags: 1}.Append(b)
	b = append(b, drawCopy()...)
	display.Send(down, b[:100])
	display.Send(up, spiceproto.AckSync{Generation: 1}.Append(nil))
	display.Send(down, b[100:])
	display.Send(down, spiceproto.MonitorsConfig{MaxAllowed: 4, Monitors: make([]spiceproto.Monitor, 6)}.Append(nil))
	display.Send(up, spiceproto.AppendAck(nil))
	display.Send(down, append(spiceproto.Header{Type: 4711, Size: 3}.Append(nil), "abc"...))
	display.Send(down, append(spiceproto.Header{Type: spiceproto.MsgSetAck, Size: 2}.Append(nil), 1, 2))
	display.Send(down, spiceproto.Header{Type: spiceproto.MsgDisplayMark, Size: 0}.Append(nil)[:4])
	display.Close()
	main.Close()
	return c
}

func TestDump(t *testing.T) {
	text, json, sums := printed(t, sample().Bytes())
	golden(t, "session.txt", text)
	golden(t, "session.jsonl", json)
	golden(t, "session.stats", sums)
}

// TestByteByByte sends each byte in a segment of its own: the records are the same,
// but for the times.
func TestByteByByte(t *testing.T) {
	whole, single := pcaptest.New(), pcaptest.New()
	a, b := newPeers(whole, 1000, spiceproto.ChannelDisplay).linked(), newPeers(single, 1000, spiceproto.ChannelDisplay)
	each := func(d spiceproto.Direction, bytes []byte) {
		for i := range bytes {
			b.Send(d, bytes[i:i+1])
		}
	}
	each(up, b.link.Append(nil))
	each(down, b.reply.Append(nil))
	each(up, append(spiceproto.AppendAuthMechanism(nil, spiceproto.AuthMechanismSpice), make([]byte, spiceproto.TicketSize)...))
	each(down, spiceproto.AppendLinkResult(nil, spiceproto.LinkOK))
	a.Send(down, drawCopy())
	each(down, drawCopy())
	want, _, _ := printed(t, whole.Bytes())
	got, _, _ := printed(t, single.Bytes())
	untimed := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
			lines = append(lines, line)
		}
		return lines
	}
	if diff := cmp.Diff(untimed(want), untimed(got)); diff != "" {
		t.Error(diff)
	}
}

// TestServerSeenFirst has the server's packets before the client's in the file, as
// captures of several queues may.
func TestServerSeenFirst(t *testing.T) {
	c := pcaptest.New()
	p := newPeers(c, 1000, spiceproto.ChannelCursor)
	p.Send(down, append(p.reply.Append(nil), spiceproto.AppendLinkResult(nil, spiceproto.LinkOK)...))
	p.Send(up, p.link.Append(nil))
	text, _, _ := printed(t, c.Bytes())
	mess, reply, result := strings.Index(text, " LINK "), strings.Index(text, " LINK_REPLY "), strings.Index(text, " LINK_RESULT ")
	if mess < 0 || reply < mess || result < reply {
		t.Errorf("link stage in another order:\n%s", text)
	}
}

// TestFullHeaders leaves MINI_HEADER out on either side: both headers are full
// then, and carry serials.
func TestFullHeaders(t *testing.T) {
	without := withMiniHeader.Without(spiceproto.CapMiniHeader)
	for name, caps := range map[string][2]spiceproto.Caps{
		"client": {without, withMiniHeader}, "server": {withMiniHeader, without}, "neither": {nil, without},
	} {
		t.Run(name, func(t *testing.T) {
			c := pcaptest.New()
			p := newPeers(c, 1000, spiceproto.ChannelMain)
			p.link.Common, p.reply.Common = caps[0], caps[1]
			p.linked()
			p.Send(down, full(1, spiceproto.MsgSetAck, 0, make([]byte, 8)))
			p.Send(down, full(3, spiceproto.MsgMainAgentToken, 4, make([]byte, 6)))
			p.Send(up, full(1, spiceproto.MsgcAckSync, 0, make([]byte, 4)))
			text, _, sums := printed(t, c.Bytes())
			for _, want := range []string{
				"s2c SET_ACK size=8 serial=1 sub_list=0 generation=0 window=0\n",
				"s2c AGENT_TOKEN size=6 serial=3 sub_list=4",
				"c2s ACK_SYNC size=4 serial=1 sub_list=0 generation=0\n",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("no line %q in\n%s", want, text)
				}
			}
			if !strings.Contains(sums, "72") { // 26 + 24 + 22 bytes
				t.Errorf("sums without the headers:\n%s", sums)
			}
		})
	}
}

func TestNotDecoded(t *testing.T) {
	c := pcaptest.New()
	tls := c.Dial(1000)
	tls.Send(up, []byte{0x16, 3, 1, 0, 5})
	tls.Send(down, []byte{0x16, 3, 3, 0, 5})
	http := c.Dial(1001)
	http.Send(up, []byte("GET / HTTP/1.1\r\n"))
	ssh := c.Dial(1002)
	ssh.Send(down, []byte("SSH-2.0-x\r\n"))
	ssh.Send(up, []byte("SSH-2.0-y\r\n"))
	c.Conn(1003).Send(down, []byte("in the middle"))
	odd := newPeers(c, 1004, spiceproto.ChannelMain)
	odd.Send(up, odd.link.Append(nil))
	odd.Send(down, []byte("what?"))
	wantText(t, c,
		"#0 - c2s ! TLS, not decoded",
		`#4 main:0 c2s LINK size=38 connection_id=0 common_caps=[auth-selection auth-spice mini-header]`,
		`#4 main:0 s2c ! server's answer does not begin with "REDQ"; connection not decoded`,
		"#3 - c2s ! capture began after the connection from 192.0.2.2:5900 to 192.0.2.1:1003 did; not decoded",
		"#4 main:0 s2c ! 5 bytes not decoded",
	)
}

func TestRefused(t *testing.T) {
	c := pcaptest.New()
	secured := newPeers(c, 1000, spiceproto.ChannelMain)
	secured.reply = spiceproto.LinkReply{Error: spiceproto.LinkErrNeedSecured}
	secured.Send(up, secured.link.Append(nil))
	secured.Send(down, secured.reply.Append(nil))
	secured.Send(down, []byte("more"))
	secured.Close()
	broken := c.Dial(1001)
	broken.Send(up, []byte("REDQ\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00x"))
	sasl := newPeers(c, 1002, spiceproto.ChannelInputs)
	sasl.Send(up, sasl.link.Append(nil))
	sasl.Send(down, sasl.reply.Append(nil))
	sasl.Send(up, spiceproto.AppendAuthMechanism(nil, 2))
	sasl.Send(up, []byte("secret"))
	wantText(t, c,
		"#0 main:0 c2s LINK size=38 connection_id=0 common_caps=[auth-selection auth-spice mini-header]",
		`#0 main:0 s2c LINK_REPLY size=194 error="need secured"`,
		"#0 main:0 s2c ! 4 bytes not decoded",
		"#1 - c2s ! read link message: spice link: size 1 outside 18..4096",
		"#2 inputs:0 c2s LINK size=38 connection_id=0 common_caps=[auth-selection auth-spice mini-header]",
		"#2 inputs:0 s2c LINK_REPLY size=198 error=ok common_caps=[auth-selection auth-spice mini-header]",
		"#2 inputs:0 c2s AUTH_MECHANISM size=4 mechanism=2",
		"#2 inputs:0 c2s ! authentication mechanism 2; connection not decoded further",
		"#2 inputs:0 c2s ! 6 bytes not decoded",
	)
}

// TestMissingBytes loses a packet inside a message, and then opens the channel
// anew.
func TestMissingBytes(t *testing.T) {
	c := pcaptest.New()
	p := newPeers(c, 1000, spiceproto.ChannelDisplay).linked()
	p.Send(down, drawCopy()[:50])
	p.Lose(down, 5)
	p.Send(down, []byte("which would look like a message"))
	p.Send(up, spiceproto.AppendAck(nil))
	p.Close()
	again := newPeers(c, 1000, spiceproto.ChannelDisplay).linked()
	again.Send(down, spiceproto.SetAck{}.Append(nil))
	huge := spiceproto.Header{Type: spiceproto.MsgMainAgentData, Size: 1 << 30}.Append(nil)
	again.Send(down, append(huge, "x"...))
	text, _, _ := printed(t, c.Bytes())
	var order []int
	for _, want := range []string{
		"#0 display:0 c2s ACK size=0\n",
		"#0 display:0 s2c ! at least 5 bytes were not captured, after 50 bytes of an incomplete message; direction not decoded further\n",
		"#1 display:0 s2c SET_ACK size=8 generation=0 window=0\n",
		"#1 display:0 s2c ! message type 109 announces 1073741824 bytes; direction not decoded further\n",
		"#1 display:0 s2c ! 7 bytes not decoded\n",
	} {
		order = append(order, strings.Index(text, want))
	}
	if order[0] < 0 || !isSorted(order) {
		t.Errorf("lines at %d in\n%s", order, text)
	}
}

func isSorted(v []int) bool {
	for i := 1; i < len(v); i++ {
		if v[i] <= v[i-1] {
			return false
		}
	}
	return true
}

// TestCutOff reads a capture that stops anywhere: everything before is shown.
func TestCutOff(t *testing.T) {
	file := sample().Bytes()
	records := func(b []byte) (n int) {
		err := Read(bytes.NewReader(b), func(r *Record) error {
			if r.Kind == Message {
				n++
			}
			return nil
		})
		if err != nil && len(b) >= 24 {
			t.Errorf("cut to %d bytes: %v", len(b), err)
		}
		return n
	}
	all, before := records(file), 0
	for n := range len(file) {
		got := records(file[:n])
		if got < before {
			t.Fatalf("%d messages of %d bytes, %d of fewer", got, n, before)
		}
		before = got
	}
	if before != all && before != all-1 || all < 10 {
		t.Errorf("%d messages of all but one byte, %d of all", before, all)
	}
}

func TestVisitStops(t *testing.T) {
	stop := errors.New("enough")
	for name, file := range map[string][]byte{"capture": sample().Bytes(), "trace": traceFile(t, false)} {
		calls := 0
		err := Read(bytes.NewReader(file), func(*Record) error { calls++; return stop })
		if !errors.Is(err, stop) || calls != 1 {
			t.Errorf("%s: %v after %d records, want the visitor's error after one", name, err, calls)
		}
	}
}

func TestNoDump(t *testing.T) {
	for name, file := range map[string]string{
		"empty": "", "text": "Once upon a time there was a protocol", "JSON": `{"a": 1}`,
	} {
		err := Read(strings.NewReader(file), func(*Record) error { return nil })
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRecordTimes(t *testing.T) {
	var times []time.Duration
	err := Read(bytes.NewReader(sample().Bytes()), func(r *Record) error {
		times = append(times, r.Time.Sub(pcaptest.Start))
		return nil
	})
	// Two packets open a connection; each is a millisecond apart.
	if want := 2 * time.Millisecond; err != nil || times[0] != want {
		t.Errorf("first record at %v, err %v, want %v", times[0], err, want)
	}
}
