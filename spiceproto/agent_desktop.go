package spiceproto

// AgentMouseState places the guest's pointer (VDAgentMouseState): u32 x, u32 y,
// u32 buttons, u8 display_id. Only the server sends it, to the agent.
type AgentMouseState struct {
	// X and Y are in pixels of the display.
	X, Y uint32
	// Buttons has bit n set while button n of MousePress is down.
	Buttons   uint32
	DisplayID uint8
}

// ParseAgentMouseState decodes the data of an AgentMouseStateType. The error is
// a *DecodeError.
func ParseAgentMouseState(b []byte) (AgentMouseState, error) {
	d := agentBody(ClientToServer, b)
	m := AgentMouseState{
		X: d.u32("mouse_state.x"), Y: d.u32("mouse_state.y"),
		Buttons: d.u32("mouse_state.buttons"), DisplayID: d.u8("mouse_state.display_id"),
	}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentMouseState) Append(b []byte) []byte {
	b = appendAgent(b, AgentMouseStateType, 13)
	return append(appendU32s(b, m.X, m.Y, m.Buttons), m.DisplayID)
}

// Flags of an AgentMonitorsConfig.
const (
	// AgentMonitorsUsePos: X and Y of the monitors mean something.
	AgentMonitorsUsePos = 1 << 0
	// AgentMonitorsPhysicalSize: the message ends with the PhysicalSizes.
	AgentMonitorsPhysicalSize = 1 << 1
)

// AgentMonitor is one entry of an AgentMonitorsConfig: u32 height, u32 width, u32
// depth, i32 x, i32 y. With neither height nor width the monitor is off.
type AgentMonitor struct {
	// Height and Width are in pixels.
	Height, Width uint32
	// Depth is in bits a pixel.
	Depth uint32
	X, Y  int32
}

const agentMonitorSize = 20

// AgentPhysicalSize is a monitor's size: u16 height, u16 width.
type AgentPhysicalSize struct {
	// Height and Width are in millimetres; 0 for unknown.
	Height, Width uint16
}

const agentPhysicalSizeSize = 4

// AgentMonitorsConfig asks the guest for a layout of monitors
// (VDAgentMonitorsConfig): u32 num_of_monitors, u32 flags, the monitors, then
// their sizes if flags have AgentMonitorsPhysicalSize.
type AgentMonitorsConfig struct {
	// Flags are the AgentMonitors… bits.
	Flags    uint32
	Monitors []AgentMonitor
	// PhysicalSizes are as many as Monitors, or none.
	PhysicalSizes []AgentPhysicalSize
}

// ParseAgentMonitorsConfig decodes the data of an AgentMonitorsConfigType. The
// error is a *DecodeError.
func ParseAgentMonitorsConfig(b []byte) (AgentMonitorsConfig, error) {
	d := agentBody(ClientToServer, b)
	announced := d.u32("monitors_config.num_of_monitors")
	m := AgentMonitorsConfig{Flags: d.u32("monitors_config.flags")}
	m.Monitors = make([]AgentMonitor,
		d.count("monitors_config.num_of_monitors", uint64(announced), agentMonitorSize))
	for i := range m.Monitors {
		m.Monitors[i] = AgentMonitor{
			Height: d.u32("monitors_config.height"), Width: d.u32("monitors_config.width"),
			Depth: d.u32("monitors_config.depth"),
			X:     d.i32("monitors_config.x"), Y: d.i32("monitors_config.y"),
		}
	}
	if m.Flags&AgentMonitorsPhysicalSize != 0 {
		m.PhysicalSizes = make([]AgentPhysicalSize,
			d.count("monitors_config.physical_sizes", uint64(announced), agentPhysicalSizeSize))
		for i := range m.PhysicalSizes {
			m.PhysicalSizes[i] = AgentPhysicalSize{
				Height: d.u16("monitors_config.height_mm"), Width: d.u16("monitors_config.width_mm"),
			}
		}
	}
	return m, d.err
}

// Append appends agent header and data to b. The monitors have PhysicalSizes
// exactly if Flags have AgentMonitorsPhysicalSize.
func (m AgentMonitorsConfig) Append(b []byte) []byte {
	size := 8 + agentMonitorSize*len(m.Monitors) + agentPhysicalSizeSize*len(m.PhysicalSizes)
	b = appendAgent(b, AgentMonitorsConfigType, size)
	b = appendU32s(b, uint32(len(m.Monitors)), m.Flags)
	for _, o := range m.Monitors {
		b = appendU32s(b, o.Height, o.Width, o.Depth, uint32(o.X), uint32(o.Y))
	}
	for _, s := range m.PhysicalSizes {
		b = appendU16s(b, []uint16{s.Height, s.Width})
	}
	return b
}

// AgentReply tells the outcome of a monitors or display config (VDAgentReply):
// u32 type, u32 error.
type AgentReply struct {
	// Type is the type of the message replied to.
	Type AgentType
	// Error: 1 success, 2 error.
	Error uint32
}

// ParseAgentReply decodes the data of an AgentReplyType. The error is a
// *DecodeError.
func ParseAgentReply(b []byte) (AgentReply, error) {
	d := agentBody(ServerToClient, b)
	m := AgentReply{Type: AgentType(d.u32("reply.type")), Error: d.u32("reply.error")}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentReply) Append(b []byte) []byte {
	return appendU32s(appendAgent(b, AgentReplyType, 8), uint32(m.Type), m.Error)
}

// AgentDisplayConfig asks the guest for a plainer desktop
// (VDAgentDisplayConfig): u32 flags, u32 depth.
type AgentDisplayConfig struct {
	// Flags: bit 0 no wallpaper, 1 no font smoothing, 2 no animation, 3 set Depth.
	Flags uint32
	// Depth is in bits a pixel.
	Depth uint32
}

// ParseAgentDisplayConfig decodes the data of an AgentDisplayConfigType. The
// error is a *DecodeError.
func ParseAgentDisplayConfig(b []byte) (AgentDisplayConfig, error) {
	d := agentBody(ClientToServer, b)
	m := AgentDisplayConfig{Flags: d.u32("display_config.flags"), Depth: d.u32("display_config.depth")}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentDisplayConfig) Append(b []byte) []byte {
	return appendU32s(appendAgent(b, AgentDisplayConfigType, 8), m.Flags, m.Depth)
}

// AgentAnnounceCapabilities tells what one end can do
// (VDAgentAnnounceCapabilities): u32 request, the words.
type AgentAnnounceCapabilities struct {
	// Request is 1 when the other end shall answer with its own.
	Request uint32
	// Caps are the CapAgent… bits.
	Caps Caps
}

// ParseAgentAnnounceCapabilities decodes the data of an
// AgentAnnounceCapabilitiesType. The error is a *DecodeError.
func ParseAgentAnnounceCapabilities(b []byte) (AgentAnnounceCapabilities, error) {
	d := agentBody(ClientToServer, b)
	m := AgentAnnounceCapabilities{Request: d.u32("announce_capabilities.request")}
	m.Caps = d.u32s("announce_capabilities.caps", uint32((len(b)-d.off)/4))
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentAnnounceCapabilities) Append(b []byte) []byte {
	b = appendAgent(b, AgentAnnounceCapabilitiesType, 4+4*len(m.Caps))
	return appendU32s(le.AppendUint32(b, m.Request), m.Caps...)
}

// AgentAudioVolumeSync sets the guest's volume (VDAgentAudioVolumeSync): u8
// is_playback, u8 mute, u8 nchannels, u16 of each channel.
type AgentAudioVolumeSync struct {
	// IsPlayback is 0 for recording.
	IsPlayback uint8
	// Mute is 0 for sound.
	Mute uint8
	// Volume is up to 65535, the loudest.
	Volume []uint16
}

// ParseAgentAudioVolumeSync decodes the data of an AgentAudioVolumeSyncType. The
// error is a *DecodeError.
func ParseAgentAudioVolumeSync(b []byte) (AgentAudioVolumeSync, error) {
	d := agentBody(ClientToServer, b)
	m := AgentAudioVolumeSync{
		IsPlayback: d.u8("audio_volume_sync.is_playback"), Mute: d.u8("audio_volume_sync.mute"),
		Volume: d.volume(),
	}
	return m, d.err
}

// Append appends agent header and data to b. It holds at most 255 channels.
func (m AgentAudioVolumeSync) Append(b []byte) []byte {
	b = appendAgent(b, AgentAudioVolumeSyncType, 3+2*len(m.Volume))
	return appendU16s(append(b, m.IsPlayback, m.Mute, uint8(len(m.Volume))), m.Volume)
}

// AgentDevice tells which of the guest's graphics devices a monitor belongs to:
// u32 channel_id, u32 monitor_id, u32 device_display_id, u32 device_address_len,
// the address.
type AgentDevice struct {
	ChannelID, MonitorID uint32
	DeviceDisplayID      uint32
	// Address is as it was sent: spice-server ends it with a NUL.
	Address string
}

const agentDeviceSize = 16

// AgentGraphicsDeviceInfo lists the monitors' devices
// (VDAgentGraphicsDeviceInfo): u32 count, the devices. Only the server sends it,
// to the agent.
type AgentGraphicsDeviceInfo struct{ Devices []AgentDevice }

// ParseAgentGraphicsDeviceInfo decodes the data of an
// AgentGraphicsDeviceInfoType. The error is a *DecodeError.
func ParseAgentGraphicsDeviceInfo(b []byte) (AgentGraphicsDeviceInfo, error) {
	d := agentBody(ClientToServer, b)
	n := d.count("graphics_device_info.count", uint64(d.u32("graphics_device_info.count")),
		agentDeviceSize)
	m := AgentGraphicsDeviceInfo{Devices: make([]AgentDevice, n)}
	for i := range m.Devices {
		o := AgentDevice{
			ChannelID:       d.u32("graphics_device_info.channel_id"),
			MonitorID:       d.u32("graphics_device_info.monitor_id"),
			DeviceDisplayID: d.u32("graphics_device_info.device_display_id"),
		}
		o.Address = string(d.counted("graphics_device_info.device_address",
			d.u32("graphics_device_info.device_address_len")))
		m.Devices[i] = o
	}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentGraphicsDeviceInfo) Append(b []byte) []byte {
	size := 4
	for _, o := range m.Devices {
		size += agentDeviceSize + len(o.Address)
	}
	b = appendAgent(b, AgentGraphicsDeviceInfoType, size)
	b = le.AppendUint32(b, uint32(len(m.Devices)))
	for _, o := range m.Devices {
		b = appendU32s(b, o.ChannelID, o.MonitorID, o.DeviceDisplayID, uint32(len(o.Address)))
		b = append(b, o.Address...)
	}
	return b
}

// AgentClientDisconnected tells the agent that its client has gone; it has no
// data. Only the server sends it, to the agent.
type AgentClientDisconnected struct{}

// Append appends the agent header to b.
func (m AgentClientDisconnected) Append(b []byte) []byte {
	return appendAgent(b, AgentClientDisconnectedType, 0)
}
