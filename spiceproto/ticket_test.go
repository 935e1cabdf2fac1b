package spiceproto

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"errors"
	"strings"
	"testing"
)

func newTicketKey(t *testing.T) *TicketKey {
	t.Helper()
	k, err := GenerateTicketKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTicketRoundTrip(t *testing.T) {
	k := newTicketKey(t)
	pub := k.PubKey()
	for _, password := range []string{"", "secret", "grüße", strings.Repeat("x", MaxPassword)} {
		blob, err := EncryptTicket(&pub, password)
		if err != nil {
			t.Errorf("encrypt %q: %v", password, err)
		}
		if got, err := k.Decrypt(&blob); got != password || err != nil {
			t.Errorf("decrypt: %q, %v; want %q", got, err, password)
		}
	}
}

// The key looks like the one spice-server makes (OpenSSL's DER of a 1024-bit
// key with exponent 65537), up to the modulus.
func TestTicketKeyEncoding(t *testing.T) {
	pub, reference := newTicketKey(t).PubKey(), golden(t, "link_reply_main.bin")[20:182]
	const modulus, exponent = 29, 157
	if !bytes.Equal(pub[:modulus], reference[:modulus]) ||
		!bytes.Equal(pub[exponent:], reference[exponent:]) {
		t.Errorf("got  %x\nwant %x", pub, reference)
	}
}

func TestEncryptTicketForSpiceServer(t *testing.T) {
	pub := [PubKeySize]byte(golden(t, "link_reply_main.bin")[20:182])
	a, errA := EncryptTicket(&pub, "secret")
	b, errB := EncryptTicket(&pub, "secret")
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a == b {
		t.Error("two encryptions are equal")
	}
}

func TestEncryptTicketRefusals(t *testing.T) {
	pub := newTicketKey(t).PubKey()
	if _, err := EncryptTicket(&pub, strings.Repeat("x", MaxPassword+1)); err != ErrPassword {
		t.Errorf("long password: %v", err)
	}
	// A server with SASL sends a key of zeros.
	if _, err := EncryptTicket(new([PubKeySize]byte), ""); !errors.Is(err, ErrPublicKey) {
		t.Errorf("zero key: %v", err)
	}
}

func TestDecryptRefusals(t *testing.T) {
	k := newTicketKey(t)
	other := newTicketKey(t).PubKey()
	forOther, err := EncryptTicket(&other, "secret")
	if err != nil {
		t.Fatal(err)
	}
	for name, blob := range map[string]*[TicketSize]byte{
		"zeros":         {},
		"above modulus": (*[TicketSize]byte)(bytes.Repeat([]byte{0xff}, TicketSize)),
		"another key":   &forOther,
		"not UTF-8":     encryptRaw(t, k, []byte{0xff, 0xfe, 0}),
	} {
		if got, err := k.Decrypt(blob); got != "" || err != ErrTicket {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestDecryptTrailingNUL(t *testing.T) {
	k := newTicketKey(t)
	for plain, want := range map[string]string{
		"token": "token", "token\x00": "token", "token\x00\x00": "token\x00", "": "",
	} {
		if got, err := k.Decrypt(encryptRaw(t, k, []byte(plain))); got != want || err != nil {
			t.Errorf("%q: %q, %v", plain, got, err)
		}
	}
}

// encryptRaw encrypts a plaintext as it is, without the NUL clients add.
func encryptRaw(t *testing.T, k *TicketKey, plain []byte) *[TicketSize]byte {
	t.Helper()
	blob, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, &k.private.PublicKey, plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	return (*[TicketSize]byte)(blob)
}

func FuzzEncryptTicket(f *testing.F) {
	f.Add(golden(f, "link_reply_main.bin")[20:182])
	f.Add(make([]byte, PubKeySize))
	f.Fuzz(func(t *testing.T, der []byte) {
		var pub [PubKeySize]byte
		copy(pub[:], der)
		if _, err := EncryptTicket(&pub, "secret"); err != nil && !errors.Is(err, ErrPublicKey) {
			t.Errorf("error %v", err)
		}
	})
}
