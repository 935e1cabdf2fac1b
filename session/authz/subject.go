package authz

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Subject is a certificate subject to compare with, in the form and with the
// rules of spice-common's ssl_verify.c. The zero value matches any certificate.
type Subject struct{ attributes []attribute }

type attribute struct {
	oid   string
	value string // normalised
	text  string // as a certificate has it
}

// subjectKeys are the keys a pin may use, case-sensitive.
var subjectKeys = map[string]string{
	"C":            "2.5.4.6",
	"ST":           "2.5.4.8",
	"L":            "2.5.4.7",
	"O":            "2.5.4.10",
	"OU":           "2.5.4.11",
	"CN":           "2.5.4.3",
	"DC":           "0.9.2342.19200300.100.1.25",
	"emailAddress": "1.2.840.113549.1.9.1",
}

// ParseSubject reads comma-separated key=value pairs such as "O=Lab,CN=hv1".
// Backslash escapes a comma or a backslash and nothing else; spaces before a
// key and one comma at the end are ignored. The empty string gives the zero
// Subject.
func ParseSubject(s string) (Subject, error) {
	var subject Subject
	for rest := s; rest != ""; {
		pair, after, err := cutPair(rest)
		if err != nil {
			return Subject{}, fmt.Errorf("host_subject %q: %w", s, err)
		}
		a, err := parsePair(pair)
		if err != nil {
			return Subject{}, fmt.Errorf("host_subject %q: %w", s, err)
		}
		subject.attributes = append(subject.attributes, a)
		rest = after
	}
	return subject, nil
}

// cutPair splits off the text before the first unescaped comma and resolves its
// escapes.
func cutPair(s string) (pair, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',':
			return b.String(), s[i+1:], nil
		case '\\':
			i++
			if i == len(s) || (s[i] != ',' && s[i] != '\\') {
				return "", "", errors.New("backslash escapes only comma and backslash")
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), "", nil
}

func parsePair(pair string) (attribute, error) {
	key, value, ok := strings.Cut(strings.TrimLeft(pair, " "), "=")
	if !ok {
		return attribute{}, fmt.Errorf("no = in %q", pair)
	}
	oid, ok := subjectKeys[key]
	if !ok {
		return attribute{}, fmt.Errorf("unknown key %q", key)
	}
	if value = normalise(value); value == "" {
		return attribute{}, fmt.Errorf("empty value for %s", key)
	}
	return attribute{oid: oid, value: value}, nil
}

// normalise makes values comparable: outer space trimmed, inner runs of ASCII
// space made one, ASCII letters lowered.
func normalise(s string) string {
	s = strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) })
	return strings.Join(words, " ")
}

// IsZero tells that no subject is pinned.
func (s Subject) IsZero() bool { return len(s.attributes) == 0 }

// Matches tells whether cert's subject has the same attributes in the same
// order. RDNs of several values count in the order they are encoded; a value in
// a string type other than UTF8, printable, IA5 or numeric never matches.
func (s Subject) Matches(cert *x509.Certificate) bool { return s.Mismatch(cert) == "" }

// Mismatch tells the first attribute in which cert's subject is another, values
// as they are compared; empty when it matches.
func (s Subject) Mismatch(cert *x509.Certificate) string {
	if s.IsZero() {
		return ""
	}
	attributes, err := subjectOf(cert)
	if err != nil {
		return err.Error()
	}
	for i, want := range s.attributes {
		if i == len(attributes) {
			return fmt.Sprintf("%s is missing", want.key())
		}
		got := attributes[i]
		if got.oid != want.oid {
			return fmt.Sprintf("attribute %d is %s, pinned is %s", i+1, got.key(), want.key())
		}
		if got.value != want.value {
			return fmt.Sprintf("%s is %q, pinned is %q", want.key(), got.value, want.value)
		}
	}
	if len(attributes) > len(s.attributes) {
		return fmt.Sprintf("%s is not pinned", attributes[len(s.attributes)].key())
	}
	return ""
}

// key is the attribute's name, or its number if pins have no name for it.
func (a attribute) key() string {
	for key, oid := range subjectKeys {
		if oid == a.oid {
			return key
		}
	}
	return a.oid
}

// SubjectText returns cert's subject in the order of its encoding, in the form
// that ParseSubject reads: what a pin for this certificate would be. Attributes
// that no pin can have show as their object identifier.
func SubjectText(cert *x509.Certificate) string {
	attributes, err := subjectOf(cert)
	if err != nil {
		return cert.Subject.String()
	}
	escape := strings.NewReplacer(`\`, `\\`, `,`, `\,`)
	texts := make([]string, len(attributes))
	for i, a := range attributes {
		texts[i] = a.key() + "=" + escape.Replace(a.text)
	}
	return strings.Join(texts, ",")
}

// rdnSET is one relative distinguished name; encoding/asn1 takes the SET in the
// name as the ASN.1 type.
type rdnSET []struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

func subjectOf(cert *x509.Certificate) ([]attribute, error) {
	var names []rdnSET
	if _, err := asn1.Unmarshal(cert.RawSubject, &names); err != nil {
		return nil, fmt.Errorf("certificate subject: %w", err)
	}
	var attributes []attribute
	for _, rdn := range names {
		for _, a := range rdn {
			text, err := directoryString(a.Value)
			if err != nil {
				return nil, err
			}
			attributes = append(attributes, attribute{oid: a.Type.String(), value: normalise(text), text: text})
		}
	}
	return attributes, nil
}

func directoryString(v asn1.RawValue) (string, error) {
	switch v.Tag {
	case asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String, asn1.TagNumericString:
		if v.Class == asn1.ClassUniversal && utf8.Valid(v.Bytes) {
			return string(v.Bytes), nil
		}
	}
	return "", fmt.Errorf("certificate subject: string type %d not supported", v.Tag)
}
