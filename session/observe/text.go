package observe

import (
	"bytes"
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// contentType is that of Prometheus's text format, as Kerbside's proxy says it.
const contentType = "text/plain; version=0.0.4"

// maxInteger is up to where a float64 holds every whole number.
const maxInteger = 1 << 53

// page encodes all metrics as text. Whole numbers are written without an
// exponent: Kerbside's tools read counters as integers.
func page(g prometheus.Gatherer) ([]byte, error) {
	families, err := g.Gather()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	for line := range bytes.Lines(text.Bytes()) {
		out.Write(plainNumber(line))
	}
	return out.Bytes(), nil
}

// plainNumber rewrites the value at the end of a sample's line, if it is whole.
func plainNumber(line []byte) []byte {
	space := bytes.LastIndexByte(line, ' ')
	if line[0] == '#' || space < 0 {
		return line
	}
	value, err := strconv.ParseFloat(string(bytes.TrimSpace(line[space:])), 64)
	if err != nil || value != math.Trunc(value) || math.Abs(value) > maxInteger {
		return line
	}
	return append(strconv.AppendInt(line[:space+1:space+1], int64(value), 10), '\n')
}
