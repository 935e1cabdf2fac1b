package session

import (
	"context"
	"runtime"
	"sync/atomic"

	"spicepacer/spiceproto"
)

// ticketKeyStock is how many RSA keys wait for clients: enough for the channels
// a client opens at once. A key costs 13 ms of CPU, before anybody is
// authenticated, so strangers may keep ticketKeyMakers cores busy and no more;
// clients that wait are served in the order they came.
const ticketKeyStock = 16

// ticketKeyMakers is how many goroutines make keys: half the cores.
func ticketKeyMakers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// ticketKeys hands out RSA keys made in advance, each once if it can.
type ticketKeys struct {
	stock  chan *spiceproto.TicketKey
	latest atomic.Pointer[spiceproto.TicketKey] // made last
}

func newTicketKeys() *ticketKeys {
	return &ticketKeys{stock: make(chan *spiceproto.TicketKey, ticketKeyStock)}
}

// fill keeps the stock full until ctx ends.
func (k *ticketKeys) fill(ctx context.Context) error {
	for ctx.Err() == nil {
		key, err := spiceproto.GenerateTicketKey()
		if err != nil {
			return err
		}
		k.latest.Store(key)
		select {
		case k.stock <- key:
		case <-ctx.Done():
		}
	}
	return nil
}

// take returns a key that nobody else gets, and waits for it. A client whose
// connection is encrypted does not wait: while more clients come than keys can
// be made, it gets the latest key as others do. Nobody can see its ticket, so
// that nobody could use it again under the same key, which is what a key of one's
// own prevents on plaintext connections.
func (k *ticketKeys) take(ctx context.Context, encrypted bool) (*spiceproto.TicketKey, error) {
	select {
	case key := <-k.stock:
		return key, nil
	default:
	}
	if key := k.latest.Load(); encrypted && key != nil {
		return key, nil
	}
	select {
	case key := <-k.stock:
		return key, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
