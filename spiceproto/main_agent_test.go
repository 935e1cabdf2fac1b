package spiceproto

import "testing"

var mainAgentCodecs = []codec{
	codecOf(ChannelMain, ServerToClient, MsgMainAgentConnectedTokens, ParseAgentConnectedTokens,
		AgentConnectedTokens{Tokens: 10}, "7300 04000000 0a000000"),
	codecOf(ChannelMain, ServerToClient, MsgMainAgentDisconnected, ParseAgentDisconnected,
		AgentDisconnected{Reason: LinkErrError}, "6c00 04000000 01000000"),
	codecOf(ChannelMain, ServerToClient, MsgMainAgentData, ParseAgentData,
		AgentData{Data: []byte{1, 0, 0}}, "6d00 03000000 010000").openAfter(0),
	codecOf(ChannelMain, ServerToClient, MsgMainAgentToken, ParseAgentToken,
		AgentToken{Tokens: 5}, "6e00 04000000 05000000"),
	codecOf(ChannelMain, ClientToServer, MsgcMainAgentStart, ParseAgentStart,
		AgentStart{Tokens: 0xffffffff}, "6a00 04000000 ffffffff"),
	codecOf(ChannelMain, ClientToServer, MsgcMainAgentData, ParseClientAgentData,
		ClientAgentData{Data: []byte{1, 0, 0}}, "6b00 03000000 010000").openAfter(0),
	codecOf(ChannelMain, ClientToServer, MsgcMainAgentToken, ParseClientAgentToken,
		ClientAgentToken{Tokens: 1}, "6c00 04000000 01000000"),
}

func TestMainAgentMessages(t *testing.T) { testCodecs(t, mainAgentCodecs) }
