package session

import "time"

// input implements sessionDisplay.
func (d *display) input(now time.Time) {
	d.mu.Lock()
	d.pace.Input(now)
	d.bookAcks(now)
	d.mu.Unlock()
	wake(d.opened)
}

// channelID implements sessionDisplay.
func (d *display) channelID() uint8 { return d.ch.id }

// keepArrivalOrder implements sessionDisplay. The client counts messages, and the
// hypervisor will name counts of its own: for each message that was left out a
// message without effect is sent.
func (d *display) keepArrivalOrder() {
	d.mu.Lock()
	if d.queue.order.Reorders() {
		d.queue.order.KeepArrivalOrder()
		d.pace.KeepArrivalOrder()
		n := d.pace.Missing()
		d.queue.fill(n)
		d.pace.Stored(int(n)*fillerSize, d.queue.memory)
		d.acks.filled(n)
		d.bookAcks(time.Now())
	}
	d.mu.Unlock()
	wake(d.arrived)
}
