package spiceproto

// motionsPerAck is SPICE_INPUT_MOTION_ACK_BUNCH in spice/protocol.h.
const motionsPerAck = 4

// inputsRules follow the flow control of the mouse. Only the server is held to
// it: a client may send as many motions as it likes (inputs-channel-client.cpp).
type inputsRules struct {
	motions uint64 // not acknowledged yet
}

func (r *inputsRules) observe(m *Machine, msg *observed) {
	switch {
	case msg.dir == ClientToServer:
		if msg.Type == MsgcInputsMouseMotion || msg.Type == MsgcInputsMousePosition {
			r.motions++
		}
	case msg.Type == MsgInputsMouseMotionAck:
		switch {
		case r.motions >= motionsPerAck:
			r.motions -= motionsPerAck
		case !m.target:
			m.report(RuleMotionAck, r.motions, motionsPerAck)
		}
	}
}
