package session

import (
	"context"
	"runtime"

	"spicepacer/spiceproto"
)

// ticketKeyStock is how many RSA keys wait for clients: enough for the channels
// a client opens at once. A key costs 13 ms of CPU, before anybody is
// authenticated, so strangers may keep ticketKeyMakers cores busy and no more;
// clients that wait are served in the order they came.
const ticketKeyStock = 16

// ticketKeyMakers is how many goroutines make keys: half the cores.
func ticketKeyMakers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

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
