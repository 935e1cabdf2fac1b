package spiceproto

// displayParser decodes the body of one type of message.
type displayParser func(b []byte) (any, error)

// parserOf hides the message type a parser returns. A message that could not be
// decoded whole is not returned at all.
func parserOf[M any](parse func([]byte) (M, error)) displayParser {
	return func(b []byte) (any, error) {
		m, err := parse(b)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

func emptyParser(op uint16) displayParser {
	return func([]byte) (any, error) { return Empty{op}, nil }
}

// displayParsers is indexed by Direction.
var displayParsers = [...]map[uint16]displayParser{
	ServerToClient: {
		MsgDisplayMode:                 parserOf(ParseDisplayMode),
		MsgDisplayMark:                 emptyParser(MsgDisplayMark),
		MsgDisplayReset:                emptyParser(MsgDisplayReset),
		MsgDisplayCopyBits:             parserOf(ParseCopyBits),
		MsgDisplayInvalList:            parserOf(ParseInvalList),
		MsgDisplayInvalAllPixmaps:      parserOf(ParseInvalAllPixmaps),
		MsgDisplayInvalPalette:         parserOf(ParseInvalPalette),
		MsgDisplayInvalAllPalettes:     emptyParser(MsgDisplayInvalAllPalettes),
		MsgDisplayStreamCreate:         parserOf(ParseStreamCreate),
		MsgDisplayStreamData:           parserOf(ParseStreamData),
		MsgDisplayStreamClip:           parserOf(ParseStreamClip),
		MsgDisplayStreamDestroy:        parserOf(ParseStreamDestroy),
		MsgDisplayStreamDestroyAll:     emptyParser(MsgDisplayStreamDestroyAll),
		MsgDisplayDrawFill:             parserOf(ParseDrawFill),
		MsgDisplayDrawOpaque:           parserOf(ParseDrawOpaque),
		MsgDisplayDrawCopy:             parserOf(ParseDrawCopy),
		MsgDisplayDrawBlend:            parserOf(ParseDrawBlend),
		MsgDisplayDrawBlackness:        parserOf(ParseDrawBlackness),
		MsgDisplayDrawWhiteness:        parserOf(ParseDrawWhiteness),
		MsgDisplayDrawInvers:           parserOf(ParseDrawInvers),
		MsgDisplayDrawROP3:             parserOf(ParseDrawROP3),
		MsgDisplayDrawStroke:           parserOf(ParseDrawStroke),
		MsgDisplayDrawText:             parserOf(ParseDrawText),
		MsgDisplayDrawTransparent:      parserOf(ParseDrawTransparent),
		MsgDisplayDrawAlphaBlend:       parserOf(ParseDrawAlphaBlend),
		MsgDisplaySurfaceCreate:        parserOf(ParseSurfaceCreate),
		MsgDisplaySurfaceDestroy:       parserOf(ParseSurfaceDestroy),
		MsgDisplayStreamDataSized:      parserOf(ParseStreamDataSized),
		MsgDisplayMonitorsConfig:       parserOf(ParseMonitorsConfig),
		MsgDisplayDrawComposite:        parserOf(ParseDrawComposite),
		MsgDisplayStreamActivateReport: parserOf(ParseStreamActivateReport),
		MsgDisplayGLScanoutUnix:        parserOf(ParseGLScanoutUnix),
		MsgDisplayGLDraw:               parserOf(ParseGLDraw),
		MsgDisplayQualityIndicator:     parserOf(ParseDisplayQualityIndicator),
		MsgDisplayGLScanout2Unix:       parserOf(ParseGLScanout2Unix),
	},
	ClientToServer: {
		MsgcDisplayInit:                    parserOf(ParseDisplayInit),
		MsgcDisplayStreamReport:            parserOf(ParseStreamReport),
		MsgcDisplayPreferredCompression:    parserOf(ParsePreferredCompression),
		MsgcDisplayGLDrawDone:              emptyParser(MsgcDisplayGLDrawDone),
		MsgcDisplayPreferredVideoCodecType: parserOf(ParsePreferredVideoCodecs),
	},
}

// decodeDisplay decodes the body of a message that is peculiar to display
// channels, those common to all channels excluded, and returns the message type
// of this package that belongs to the opcode, or Empty for the messages without
// a body. What it returns may alias b. The error is a *DecodeError.
func decodeDisplay(direction Direction, opcode uint16, b []byte) (any, error) {
	if int(direction) < len(displayParsers) {
		if parse, ok := displayParsers[direction][opcode]; ok {
			return parse(b)
		}
	}
	d := body{channel: ChannelDisplay, direction: direction, opcode: opcode}
	d.fail("type", 0, ErrOpcode)
	return nil, d.err
}
