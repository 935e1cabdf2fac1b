package authz

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
)

type value struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

func text(oid asn1.ObjectIdentifier, tag int, s string) value {
	return value{oid, asn1.RawValue{Tag: tag, Bytes: []byte(s)}}
}

var (
	oidC  = asn1.ObjectIdentifier{2, 5, 4, 6}
	oidO  = asn1.ObjectIdentifier{2, 5, 4, 10}
	oidCN = asn1.ObjectIdentifier{2, 5, 4, 3}
)

type valueSET []value

// certificate makes a self-signed one with the given RDNs as its subject.
func certificate(t *testing.T, rdns ...valueSET) *x509.Certificate {
	t.Helper()
	subject, err := asn1.Marshal(rdns)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), RawSubject: subject}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestSubjectMatches(t *testing.T) {
	cert := certificate(t,
		valueSET{text(oidC, asn1.TagPrintableString, "IL")},
		valueSET{text(oidO, asn1.TagUTF8String, " Red  Hat,\tInc. ")},
		valueSET{text(oidCN, asn1.TagUTF8String, "Kraków-1")},
	)
	for pin, want := range map[string]bool{
		``:                                     true,
		`C=IL,O=Red Hat\, Inc.,CN=Kraków-1`:    true,
		`C=IL, O=Red Hat\, Inc., CN=Kraków-1,`: true,
		`C=il,O=  RED   hat\,  INC. ,CN=kraków-1`: true,
		`C=IL,O=Red Hat\, Inc.,CN=KRAKÓW-1`:       false, // only ASCII letters fold
		`C=IL,O=RedHat\, Inc.,CN=Kraków-1`:        false,
		`O=Red Hat\, Inc.,C=IL,CN=Kraków-1`:       false,
		`C=IL,O=Red Hat\, Inc.`:                   false,
		`C=IL,O=Red Hat\, Inc.,CN=Kraków-1,L=x`:   false,
		`C=IL,OU=Red Hat\, Inc.,CN=Kraków-1`:      false,
	} {
		s, err := ParseSubject(pin)
		if err != nil {
			t.Errorf("%s: %v", pin, err)
		} else if got := s.Matches(cert); got != want {
			t.Errorf("%s: match = %v, want %v", pin, got, want)
		}
	}
}

func TestMismatchNamesTheAttribute(t *testing.T) {
	cert := certificate(t,
		valueSET{text(oidC, asn1.TagPrintableString, "IL")},
		valueSET{text(oidCN, asn1.TagUTF8String, "HV 1")},
	)
	for pin, want := range map[string]string{
		"":                  "",
		"C=il,CN=hv 1":      "",
		"C=US,CN=hv 1":      `C is "il", pinned is "us"`,
		"C=IL,CN=hv 2":      `CN is "hv 1", pinned is "hv 2"`,
		"CN=hv 1,C=IL":      "attribute 1 is C, pinned is CN",
		"C=IL":              "CN is not pinned",
		"C=IL,CN=hv 1,OU=x": "OU is missing",
	} {
		s, err := ParseSubject(pin)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Mismatch(cert); got != want {
			t.Errorf("%q: %q, want %q", pin, got, want)
		}
	}
	unnamed := certificate(t, valueSET{text(asn1.ObjectIdentifier{2, 5, 4, 5}, asn1.TagPrintableString, "7")})
	s, _ := ParseSubject("CN=hv")
	if got := s.Mismatch(unnamed); got != "attribute 1 is 2.5.4.5, pinned is CN" {
		t.Errorf("an attribute without a name: %q", got)
	}
}

// TestSubjectTextIsAPin for the certificate it is taken from.
func TestSubjectTextIsAPin(t *testing.T) {
	cert := certificate(t,
		valueSET{text(oidO, asn1.TagUTF8String, `a\b,c=d `)}, valueSET{text(oidCN, asn1.TagUTF8String, "HV 1")})
	got := SubjectText(cert)
	if want := `O=a\\b\,c=d ,CN=HV 1`; got != want {
		t.Errorf("subject %s, want %s", got, want)
	}
	s, err := ParseSubject(got)
	if err != nil || !s.Matches(cert) {
		t.Errorf("%s: %v, %s", got, err, s.Mismatch(cert))
	}
	unnamed := certificate(t, valueSET{text(asn1.ObjectIdentifier{2, 5, 4, 5}, asn1.TagPrintableString, "7")})
	if got := SubjectText(unnamed); got != "2.5.4.5=7" {
		t.Errorf("an attribute without a name: %s", got)
	}
}

func TestSubjectOfSeveralValuesInOneRDN(t *testing.T) {
	// DER sorts a SET by encoding: CN (2.5.4.3) comes before O (2.5.4.10).
	cert := certificate(t, valueSET{
		text(oidCN, asn1.TagPrintableString, "hv"), text(oidO, asn1.TagPrintableString, "lab"),
	})
	s, err := ParseSubject("CN=hv,O=lab")
	if err != nil || !s.Matches(cert) {
		t.Errorf("err %v; want a match in the order of the encoding", err)
	}
}

func TestSubjectStringTypes(t *testing.T) {
	s, err := ParseSubject("CN=12")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []int{
		asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String, asn1.TagNumericString,
	} {
		if !s.Matches(certificate(t, valueSET{text(oidCN, tag, "12")})) {
			t.Errorf("string type %d does not match", tag)
		}
	}
	// Teletex, whose character set nobody agrees on.
	if s.Matches(certificate(t, valueSET{text(oidCN, asn1.TagT61String, "12")})) {
		t.Error("a Teletex string matches")
	}
}

func TestMalformedSubjects(t *testing.T) {
	for _, pin := range []string{",", "CN", "CN=", "CN= ", "cn=x", "X=x", "=x", `CN=a\b`, `CN=a\`, "CN=a,,O=b", " "} {
		if _, err := ParseSubject(pin); err == nil {
			t.Errorf("%q accepted", pin)
		}
	}
}

func TestRoots(t *testing.T) {
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate(t, valueSET{text(oidCN, asn1.TagUTF8String, "ca")}).Raw})
	for name, ca := range map[string]string{
		"PEM":          string(block),
		"two of them":  string(block) + string(block),
		"on one line":  strings.ReplaceAll(string(block), "\n", `\n`),
		"text besides": "the CA:\n" + string(block),
	} {
		if pool, err := (Target{CACert: ca}).Roots(); err != nil || pool == nil {
			t.Errorf("%s: pool %v, err %v", name, pool, err)
		}
	}
	if pool, err := (Target{}).Roots(); pool != nil || err != nil {
		t.Errorf("no ca_cert gives %v, %v; want the system's roots", pool, err)
	}
	if _, err := (Target{CACert: "no PEM"}).Roots(); err == nil {
		t.Error("text without a certificate accepted")
	}
}
