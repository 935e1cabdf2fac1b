/* Random QXL commands, as a guest's driver would give them to its device
 * (spice/qxl_dev.h). */
#ifndef DRAW_H
#define DRAW_H

#include <spice.h>
#include <stdatomic.h>

/* A command with all the memory it refers to, which the worker gives back. */
struct command {
    union {
        QXLDrawable drawable;
        QXLSurfaceCmd surface;
    };
    QXLCommandExt ext;
    struct surface *dead; /* whose end this command is */
    struct command *next; /* in the queue */
    void *memory[12];
    int count;
};

/* Frees a command of which the worker knows only the release info. */
void draw_release(QXLReleaseInfo *info);

/* Where the drawing is done: the primary surface of this size, right of a strip
 * in which nothing is drawn. */
void draw_area(int left, int width, int height);

/* Begins a play; the same seed is the same play. */
void draw_seed(uint64_t seed);

/* Kinds of commands; a play is a set of them. */
enum {
    DRAW_COPIES = 1,   /* opaque copies, some of them animations */
    DRAW_CACHED = 2,   /* images that clients keep, and palettes */
    DRAW_BLENDS = 4,   /* all that depends on what was there */
    DRAW_MOVES = 8,    /* COPY_BITS: windows that are moved, contents that scroll */
    DRAW_SURFACES = 16,/* off-screen surfaces, drawn to and copied from */
    DRAW_CLIPPED = 32, /* clip rectangles and masks */
    DRAW_VIDEO = 64,   /* one place that changes as a whole, again and again */
};

/* The next command of a play. */
struct command *draw_next(unsigned kinds);

/* The next frame of a video, a place that changes as a whole, to be shown so much
 * later than one that is drawn now. */
struct command *draw_frame(int ahead_ms);

/* A change of some pixels of the video's place that depends on what is there. */
struct command *draw_on_video(void);

/* A line below the video, large on any link. */
struct command *draw_below_video(int line);

/* Commands that end all off-screen surfaces, NULL after the last. */
struct command *draw_end_surface(void);

/* One rectangle of one colour. */
struct command *draw_box(int left, int top, int right, int bottom, uint32_t colour);

/* A copy of pixels, four bytes each, which the caller writes to where it is told. */
struct command *draw_pixels(int left, int top, int width, int height, void **pixels);

#endif
