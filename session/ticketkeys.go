package session

import (
	"context"

	"spicepacer/spiceproto"
)

// ticketKeyStock is how many RSA keys wait for clients: enough for the channels
// a client opens at once. A key costs 13 ms of CPU, before anybody is
// authenticated; one goroutine makes them all, so that strangers can keep at
// most one core busy.
const ticketKeyStock = 16

// ticketKeys hands out RSA keys made in advance, each once.
type ticketKeys chan *spiceproto.TicketKey

func newTicketKeys() ticketKeys { return make(ticketKeys, ticketKeyStock) }

// fill keeps the stock full until ctx ends.
func (k ticketKeys) fill(ctx context.Context) error {
	for ctx.Err() == nil {
		key, err := spiceproto.GenerateTicketKey()
		if err != nil {
			return err
		}
		select {
		case k <- key:
		case <-ctx.Done():
		}
	}
	return nil
}

// take waits for a key.
func (k ticketKeys) take(ctx context.Context) (*spiceproto.TicketKey, error) {
	select {
	case key := <-k:
		return key, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
