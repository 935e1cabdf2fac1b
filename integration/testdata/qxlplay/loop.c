#include "loop.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

struct SpiceTimer {
    SpiceTimerFunc func;
    void *opaque;
    uint64_t due; /* 0: not started */
    int removed;
    SpiceTimer *next;
};

struct SpiceWatch {
    int fd, mask, removed;
    SpiceWatchFunc func;
    void *opaque;
    SpiceWatch *next;
};

static SpiceTimer *timers;
static SpiceWatch *watches;

uint64_t loop_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static SpiceTimer *timer_add(SpiceTimerFunc func, void *opaque)
{
    SpiceTimer *t = calloc(1, sizeof *t);

    t->func = func;
    t->opaque = opaque;
    t->next = timers;
    return timers = t;
}

static void timer_start(SpiceTimer *t, uint32_t ms)
{
    t->due = loop_now() + ms + !ms;
}

static void timer_cancel(SpiceTimer *t)
{
    t->due = 0;
}

/* Removed timers and watches are freed between two steps: who goes through the
 * list may be the one who removes. */
static void timer_remove(SpiceTimer *t)
{
    t->due = 0;
    t->removed = 1;
}

static int events_of(int mask)
{
    return (mask & SPICE_WATCH_EVENT_READ ? POLLIN : 0) | (mask & SPICE_WATCH_EVENT_WRITE ? POLLOUT : 0);
}

static SpiceWatch *watch_add(int fd, int mask, SpiceWatchFunc func, void *opaque)
{
    SpiceWatch *w = calloc(1, sizeof *w);

    w->fd = fd;
    w->mask = mask;
    w->func = func;
    w->opaque = opaque;
    w->next = watches;
    return watches = w;
}

static void watch_update_mask(SpiceWatch *w, int mask)
{
    w->mask = mask;
}

static void watch_remove(SpiceWatch *w)
{
    w->removed = 1;
}

static void channel_event(int event, SpiceChannelEventInfo *info)
{
    (void)event;
    (void)info;
}

SpiceCoreInterface loop_core = {
    .base = {SPICE_INTERFACE_CORE, "poll loop", SPICE_INTERFACE_CORE_MAJOR, SPICE_INTERFACE_CORE_MINOR},
    .timer_add = timer_add,
    .timer_start = timer_start,
    .timer_cancel = timer_cancel,
    .timer_remove = timer_remove,
    .watch_add = watch_add,
    .watch_update_mask = watch_update_mask,
    .watch_remove = watch_remove,
    .channel_event = channel_event,
};

static void sweep(void)
{
    for (SpiceTimer **p = &timers; *p;) {
        SpiceTimer *t = *p;
        if (t->removed) {
            *p = t->next;
            free(t);
        } else {
            p = &t->next;
        }
    }
    for (SpiceWatch **p = &watches; *p;) {
        SpiceWatch *w = *p;
        if (w->removed) {
            *p = w->next;
            free(w);
        } else {
            p = &w->next;
        }
    }
}

static int until_timer(int most)
{
    uint64_t now = loop_now();

    for (SpiceTimer *t = timers; t; t = t->next) {
        if (t->due && t->due <= now)
            return 0;
        if (t->due && t->due - now < (uint64_t)most)
            most = t->due - now;
    }
    return most;
}

static void run_timers(void)
{
    uint64_t now = loop_now();

    for (SpiceTimer *t = timers; t; t = t->next) {
        if (t->due && t->due <= now) {
            t->due = 0;
            t->func(t->opaque);
        }
    }
}

void loop_step(int most_ms)
{
    enum { most_watches = 64 };
    struct pollfd fds[most_watches];
    SpiceWatch *at[most_watches];
    int n = 0;

    sweep();
    for (SpiceWatch *w = watches; w && n < most_watches; w = w->next) {
        fds[n] = (struct pollfd){.fd = w->fd, .events = events_of(w->mask)};
        at[n++] = w;
    }
    if (poll(fds, n, until_timer(most_ms)) > 0) {
        for (int i = 0; i < n; i++) {
            int happened = (fds[i].revents & (POLLIN | POLLHUP | POLLERR) ? SPICE_WATCH_EVENT_READ : 0) |
                           (fds[i].revents & POLLOUT ? SPICE_WATCH_EVENT_WRITE : 0);
            if (!at[i]->removed && happened & at[i]->mask)
                at[i]->func(at[i]->fd, happened & at[i]->mask, at[i]->opaque);
        }
    }
    run_timers();
}
