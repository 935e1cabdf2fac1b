package session

import (
	"context"
	"net"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// footprint returns the heap and the goroutines that each of some relayed channels
// holds once it was greeted and nothing more comes.
func footprint(t *testing.T, kind spiceproto.ChannelType, mode pacer.Mode) (bytes, goroutines int) {
	t.Helper()
	const channels = 100
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	greeting := spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil)
	heap, routines := held()
	for range channels {
		client, near := net.Pipe()
		server, hypervisor := net.Pipe()
		ch := &channel{
			kind: kind, mode: mode, client: leg{conn: near}, server: leg{conn: server},
			log: zap.NewNop(), stats: new(Stats),
		}
		running.Go(func() { relay(ctx, ch, relayConfig{pacing: DefaultConfig().Pacing}) })
		defer client.Close()
		defer hypervisor.Close()
		(&farEnd{Conn: hypervisor, t: t}).send(greeting)
		(&farEnd{Conn: client, t: t}).want(greeting)
	}
	heapNow, routinesNow := held()
	return (heapNow - heap) / channels, (routinesNow - routines) / channels
}

// held returns the live heap in bytes and the number of goroutines. The second
// collection clears what pools have kept through the first.
func held() (heap, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}

// What a channel holds while nothing happens bounds how many a host can have.
// The limits have room for what the ends in the test take.
func TestIdleChannelsHoldLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	for _, c := range []struct {
		kind              spiceproto.ChannelType
		mode              pacer.Mode
		bytes, goroutines int
	}{
		{spiceproto.ChannelInputs, pacer.Passthrough, 14 << 10, 2},
		{spiceproto.ChannelDisplay, pacer.Passthrough, 14 << 10, 2},
		{spiceproto.ChannelDisplay, pacer.Withhold, 24 << 10, 4},
		{spiceproto.ChannelDisplay, pacer.Adaptive, 24 << 10, 4},
	} {
		bytes, goroutines := footprint(t, c.kind, c.mode)
		t.Logf("%v %v: %d bytes, %d goroutines", c.kind, c.mode, bytes, goroutines)
		if bytes > c.bytes || goroutines != c.goroutines {
			t.Errorf("an idle %v channel, %v, holds %d bytes and %d goroutines, want %d at most and %d",
				c.kind, c.mode, bytes, goroutines, c.bytes, c.goroutines)
		}
	}
}
