/* An event loop on poll(2), with the watches and timers that spice-server asks of
 * its embedder (spice-core.h). All of it belongs to the main thread. */
#ifndef LOOP_H
#define LOOP_H

#include <spice.h>

extern SpiceCoreInterface loop_core;

/* Milliseconds of the monotonic clock, which is spice-server's multimedia time. */
uint64_t loop_now(void);

/* Waits for what happens next, at most the given milliseconds, and handles it. */
void loop_step(int most_ms);

#endif
