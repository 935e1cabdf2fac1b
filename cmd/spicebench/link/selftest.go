package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// tcpHeaders are the IP and TCP header bytes of a full segment, time stamps
	// included; the rest of the MTU is payload.
	tcpHeaders = 20 + 20 + 12
	// echoes and rateSlices are how many samples the medians are taken of.
	echoes     = 21
	rateSlices = 9
)

// Check is what a link was found to do.
type Check struct {
	// Goodput is the payload rate of one bulk TCP flow in Mbit/s, the median of
	// slices of time: what TCP gives up after a loss is not the link's doing.
	// WantGoodput is what the profile leaves for payload.
	Goodput, WantGoodput float64
	// RTT is the median round trip of a small datagram on the idle link.
	RTT, WantRTT time.Duration
}

// Within reports whether both figures are within tolerance (0.03 is 3 %).
func (c Check) Within(tolerance float64) bool {
	return near(c.Goodput, c.WantGoodput, tolerance) && near(c.RTT.Seconds(), c.WantRTT.Seconds(), tolerance)
}

func near(got, want, tolerance float64) bool {
	return got >= want*(1-tolerance) && got <= want*(1+tolerance)
}

// String tells what was found and what was wanted.
func (c Check) String() string {
	return fmt.Sprintf("goodput %.3f Mbit/s (want %.3f), round trip %.2f ms (want %.2f)",
		c.Goodput, c.WantGoodput, c.RTT.Seconds()*1000, c.WantRTT.Seconds()*1000)
}

// Verify measures the link, which must be idle and have the given profile without
// loss: the round trip first, then a bulk flow from server to client for the
// given time, not counting a warm-up in which TCP finds the rate.
func (l *Link) Verify(ctx context.Context, p Profile, warmup, bulk time.Duration) (Check, error) {
	c := Check{WantRTT: p.RTT, WantGoodput: p.RateMbit * (mtu - tcpHeaders) / mtu}
	var err error
	if c.RTT, err = l.echo(ctx); err != nil {
		return c, fmt.Errorf("echo over link %v: %w", p, err)
	}
	if c.Goodput, err = l.goodput(ctx, warmup, bulk); err != nil {
		return c, fmt.Errorf("bulk flow over link %v: %w", p, err)
	}
	return c, nil
}

// echo returns the median round trip of datagrams from the client's side.
func (l *Link) echo(ctx context.Context) (time.Duration, error) {
	var server, client *net.UDPConn
	err := l.server.Do(func() (err error) {
		server, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(ServerAddr, 0)))
		return err
	})
	if err != nil {
		return 0, err
	}
	var reflecting sync.WaitGroup
	defer reflecting.Wait()
	defer server.Close()
	reflecting.Go(func() { reflect(server) })
	err = l.client.Do(func() (err error) {
		client, err = net.DialUDP("udp4", nil, server.LocalAddr().(*net.UDPAddr))
		return err
	})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	defer context.AfterFunc(ctx, func() { client.Close() })()

	trips := make([]time.Duration, echoes)
	var buf [1]byte
	for i := range trips {
		sent := time.Now()
		if _, err := client.Write(buf[:]); err != nil {
			return 0, err
		}
		if err := client.SetReadDeadline(sent.Add(10 * time.Second)); err != nil {
			return 0, err
		}
		if _, err := client.Read(buf[:]); err != nil {
			return 0, err
		}
		trips[i] = time.Since(sent)
	}
	return median(trips), nil
}

// reflect sends every datagram back until the socket closes.
func reflect(conn *net.UDPConn) {
	var buf [1]byte
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf[:])
		if err != nil {
			return
		}
		conn.WriteToUDPAddrPort(buf[:n], from)
	}
}

// goodput returns the payload rate in Mbit/s of one TCP flow to the client.
func (l *Link) goodput(ctx context.Context, warmup, bulk time.Duration) (float64, error) {
	server, client, err := l.connect(ctx)
	if err != nil {
		return 0, err
	}
	var pouring sync.WaitGroup
	defer pouring.Wait()
	defer server.Close()
	defer client.Close()
	defer context.AfterFunc(ctx, func() { client.Close() })()
	pouring.Go(func() { pour(server) })

	if _, _, err := drain(client, warmup); err != nil {
		return 0, err
	}
	rates := make([]float64, rateSlices)
	for i := range rates {
		n, elapsed, err := drain(client, bulk/rateSlices)
		if err != nil {
			return 0, err
		}
		rates[i] = float64(n) * 8 / 1e6 / elapsed.Seconds()
	}
	return median(rates), nil
}

// connect makes a TCP connection over the link and returns both ends.
func (l *Link) connect(ctx context.Context) (server, client net.Conn, err error) {
	var listener net.Listener
	err = l.server.Do(func() (err error) {
		listener, err = net.Listen("tcp4", netip.AddrPortFrom(ServerAddr, 0).String())
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	err = l.client.Do(func() (err error) {
		client, err = new(net.Dialer).DialContext(ctx, "tcp4", listener.Addr().String())
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if server, err = listener.Accept(); err != nil {
		client.Close()
		return nil, nil, err
	}
	return server, client, nil
}

// pour sends without end until the connection breaks.
func pour(conn net.Conn) {
	chunk := make([]byte, 64<<10)
	for {
		if _, err := conn.Write(chunk); err != nil {
			return
		}
	}
}

// median sorts the samples, an odd number, and returns the middle one.
func median[T cmp.Ordered](samples []T) T {
	slices.Sort(samples)
	return samples[len(samples)/2]
}

// drain reads for the given time and returns the bytes it got and the time from
// call to the last of them.
func drain(conn net.Conn, d time.Duration) (int64, time.Duration, error) {
	start := time.Now()
	if err := conn.SetReadDeadline(start.Add(d)); err != nil {
		return 0, 0, err
	}
	n, err := io.Copy(io.Discard, conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return n, time.Since(start), nil
	}
	return n, 0, fmt.Errorf("flow ended early: %w", errors.Join(err, io.ErrUnexpectedEOF))
}
