package spiceproto

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

var agentDesktopCodecs = []agentCodec{
	agentCodecOf(AgentMouseStateType,
		AgentMouseState{X: 640, Y: 480, Buttons: 2, DisplayID: 1}, "80020000 e0010000 02000000 01"),
	agentCodecOf(AgentMonitorsConfigType,
		AgentMonitorsConfig{
			Flags:    AgentMonitorsUsePos,
			Monitors: []AgentMonitor{{480, 640, 32, 0, 0}, {480, 640, 32, -640, 1}},
		},
		`02000000 01000000 e0010000 80020000 20000000 00000000 00000000
		 e0010000 80020000 20000000 80fdffff 01000000`).drawn(func(t *rapid.T) message {
		m := rapid.Make[AgentMonitorsConfig]().Draw(t, "message")
		m.Flags &^= AgentMonitorsPhysicalSize
		m.PhysicalSizes = nil
		return m
	}),
	agentCodecOf(AgentMonitorsConfigType,
		AgentMonitorsConfig{
			Flags:         AgentMonitorsPhysicalSize,
			Monitors:      []AgentMonitor{{480, 640, 32, 0, 0}},
			PhysicalSizes: []AgentPhysicalSize{{Height: 300, Width: 400}},
		},
		`01000000 02000000 e0010000 80020000 20000000 00000000 00000000
		 2c01 9001`).drawn(func(t *rapid.T) message {
		m := rapid.Make[AgentMonitorsConfig]().Draw(t, "message")
		m.Flags |= AgentMonitorsPhysicalSize
		m.PhysicalSizes = make([]AgentPhysicalSize, len(m.Monitors))
		return m
	}),
	agentCodecOf(AgentReplyType,
		AgentReply{Type: AgentMonitorsConfigType, Error: 1}, "02000000 01000000"),
	agentCodecOf(AgentDisplayConfigType,
		AgentDisplayConfig{Flags: 9, Depth: 16}, "09000000 10000000"),
	agentCodecOf(AgentAnnounceCapabilitiesType,
		AgentAnnounceCapabilities{Request: 1, Caps: Caps{0xffff, 2}},
		"01000000 ffff0000 02000000").openAfter(4),
	agentCodecOf(AgentAudioVolumeSyncType,
		AgentAudioVolumeSync{IsPlayback: 1, Volume: []uint16{0xffff, 1}}, "01 00 02 ffff 0100"),
	agentCodecOf(AgentGraphicsDeviceInfoType,
		AgentGraphicsDeviceInfo{[]AgentDevice{
			{0, 1, 2, "pci/0\x00"}, {ChannelID: 1},
		}},
		`02000000 00000000 01000000 02000000 06000000 7063692f3000
		 01000000 00000000 00000000 00000000`),
	agentCodecOf(AgentClientDisconnectedType, AgentClientDisconnected{}, ""),
}

func TestAgentDesktop(t *testing.T) { testAgentCodecs(t, agentDesktopCodecs) }

// Monitors without the sizes that the flag promises are refused.
func TestAgentMonitorsConfigWithoutSizes(t *testing.T) {
	_, err := ParseAgentMonitorsConfig(fromHex(t,
		"01000000 02000000 e0010000 80020000 20000000 00000000 00000000 2c01"))
	var e *DecodeError
	if !errors.As(err, &e) || e.Err != ErrCount || e.Field != "monitors_config.physical_sizes" {
		t.Errorf("error %v", err)
	}
}
