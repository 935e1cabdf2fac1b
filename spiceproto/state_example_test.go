package spiceproto_test

import (
	"fmt"

	"spicepacer/spiceproto"
)

// A client acknowledges messages that were not sent yet.
func ExampleMachine() {
	m := spiceproto.NewMachine(spiceproto.MachineConfig{Channel: spiceproto.ChannelCursor})
	m.LinkDone()
	m.TicketDone()
	show := func(d spiceproto.Direction, message []byte) {
		h, _ := spiceproto.ParseHeader(message)
		for _, f := range m.Observe(d, h, message[spiceproto.MiniHeaderSize:]) {
			fmt.Println(f.Severity, f.Rule, f.Got, f.Want)
		}
	}
	show(spiceproto.ServerToClient, spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
	show(spiceproto.ClientToServer, spiceproto.AckSync{Generation: 1}.Append(nil))
	show(spiceproto.ClientToServer, spiceproto.AppendAck(nil))
	fmt.Println(m.Phase())
	// Output:
	// violation ack-early 20 1
	// initialised
}
