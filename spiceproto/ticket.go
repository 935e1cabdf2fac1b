package spiceproto

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// AuthMechanismSpice is the ticket mechanism; the value is the number of
	// its common capability bit.
	AuthMechanismSpice = CapAuthSpice
	// TicketSize is the size of an encrypted ticket, in bytes.
	TicketSize = 128
	// MaxPassword is the longest password, in bytes without the NUL
	// (SPICE_MAX_PASSWORD_LENGTH).
	MaxPassword = 60

	// ticketKeyBits is fixed by the 128 and 162 bytes of the wire format.
	ticketKeyBits = 8 * TicketSize
)

// Errors of the ticket exchange. None of them carries any part of a password.
var (
	// ErrTicket: the ticket is not an encryption, under this key, of UTF-8 text.
	ErrTicket = errors.New("spice ticket does not decrypt to text")
	// ErrPublicKey: the LinkReply does not carry a 1024-bit RSA key.
	ErrPublicKey = errors.New("spice link reply carries no usable RSA public key")
	// ErrPassword: the password is longer than MaxPassword.
	ErrPassword = errors.New("spice password too long")
)

// TicketKey is the server's side of one ticket exchange. A key serves one
// connection only.
type TicketKey struct {
	private *rsa.PrivateKey
	public  [PubKeySize]byte
}

// GenerateTicketKey makes a fresh 1024-bit key, which costs milliseconds of CPU.
func GenerateTicketKey() (*TicketKey, error) {
	private, err := rsa.GenerateKey(rand.Reader, ticketKeyBits)
	if err != nil {
		return nil, fmt.Errorf("generate ticket key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode ticket key: %w", err)
	}
	if len(der) != PubKeySize {
		return nil, fmt.Errorf("encode ticket key: %d bytes of DER, want %d", len(der), PubKeySize)
	}
	return &TicketKey{private, [PubKeySize]byte(der)}, nil
}

// PubKey returns the key as LinkReply.PubKey carries it.
func (k *TicketKey) PubKey() [PubKeySize]byte { return k.public }

// Decrypt recovers the password from a ticket: OAEP with SHA-1 for hash and
// MGF1 and an empty label. One trailing NUL is removed, as clients encrypt the
// C string with its end. The error is ErrTicket.
func (k *TicketKey) Decrypt(blob *[TicketSize]byte) (string, error) {
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, k.private, blob[:], nil)
	if err != nil || !utf8.Valid(plain) {
		return "", ErrTicket
	}
	return strings.TrimSuffix(string(plain), "\x00"), nil
}

// EncryptTicket makes the client's side of the exchange from the public key of
// a LinkReply. The error is ErrPassword or ErrPublicKey.
func EncryptTicket(pub *[PubKeySize]byte, password string) ([TicketSize]byte, error) {
	if len(password) > MaxPassword {
		return [TicketSize]byte{}, ErrPassword
	}
	key, err := x509.ParsePKIXPublicKey(pub[:])
	if err != nil {
		return [TicketSize]byte{}, fmt.Errorf("%w: %w", ErrPublicKey, err)
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok || public.Size() != TicketSize {
		return [TicketSize]byte{}, ErrPublicKey
	}
	blob, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public, append([]byte(password), 0), nil)
	if err != nil {
		return [TicketSize]byte{}, fmt.Errorf("%w: %w", ErrPublicKey, err)
	}
	return [TicketSize]byte(blob), nil
}
