package dump

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// textPrinter writes a line for each record, times relative to the first.
func textPrinter(out io.Writer) Visit {
	var start time.Time
	var b strings.Builder
	return func(r *Record) error {
		if start.IsZero() {
			start = r.Time
		}
		b.Reset()
		fmt.Fprintf(&b, "%12.6f #%d %s %s", r.Time.Sub(start).Seconds(), r.Conn, channelName(r), r.Direction)
		switch r.Kind {
		case Notice:
			fmt.Fprintf(&b, " ! %s", r.Text)
		case Finding:
			fmt.Fprintf(&b, " ? %s", r.Text)
		case Event:
			fmt.Fprintf(&b, " * %s", r.Name)
		default:
			fmt.Fprintf(&b, " %s", messageName(r))
			pair(&b, "size", fmt.Sprint(r.Size))
		}
		if r.Full != nil {
			line(&b, "", reflect.ValueOf(*r.Full))
		}
		line(&b, "", reflect.ValueOf(r.Fields))
		if r.Err != nil {
			pair(&b, "error", text(r.Err.Error()))
		}
		b.WriteByte('\n')
		_, err := io.WriteString(out, b.String())
		return err
	}
}

// channelName is "display:0", or "-" before the link message.
func channelName(r *Record) string {
	if r.Channel == 0 {
		return "-"
	}
	return fmt.Sprintf("%v:%d", r.Channel, r.ID)
}

// messageName is the name, or the number of a message that has none.
func messageName(r *Record) string {
	if r.Kind == Message && r.Name == unknownName {
		return fmt.Sprintf("%s-%d", unknownName, r.Opcode)
	}
	return r.Name
}

// jsonRecord is a record as --json prints it. Times are in UTC.
type jsonRecord struct {
	Kind      string  `json:"kind"`
	Time      string  `json:"time,omitempty"`
	Conn      int     `json:"conn"`
	Packet    int     `json:"packet,omitempty"`
	Channel   string  `json:"channel,omitempty"`
	ID        *uint8  `json:"id,omitempty"`
	Direction string  `json:"direction,omitempty"`
	Opcode    *uint16 `json:"opcode,omitempty"`
	Name      string  `json:"name,omitempty"`
	Size      *int    `json:"size,omitempty"`
	Serial    *uint64 `json:"serial,omitempty"`
	SubList   *uint32 `json:"sub_list,omitempty"`
	Fields    any     `json:"fields,omitempty"`
	Text      string  `json:"text,omitempty"`
	Error     string  `json:"error,omitempty"`
}

// jsonPrinter writes an object on a line for each record.
func jsonPrinter(out io.Writer) Visit {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return func(r *Record) error { return encoder.Encode(asJSON(r)) }
}

func asJSON(r *Record) jsonRecord {
	j := jsonRecord{
		Kind: r.Kind.String(), Conn: r.Conn, Packet: r.Packet, Direction: r.Direction.String(),
		Name: r.Name, Text: r.Text, Fields: tree(reflect.ValueOf(r.Fields)),
	}
	if !r.Time.IsZero() {
		j.Time = r.Time.UTC().Format(time.RFC3339Nano)
	}
	if r.Channel != 0 {
		j.Channel, j.ID = r.Channel.String(), &r.ID
	}
	if r.Kind == Message || r.Kind == Link {
		j.Size = &r.Size
	}
	if r.Kind == Message {
		j.Opcode = &r.Opcode
	}
	if r.Full != nil {
		j.Serial, j.SubList = &r.Full.Serial, &r.Full.SubList
	}
	if r.Err != nil {
		j.Error = r.Err.Error()
	}
	return j
}
