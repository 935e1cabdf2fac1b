package spiceproto

import "testing"

func TestDecodeErrorText(t *testing.T) {
	for _, c := range []struct {
		err  DecodeError
		want string
	}{
		{
			DecodeError{ChannelDisplay, ServerToClient, MsgDisplayDrawCopy, "src_bitmap", 21, ErrPointer},
			"decode display s2c DRAW_COPY (304): src_bitmap at offset 21: pointer outside the body",
		},
		{
			DecodeError{0, ClientToServer, MsgcAckSync, "generation", 0, ErrTruncated},
			"decode common c2s ACK_SYNC (1): generation at offset 0: body ends before the field",
		},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
