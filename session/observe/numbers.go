package observe

import (
	"bytes"
	"net/http"
	"strconv"
)

// plainNumbers rewrites a page's whole numbers without exponent: Kerbside's
// tools parse them as integers.
func plainNumbers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := &textPage{ResponseWriter: w}
		r = r.Clone(r.Context())
		r.Header.Del("Accept") // another format has no lines to rewrite
		next.ServeHTTP(page, r)
		w.Write(withoutExponents(page.text.Bytes()))
	})
}

// textPage keeps what is written until it is complete.
type textPage struct {
	http.ResponseWriter
	text bytes.Buffer
}

// Write implements http.ResponseWriter.
func (p *textPage) Write(b []byte) (int, error) { return p.text.Write(b) }

// withoutExponents rewrites the last word of each line that is a whole number.
func withoutExponents(page []byte) []byte {
	out := make([]byte, 0, len(page))
	for line := range bytes.Lines(page) {
		at := bytes.LastIndexByte(line, ' ') + 1
		value := string(bytes.TrimSuffix(line[at:], []byte("\n")))
		if n, ok := wholeNumber(value); ok && line[0] != '#' {
			out = append(strconv.AppendInt(append(out, line[:at]...), n, 10), '\n')
			continue
		}
		out = append(out, line...)
	}
	return out
}

// wholeNumber returns the value of a float that is whole, and exact: below 2^53.
func wholeNumber(text string) (int64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f >= 1<<53 || f <= -1<<53 || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}
