package spiceproto

// displayParser decodes the body of one type of message.
type displayParser func(b []byte) (any, error)

// displayParserOf hides the message type a parser returns. A message that could
// not be decoded whole is not returned at all.
func displayParserOf[M any](parse func([]byte) (M, error)) displayParser {
	return func(b []byte) (any, error) {
		m, err := parse(b)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

func emptyDisplayParser(op uint16) displayParser {
	return func([]byte) (any, error) { return Empty{op}, nil }
}

// displayParsers is indexed by Direction.
var displayParsers = [...]map[uint16]displayParser{
	ServerToClient: {
		MsgDisplayMode:                 displayParserOf(ParseDisplayMode),
		MsgDisplayMark:                 emptyDisplayParser(MsgDisplayMark),
		MsgDisplayReset:                emptyDisplayParser(MsgDisplayReset),
		MsgDisplayCopyBits:             displayParserOf(ParseCopyBits),
		MsgDisplayInvalList:            displayParserOf(ParseInvalList),
		MsgDisplayInvalAllPixmaps:      displayParserOf(ParseInvalAllPixmaps),
		MsgDisplayInvalPalette:         displayParserOf(ParseInvalPalette),
		MsgDisplayInvalAllPalettes:     emptyDisplayParser(MsgDisplayInvalAllPalettes),
		MsgDisplayStreamCreate:         displayParserOf(ParseStreamCreate),
		MsgDisplayStreamData:           displayParserOf(ParseStreamData),
		MsgDisplayStreamClip:           displayParserOf(ParseStreamClip),
		MsgDisplayStreamDestroy:        displayParserOf(ParseStreamDestroy),
		MsgDisplayStreamDestroyAll:     emptyDisplayParser(MsgDisplayStreamDestroyAll),
		MsgDisplayDrawFill:             displayParserOf(ParseDrawFill),
		MsgDisplayDrawOpaque:           displayParserOf(ParseDrawOpaque),
		MsgDisplayDrawCopy:             displayParserOf(ParseDrawCopy),
		MsgDisplayDrawBlend:            displayParserOf(ParseDrawBlend),
		MsgDisplayDrawBlackness:        displayParserOf(ParseDrawBlackness),
		MsgDisplayDrawWhiteness:        displayParserOf(ParseDrawWhiteness),
		MsgDisplayDrawInvers:           displayParserOf(ParseDrawInvers),
		MsgDisplayDrawROP3:             displayParserOf(ParseDrawROP3),
		MsgDisplayDrawStroke:           displayParserOf(ParseDrawStroke),
		MsgDisplayDrawText:             displayParserOf(ParseDrawText),
		MsgDisplayDrawTransparent:      displayParserOf(ParseDrawTransparent),
		MsgDisplayDrawAlphaBlend:       displayParserOf(ParseDrawAlphaBlend),
		MsgDisplaySurfaceCreate:        displayParserOf(ParseSurfaceCreate),
		MsgDisplaySurfaceDestroy:       displayParserOf(ParseSurfaceDestroy),
		MsgDisplayStreamDataSized:      displayParserOf(ParseStreamDataSized),
		MsgDisplayMonitorsConfig:       displayParserOf(ParseMonitorsConfig),
		MsgDisplayDrawComposite:        displayParserOf(ParseDrawComposite),
		MsgDisplayStreamActivateReport: displayParserOf(ParseStreamActivateReport),
		MsgDisplayGLScanoutUnix:        displayParserOf(ParseGLScanoutUnix),
		MsgDisplayGLDraw:               displayParserOf(ParseGLDraw),
		MsgDisplayQualityIndicator:     displayParserOf(ParseDisplayQualityIndicator),
		MsgDisplayGLScanout2Unix:       displayParserOf(ParseGLScanout2Unix),
	},
	ClientToServer: {
		MsgcDisplayInit:                    displayParserOf(ParseDisplayInit),
		MsgcDisplayStreamReport:            displayParserOf(ParseStreamReport),
		MsgcDisplayPreferredCompression:    displayParserOf(ParsePreferredCompression),
		MsgcDisplayGLDrawDone:              emptyDisplayParser(MsgcDisplayGLDrawDone),
		MsgcDisplayPreferredVideoCodecType: displayParserOf(ParsePreferredVideoCodecs),
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
