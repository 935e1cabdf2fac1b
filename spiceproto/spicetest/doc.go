// Package spicetest models what a SPICE proxy has on both sides, so that a
// paced display channel can be tried in virtual time: spice-server's sender
// with its pipe and its ACK window, QEMU's display that feeds it, a spice-gtk
// client, and the link between them. Only tests import it.
//
// There are two layers. Sender, Desktop, Client and View are state machines
// without clock or goroutine: a property test calls them in any order, many
// thousand schedules a second. Server, Player and Link run them on connections
// with the clock of package time, for testing/synctest; a Rig joins these:
//
//	synctest.Test(t, func(t *testing.T) {
//		r := spicetest.Start(t, spicetest.RigConfig{
//			Server: spicetest.ServerConfig{Columns: spicetest.Heavy(), FPS: 30},
//			Link:   spicetest.LinkConfig{Profile: spicetest.Profile{RTT: 80 * time.Millisecond, Rate: 10e6}},
//			Proxy:  relay, // func(ctx, client, server net.Conn) error
//		})
//		r.Advance(10 * time.Second)
//		r.Mark()
//		r.Press()
//		r.WantEcho(3 * time.Second)
//		fmt.Println(r.Report().Latencies, r.Report().Age.P95)
//	})
//
// The models know the facts of the real programs where a pacer could tell the
// difference: unsigned window arithmetic, a message counted before its first
// byte, a write watch dropped in the middle of a message, 51 items in the pipe,
// newer drawings that go to the end of it, batches that form only when the last
// one was fetched. They take no time to encode or draw, and there is one
// display channel, no cache, no stream and no second surface.
package spicetest
