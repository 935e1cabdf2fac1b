package spiceproto

import "strconv"

// SmartcardType is what a SmartcardData is about (VSCMsgType in libcacard's
// vscard_common.h).
type SmartcardType uint32

// The smartcard types.
const (
	SmartcardInit SmartcardType = 1 + iota
	SmartcardError
	SmartcardReaderAdd
	SmartcardReaderRemove
	SmartcardATR
	SmartcardCardRemove
	SmartcardAPDU
	SmartcardFlush
	SmartcardFlushComplete
)

var smartcardTypeNames = [...]string{
	SmartcardInit: "init", SmartcardError: "error", SmartcardReaderAdd: "reader-add",
	SmartcardReaderRemove: "reader-remove", SmartcardATR: "atr",
	SmartcardCardRemove: "card-remove", SmartcardAPDU: "apdu", SmartcardFlush: "flush",
	SmartcardFlushComplete: "flush-complete",
}

// String returns the type's name, or "smartcard-N" for a number that has none.
func (t SmartcardType) String() string {
	if t >= SmartcardInit && t <= SmartcardFlushComplete {
		return smartcardTypeNames[t]
	}
	return "smartcard-" + strconv.FormatUint(uint64(t), 10)
}

// SmartcardData is a message between the guest's reader and the client's card
// (MSG_SMARTCARD_DATA and MSGC_SMARTCARD_DATA, both 101): u32 type, u32
// reader_id, u32 length, the data.
type SmartcardData struct {
	Type     SmartcardType
	ReaderID uint32
	// Data is up to Type: the card's or the guest's bytes of an APDU, the card's
	// of an ATR, a name, a u32 code. It aliases the parsed body.
	Data []byte
}

// ParseSmartcardData decodes the body of MsgSmartcardData or MsgcSmartcardData.
// The error is a *DecodeError, which names the first of the two.
func ParseSmartcardData(b []byte) (SmartcardData, error) {
	d := body{b: b, channel: ChannelSmartcard, opcode: MsgSmartcardData}
	m := SmartcardData{Type: SmartcardType(d.u32("type")), ReaderID: d.u32("reader_id")}
	m.Data = d.counted("data", d.u32("length"))
	return m, d.err
}

// Append appends header and body to b, for either direction.
func (m SmartcardData) Append(b []byte) []byte {
	b = Header{MsgSmartcardData, uint32(12 + len(m.Data))}.Append(b)
	b = appendU32s(b, uint32(m.Type), m.ReaderID, uint32(len(m.Data)))
	return append(b, m.Data...)
}
