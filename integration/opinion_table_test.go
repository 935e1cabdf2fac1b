package integration

import (
	"fmt"
	"slices"

	"spicepacer/cmd/spicebench/dump"
	"spicepacer/spiceproto"
)

// opinion says which of our values a field of tshark's should show.
type opinion struct {
	field string
	// path is where to find the value, the first that exists of several: a path of
	// decoded fields, or an offset in the body. If there is none, anything will do.
	path string
	// known names a disagreement of docs/second-opinion.md; path is then what
	// tshark really shows.
	known string
	// when tells for which messages the field is there; nil: for all.
	when func(*dump.Record) bool
}

// Known disagreements; docs/second-opinion.md tells of each who is right and why.
const (
	rectOrder      = "rect-order"
	lzDictionary   = "lz-dictionary"
	portName       = "port-name"
	bodyNotSkipped = "body-not-skipped"
	mouseButton    = "mouse-button"
	agentChunks    = "agent-chunks"
	sessionOrder   = "session-id-order"
)

// rect is a rectangle. Tshark takes its four numbers, which are top, left, bottom
// and right, for left, top, right and bottom.
func rect(path, top, left, bottom, right string) []opinion {
	return []opinion{
		{"spice.rect.left", path + ".top|" + top, rectOrder, nil},
		{"spice.rect.top", path + ".left|" + left, rectOrder, nil},
		{"spice.rect.right", path + ".bottom|" + bottom, rectOrder, nil},
		{"spice.rect.bottom", path + ".right|" + right, rectOrder, nil},
	}
}

// plain pairs fields with paths.
func plain(pairs ...string) (list []opinion) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, opinion{field: pair[0], path: pair[1]})
	}
	return list
}

// ofImage holds for draws of a source image of a type.
func ofImage(t spiceproto.ImageType) func(*dump.Record) bool {
	return func(r *dump.Record) bool {
		h, err := spiceproto.ParseDrawHead(r.Opcode, uint32(r.Size), r.Body)
		return err == nil && h.ImageKnown && h.Image.Type == t
	}
}

var (
	isQUIC, isLZ, isGLZ = ofImage(spiceproto.ImageQUIC), ofImage(spiceproto.ImageLZRGB), ofImage(spiceproto.ImageGLZRGB)

	isAnyLZ = func(r *dump.Record) bool { return isLZ(r) || isGLZ(r) }
)

// clipRects are the rectangles of a clip whose type is at an offset of the body; only
// one type has any.
func clipRects(at int) (list []opinion) {
	each := func(within int) string { return fmt.Sprintf("each@%d+%d", at+1, within) }
	rects := append(plain("spice.rectlist_size", fmt.Sprintf("u32@%d", at+1)),
		rect("clip.rects", each(0), each(4), each(8), each(12))...)
	for _, o := range rects {
		o.when = func(r *dump.Record) bool { return len(r.Body) > at && r.Body[at] == byte(spiceproto.ClipRects) }
		list = append(list, o)
	}
	return list
}

// drawBase begins every draw.
var drawBase = slices.Concat(
	plain("spice.surface_id", "surface|u32@0"),
	rect("box", "u32@4", "u32@8", "u32@12", "u32@16"),
	plain("spice.clip_type", "clip.type|clip|u8@20"),
	clipRects(20),
)

// drawCopy is a draw of an image; the offsets are those without clip rectangles.
var drawCopy = slices.Concat(drawBase,
	plain("spice.ref_image", "d32@21"),
	rect("src_area", "d32@25", "d32@29", "d32@33", "d32@37"),
	plain(
		"spice.display_rop_descriptor", "rop|d16@41", "spice.scale_mode", "scale|d8@43",
		"spice.mask_flag", "mask.flags|d8@44", "spice.point32.x", "mask.pos.x|d32@45", "spice.point32.y", "mask.pos.y|d32@49",
		"spice.ref_image", "d32@53",
		"spice.image_id", "src.id|image.id", "spice.image_type", "src.type|image.type",
		"spice.image_flags", "src.flags|image.flags",
		"spice.image_width", "src.width|image.width", "spice.image_height", "src.height|image.height",
	),
	[]opinion{
		{"spice.quic_image_size", "d32@75", "", isQUIC},
		{"spice.quic_width", "src.width|image.width", "", isQUIC},
		{"spice.quic_height", "src.height|image.height", "", isQUIC},
		{"spice.lz_rgb_image_size", "d32@75", "", isLZ},
		{"spice.glz_rgb_image_size", "d32@75", "", isGLZ},
		{"spice.LZ_width", "src.width|image.width", "", isAnyLZ},
		{"spice.LZ_height", "src.height|image.height", "", isAnyLZ},
		{"spice.LZ_RGB_dict_id", "none", "", isGLZ},
		{"spice.LZ_RGB_dict_id", "none", lzDictionary, isLZ},
	},
)

// cursorShape is a cursor behind its flags, unless these say that there is none.
func cursorShape(flags int) []opinion {
	has := func(r *dump.Record) bool { return len(r.Body) > flags && r.Body[flags]&1 == 0 }
	at := func(bits, offset int) string { return fmt.Sprintf("u%d@%d", bits, flags+2+offset) }
	return []opinion{
		{"spice.cursor_unique", at(64, 0), "", has},
		{"spice.cursor_type", at(8, 8), "", has},
		{"spice.cursor_width", at(16, 9), "", has},
		{"spice.cursor_height", at(16, 11), "", has},
		{"spice.cursor_hotspot_x", at(16, 13), "", has},
		{"spice.cursor_hotspot_y", at(16, 15), "", has},
	}
}

// agentData is a chunk of an agent message. Tshark takes each for a message of its
// own and reads the header of one that goes on in the middle of its data.
var agentData = func() (list []opinion) {
	begins := func(r *dump.Record) bool { return len(r.Body) >= 20 && r.Body[0] == 1 && r.Body[1] == 0 }
	for _, part := range []struct {
		known string
		when  func(*dump.Record) bool
	}{
		{"", begins},
		{agentChunks, func(r *dump.Record) bool { return !begins(r) }},
	} {
		list = append(list,
			opinion{"spice.main_agent_protocol", "u32@0", part.known, part.when},
			opinion{"spice.agent_message_type", "u32@4", part.known, part.when},
			opinion{"spice.main_agent_opaque", "u64@8", part.known, part.when},
			opinion{"spice.main_agent_size", "u32@16", part.known, part.when})
	}
	return list
}()

// mousePress is a button and what is pressed then. Tshark takes its u8 and u16 for a
// u16 and a u8.
var mousePress = []opinion{
	{"spice.button_state", "u16@0", mouseButton, nil},
	{"spice.mouse_display_id", "u8@2", mouseButton, nil},
}

// strays are the messages behind which tshark goes astray: it does not skip their
// bodies, but looks for the next header there.
var strays = []string{"display c2s STREAM_REPORT", "inputs c2s KEY_SCANCODE"}

// opinions are held on these messages; "*" stands for all channels.
var opinions = map[string][]opinion{
	"* s2c SET_ACK": plain(
		"spice.red_set_ack_generation", "generation", "spice.red_set_ack_window", "window"),
	"* s2c PING": plain("spice.ping_id", "id", "spice.timestamp", "timestamp"),
	"* s2c NOTIFY": plain(
		"spice.timestamp", "timestamp|time_stamp|u64@0", "spice.notify_severity", "severity|u32@8",
		"spice.notify_visibility", "visibility|u32@12", "spice.notify_code", "what|u32@16",
		"spice.notify_message_length", "u32@20"),
	"* c2s ACK_SYNC": plain("spice.red_set_ack_generation", "generation"),
	"* c2s ACK":      nil,
	"* c2s PONG":     plain("spice.ping_id", "id", "spice.timestamp", "timestamp"),

	"main s2c INIT": append(plain(
		"spice.display_channels_hint", "display_channels_hint",
		"spice.supported_mouse_modes", "supported_mouse_modes", "spice.current_mouse_mode", "current_mouse_mode",
		"spice.agent", "agent_connected", "spice.agent_tokens", "agent_tokens",
		"spice.multimedia_time", "multi_media_time", "spice.ram_hint", "ram_hint"),
		opinion{"spice.main_session_id", "swapped@0", sessionOrder, nil}),
	"main s2c NAME": plain("spice.main_name_length", "u32@0"),
	"main s2c UUID": nil,
	"main s2c CHANNELS_LIST": plain("spice.main_num_channels", "u32@0",
		"spice.channel_type", "channels.type", "spice.channel_id", "channels.id"),
	"main s2c MOUSE_MODE": plain(
		"spice.supported_mouse_modes_flags", "supported|u16@0", "spice.current_mouse_mode_flags", "current|u16@2"),
	"main s2c MULTI_MEDIA_TIME":   plain("spice.multimedia_time", "time|multi_media_time|u32@0"),
	"main c2s ATTACH_CHANNELS":    nil,
	"main c2s MOUSE_MODE_REQUEST": plain("spice.current_mouse_mode_flags", "mode|u16@0"),
	"main c2s AGENT_START":        plain("spice.main_agent_tokens", "tokens|num_tokens|u32@0"),

	"main s2c AGENT_DATA": agentData,
	"main c2s AGENT_DATA": agentData,

	"display c2s STREAM_REPORT": nil,
	"display c2s INIT": plain(
		"spice.display_init_cache_id", "pixmap_cache_id", "spice.display_init_cache_size", "pixmap_cache_size",
		"spice.display_init_glz_dict_id", "glz_dictionary_id",
		"spice.display_init_dict_window_size", "glz_window_size"),
	"display s2c MARK":               nil,
	"display s2c INVAL_ALL_PALETTES": nil,
	"display s2c SURFACE_CREATE": plain(
		"spice.surface_id", "id", "spice.surface_width", "width", "spice.surface_height", "height",
		"spice.surface_format", "format", "spice.surface_flags", "flags"),
	"display s2c SURFACE_DESTROY": plain("spice.surface_id", "id|u32@0"),
	"display s2c MONITORS_CONFIG": plain(
		"spice.monitor_config_count", "u16@0", "spice.monitor_config_max_allowed", "max_allowed",
		"spice.display_head_id", "monitors.id", "spice.display_head_surface_id", "monitors.surface_id",
		"spice.display_head_width", "monitors.width", "spice.display_head_height", "monitors.height",
		"spice.display_head_x", "monitors.x", "spice.display_head_y", "monitors.y",
		"spice.display_head_flags", "monitors.flags"),
	"display s2c DRAW_COPY": drawCopy,
	"display s2c STREAM_CREATE": slices.Concat(
		plain("spice.surface_id", "surface_id|u32@0", "spice.display_stream_id", "id|u32@4",
			"spice.display_stream_flags", "flags|u8@8", "spice.display_stream_codec_type", "codec|u8@9",
			"spice.display_stream_stamp", "stamp|u64@10", "spice.stream_width", "stream_width|u32@18",
			"spice.stream_height", "stream_height|u32@22", "spice.stream_src_width", "src_width|u32@26",
			"spice.stream_src_height", "src_height|u32@30"),
		rect("dest", "u32@34", "u32@38", "u32@42", "u32@46"),
		plain("spice.clip_type", "clip.type|u8@50"), clipRects(50)),
	"display s2c STREAM_DATA": plain("spice.display_stream_id", "id|u32@0",
		"spice.multimedia_time", "multi_media_time|u32@4", "spice.display_stream_data_size", "u32@8"),
	"display s2c STREAM_CLIP": append(plain("spice.display_stream_id", "id|u32@0", "spice.clip_type", "clip.type|u8@4"),
		clipRects(4)...),
	"display s2c STREAM_DESTROY": plain("spice.display_stream_id", "id|u32@0"),
	"display s2c STREAM_ACTIVATE_REPORT": plain("spice.display_stream_id", "stream_id|u32@0",
		"spice.display_stream_report_unique_id", "unique_id|u32@4",
		"spice.display_stream_report_max_window_size", "max_window|u32@8",
		"spice.display_stream_report_timeout", "u32@12"),

	"inputs s2c INIT":          plain("spice.keyboard_modifiers", "modifiers"),
	"inputs s2c KEY_MODIFIERS": plain("spice.keyboard_modifiers", "modifiers|u16@0"),
	"inputs c2s KEY_MODIFIERS": plain("spice.keyboard_modifiers", "modifiers|u16@0"),
	"inputs c2s KEY_SCANCODE":  nil,
	"inputs c2s MOUSE_MOTION": plain("spice.point32.x", "dx|u32@0", "spice.point32.y", "dy|u32@4",
		"spice.button_state", "buttons|u16@8"),
	"inputs c2s MOUSE_POSITION": plain("spice.point32.x", "x|u32@0", "spice.point32.y", "y|u32@4",
		"spice.button_state", "buttons|u16@8", "spice.mouse_display_id", "display_id|u8@10"),
	"inputs c2s MOUSE_PRESS":      mousePress,
	"inputs c2s MOUSE_RELEASE":    mousePress,
	"inputs c2s KEY_DOWN":         plain("spice.keyboard_key_code", "scancode"),
	"inputs c2s KEY_UP":           plain("spice.keyboard_key_code", "scancode"),
	"inputs s2c MOUSE_MOTION_ACK": nil,

	"cursor s2c INIT": append(plain(
		"spice.point16.x", "pos.x|u16@0", "spice.point16.y", "pos.y|u16@2",
		"spice.cursor_trail_len", "trail_length|u16@4", "spice.cursor_trail_freq", "trail_frequency|u16@6",
		"spice.cursor_trail_visible", "visible|u8@8", "spice.cursor_flags", "cursor.flags|u16@9"),
		cursorShape(9)...),
	"cursor s2c SET": append(plain("spice.point16.x", "pos.x|u16@0", "spice.point16.y", "pos.y|u16@2",
		"spice.cursor_flags", "cursor.flags|u16@5"), cursorShape(5)...),
	"cursor s2c MOVE": plain("spice.point16.x", "pos.x|u16@0", "spice.point16.y", "pos.y|u16@2"),
	"cursor s2c HIDE": nil,

	"playback s2c START": plain("spice.audio_channels", "channels|u32@0", "spice.audio_format", "format|u16@4",
		"spice.audio_frequency", "frequency|u32@6", "spice.audio_timestamp", "time|u32@10"),
	"playback s2c DATA":    plain("spice.audio_timestamp", "time|u32@0"),
	"playback s2c MODE":    plain("spice.audio_timestamp", "time|u32@0", "spice.audio_mode", "mode|u16@4"),
	"playback s2c STOP":    nil,
	"playback s2c LATENCY": plain("spice.audio_latency", "latency|u32@0"),

	"usbredir s2c DATA": nil,
	"usbredir c2s DATA": nil,
	"port s2c INIT": {
		{"spice.name_length", "u32@0", "", nil},
		{"spice.port_opened", "none", portName, nil},
	},
}

// opinionFields are the fields of all opinions.
func opinionFields() (fields []string) {
	for _, held := range opinions {
		for _, o := range held {
			fields = append(fields, o.field)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}
