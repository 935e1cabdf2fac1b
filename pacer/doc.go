// Package pacer decides how much of a display channel's traffic may be where,
// and when an ACK goes to spice-server. It decides and never acts: no method
// opens a socket, reads a clock, starts a goroutine or sleeps; the caller tells
// it what happened and when, and does what it answers.
//
// One Channel belongs to one display channel:
//
//	ch := pacer.NewChannel(pacer.Config{Mode: pacer.Adaptive, QueueTarget: 10 * time.Millisecond, QueueBytes: 4 << 20, Sweeps: true})
//	ch.Arrived(pacer.Message{Op: op, Size: size, Draw: true, Box: box}) // a head is known
//	ch.Stored(n, memory)                                               // bytes were queued
//	for range ch.AcksDue(now) { /* write one ACK to the server */ }
//	if !ch.MayRead() { /* leave the hypervisor's bytes where they are */ }
//	if ch.Room() < ch.Quantum() { /* look again after ch.Wait() */ }
//	ch.Sent(now, n, messages, memory)                                  // bytes went to the client
//	ch.Observe(now, sample)                                            // what the client's socket says
//
// Three small parts stand behind it: Ledger keeps the ACK books that must
// never be wrong, Link learns the client's link, and Sweep finds the moments
// at which the server has sent every changing region once, the only moments at
// which stopping it starves no region.
package pacer
