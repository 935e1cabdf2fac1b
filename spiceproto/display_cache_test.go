package spiceproto

import "testing"

var cacheCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayInvalList, ParseInvalList,
		InvalList{[]Resource{{ResourcePixmap, 0x1122334455667788}, {2, 3}}},
		"6900 14000000 0200 01 8877665544332211 02 0300000000000000"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayInvalAllPixmaps, ParseInvalAllPixmaps,
		InvalAllPixmaps{[]ChannelWait{{ChannelDisplay, 1, 0x1122334455667788}}},
		"6a00 0b000000 01 02 01 8877665544332211"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayInvalPalette, ParseInvalPalette,
		InvalPalette{0x1122334455667788}, "6b00 08000000 8877665544332211"),
}

func TestDisplayCacheMessages(t *testing.T) { testCodecs(t, cacheCodecs) }
