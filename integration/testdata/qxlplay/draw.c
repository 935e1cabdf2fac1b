#include "draw.h"

#include <stdlib.h>
#include <string.h>

#include "loop.h"

/* xorshift64 (Marsaglia, 2003) */
static uint64_t state = 1;

static uint32_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
}

/* A number from 0 to n-1. */
static int below(int n)
{
    return any() % (uint32_t)n;
}

static int one_in(int n)
{
    return below(n) == 0;
}

static void seed_with(uint64_t seed)
{
    state = seed * 2654435769u + 88172645463325252u;
}

/* Places of the screen that a play draws again and again, as many draws mean the
 * same. What else it draws stays until the next play, and shows what went wrong. */
enum { columns = 6, rows = 5, most_busy = 5 };

static int busy[most_busy], busy_count;

void draw_seed(uint64_t seed)
{
    seed_with(seed);
    busy_count = 1 + below(most_busy);
    for (int i = 0; i < busy_count; i++)
        busy[i] = below(columns * rows);
}

/* An off-screen surface. Its number is free again when the worker has let go of
 * the command that ended it. */
struct surface {
    int alive;
    atomic_int dying;
    void *pixels;
};

enum { surfaces = 4, surface_width = 256, surface_height = 192 };

static struct surface surface[surfaces + 1]; /* by number; 0, the primary one, is not used */
static QXLRect screen;

void draw_area(int left, int width, int height)
{
    screen = (QXLRect){.left = left, .right = width, .bottom = height};
}

void draw_release(QXLReleaseInfo *info)
{
    struct command *c = (struct command *)(uintptr_t)info->id;
    struct surface *dead = c->dead;

    for (int i = 0; i < c->count; i++)
        free(c->memory[i]);
    free(c);
    if (dead)
        atomic_store(&dead->dying, 0);
}

/* Memory that lives as long as the command. */
static void *keep(struct command *c, size_t size)
{
    return c->memory[c->count++] = calloc(1, size);
}

static struct command *command(int type, QXLReleaseInfo *(*info)(struct command *))
{
    struct command *c = calloc(1, sizeof *c);

    info(c)->id = (uintptr_t)c;
    c->ext.cmd.data = (uintptr_t)info(c);
    c->ext.cmd.type = type;
    return c;
}

static QXLReleaseInfo *drawable_info(struct command *c)
{
    return &c->drawable.release_info;
}

static QXLReleaseInfo *surface_info(struct command *c)
{
    return &c->surface.release_info;
}

static struct command *drawing(int type, int on, QXLRect box)
{
    struct command *c = command(QXL_CMD_DRAW, drawable_info);
    QXLDrawable *d = &c->drawable;

    d->type = type;
    d->surface_id = on;
    d->bbox = box;
    d->effect = QXL_EFFECT_BLEND;
    d->clip.type = SPICE_CLIP_TYPE_NONE;
    d->mm_time = loop_now();
    for (int i = 0; i < 3; i++)
        d->surfaces_dest[i] = -1;
    return c;
}

/* Surfaces and places. */

static QXLRect bounds(int on)
{
    return on ? (QXLRect){.right = surface_width, .bottom = surface_height} : screen;
}

/* An off-screen surface that is there, 0 if there is none. */
static int living(void)
{
    int first = below(surfaces);

    for (int i = 0; i < surfaces; i++) {
        int n = 1 + (first + i) % surfaces;
        if (surface[n].alive)
            return n;
    }
    return 0;
}

/* Where to draw: mostly on the primary surface. */
static int target(unsigned kinds)
{
    return kinds & DRAW_SURFACES && one_in(4) ? living() : 0;
}

static QXLRect somewhere(int on, int most_width, int most_height)
{
    QXLRect b = bounds(on);
    int width = 1 + below(most_width), height = 1 + below(most_height);
    int x, y;

    if (width > b.right - b.left)
        width = b.right - b.left;
    if (height > b.bottom - b.top)
        height = b.bottom - b.top;
    x = b.left + below(b.right - b.left - width + 1);
    y = b.top + below(b.bottom - b.top - height + 1);
    return (QXLRect){.left = x, .top = y, .right = x + width, .bottom = y + height};
}

static int width_of(QXLRect r)
{
    return r.right - r.left;
}

static int height_of(QXLRect r)
{
    return r.bottom - r.top;
}

/* One of the busy places, or most of it. */
static QXLRect again(void)
{
    int width = width_of(screen) / columns, height = height_of(screen) / rows, place = busy[below(busy_count)];
    int x = screen.left + width * (place % columns), y = screen.top + height * (place / columns);

    return (QXLRect){.left = x, .top = y, .right = x + width - below(2) * 7, .bottom = y + height - below(2) * 5};
}

/* Images. */

static uint32_t last_image, last_palette;

static uint32_t texture(int kind, int x, int y, uint32_t colour)
{
    switch (kind) {
    case 0: /* noise */
        return any();
    case 1: /* gradients */
        return (colour + x * 3 + ((y * 5) << 8) + ((x + y) << 16)) & 0xffffff;
    case 2: /* text */
        return (x * 7 + y * 13 + colour) % 5 < 2 && y % 12 < 9 ? 0xd0d0d0 : 0x102040;
    }
    return colour & 0xffffff;
}

static const struct { uint8_t format; int bits; } formats[] = {
    {SPICE_BITMAP_FMT_32BIT, 32}, {SPICE_BITMAP_FMT_32BIT, 32}, {SPICE_BITMAP_FMT_32BIT, 32},
    {SPICE_BITMAP_FMT_24BIT, 24}, {SPICE_BITMAP_FMT_16BIT, 16}, {SPICE_BITMAP_FMT_8BIT, 8},
};

static QXLPalette *palette(struct command *c, int cached)
{
    enum { entries = 256 };
    QXLPalette *p = keep(c, sizeof *p + entries * sizeof p->ents[0]);
    uint32_t number = cached ? 1u + below(5) : 1000 + last_palette++;

    /* The same number is always the same palette. */
    p->unique = number;
    p->num_ents = entries;
    for (int i = 0; i < entries; i++)
        p->ents[i] = (i * 0x010203u + number * 0x351a7bu) & 0xffffff;
    return p;
}

static QXLImage *textured(struct command *c, int width, int height, int format, int bits, unsigned kinds, int kind)
{
    QXLImage *image = keep(c, sizeof *image);
    int stride = (width * bits + 31) / 32 * 4;
    uint8_t *pixels = keep(c, (size_t)stride * height);
    uint32_t colour = any();

    QXL_SET_IMAGE_ID(image, QXL_IMAGE_GROUP_DRIVER_DONT_CACHE, ++last_image);
    image->descriptor.type = SPICE_IMAGE_TYPE_BITMAP;
    image->descriptor.width = image->bitmap.x = width;
    image->descriptor.height = image->bitmap.y = height;
    image->bitmap.format = format;
    image->bitmap.flags = QXL_BITMAP_DIRECT | QXL_BITMAP_TOP_DOWN;
    image->bitmap.stride = stride;
    image->bitmap.data = (uintptr_t)pixels;
    if (bits == 8)
        image->bitmap.palette = (uintptr_t)palette(c, kinds & DRAW_CACHED);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            uint32_t pixel = texture(kind, x, y, colour);
            memcpy(pixels + y * stride + x * bits / 8, &pixel, bits / 8);
        }
    }
    return image;
}

static QXLImage *bitmap(struct command *c, int width, int height, int format, int bits, unsigned kinds)
{
    return textured(c, width, height, format, bits, kinds, below(4));
}

/* What no compression makes smaller. */
static QXLImage *noise(struct command *c, int width, int height)
{
    return textured(c, width, height, SPICE_BITMAP_FMT_32BIT, 32, 0, 0);
}

/* An image of the pool of those that clients may keep: by its number alone. */
static QXLImage *pooled(struct command *c, int *width, int *height)
{
    enum { pool = 24 };
    uint32_t number = below(pool);
    uint64_t before = state;
    QXLImage *image;

    seed_with(7000 + number);
    *width = 16 + below(120);
    *height = 16 + below(100);
    image = bitmap(c, *width, *height, SPICE_BITMAP_FMT_32BIT, 32, 0);
    state = before;
    QXL_SET_IMAGE_ID(image, QXL_IMAGE_GROUP_DRIVER, 100000000 + number);
    image->descriptor.flags = QXL_IMAGE_CACHE;
    return image;
}

/* What an off-screen surface shows. */
static QXLImage *shown(struct command *c, int number, QXLRect area)
{
    QXLImage *image = keep(c, sizeof *image);

    image->descriptor.type = SPICE_IMAGE_TYPE_SURFACE;
    image->descriptor.width = surface_width;
    image->descriptor.height = surface_height;
    image->surface_image.surface_id = number;
    c->drawable.surfaces_dest[0] = number;
    c->drawable.surfaces_rects[0] = area;
    return image;
}

/* A source of the box's size or larger, or of another size with another scale. */
static QXLImage *source(struct command *c, QXLRect *area, unsigned kinds)
{
    int width = width_of(c->drawable.bbox), height = height_of(c->drawable.bbox);
    int f, dx = 0, dy = 0;

    if (kinds & DRAW_SURFACES && one_in(4)) {
        int from = living();
        if (from && from != (int)c->drawable.surface_id && width <= surface_width && height <= surface_height) {
            dx = below(surface_width - width + 1);
            dy = below(surface_height - height + 1);
            *area = (QXLRect){.left = dx, .top = dy, .right = dx + width, .bottom = dy + height};
            return shown(c, from, *area);
        }
    }
    if (kinds & DRAW_CACHED && one_in(3)) {
        QXLImage *image = pooled(c, &width, &height);
        *area = (QXLRect){.right = width, .bottom = height};
        return image;
    }
    if (kinds & DRAW_CLIPPED && one_in(4)) {
        dx = below(20);
        dy = below(20);
    }
    *area = (QXLRect){.left = dx, .top = dy, .right = dx + width, .bottom = dy + height};
    f = below(sizeof formats / sizeof *formats);
    return bitmap(c, width + dx, height + dy, formats[f].format, formats[f].bits, kinds);
}

/* Parts of draws. */

static void brush(struct command *c, QXLBrush *b, unsigned kinds)
{
    if (kinds & DRAW_CACHED && one_in(4)) {
        int width, height;
        b->type = SPICE_BRUSH_TYPE_PATTERN;
        b->u.pattern.pat = (uintptr_t)pooled(c, &width, &height);
        b->u.pattern.pos = (QXLPoint){below(16), below(16)};
        return;
    }
    b->type = SPICE_BRUSH_TYPE_SOLID;
    b->u.color = any() & 0xffffff;
}

static void mask(struct command *c, QXLQMask *m, unsigned kinds)
{
    QXLImage *image;

    if (!(kinds & DRAW_CLIPPED) || !one_in(6))
        return;
    image = bitmap(c, (width_of(c->drawable.bbox) + 31) & ~31, height_of(c->drawable.bbox), SPICE_BITMAP_FMT_8BIT, 8, 0);
    image->bitmap.format = SPICE_BITMAP_FMT_1BIT_BE;
    image->bitmap.palette = 0;
    image->bitmap.stride = image->bitmap.x / 8;
    m->bitmap = (uintptr_t)image;
    m->flags = one_in(2) ? SPICE_MASK_FLAGS_INVERS : 0;
    c->drawable.effect = QXL_EFFECT_BLEND;
}

/* Some rectangles inside of the box or across its edges. */
static void clip(struct command *c, unsigned kinds)
{
    QXLDrawable *d = &c->drawable;
    int count = 1 + below(12);
    QXLClipRects *list;
    QXLRect *r;

    if (!(kinds & DRAW_CLIPPED) || !one_in(3))
        return;
    list = keep(c, sizeof *list + count * sizeof *r);
    list->num_rects = count;
    list->chunk.data_size = count * sizeof *r;
    r = (QXLRect *)list->chunk.data;
    /* Bands from left to right that do not overlap, as a driver's region has them. */
    for (int i = 0; i < count; i++) {
        int left = d->bbox.left + width_of(d->bbox) * i / count, right = d->bbox.left + width_of(d->bbox) * (i + 1) / count;
        r[i] = (QXLRect){.left = left, .right = right > left ? right : left + 1,
                         .top = d->bbox.top, .bottom = d->bbox.bottom - below(height_of(d->bbox))};
    }
    d->clip.type = SPICE_CLIP_TYPE_RECTS;
    d->clip.data = (uintptr_t)list;
}

static const uint16_t blending[] = {
    SPICE_ROPD_OP_XOR, SPICE_ROPD_OP_OR, SPICE_ROPD_OP_AND, SPICE_ROPD_OP_XOR | SPICE_ROPD_INVERS_SRC,
};

static uint16_t blend_rop(void)
{
    return blending[below(sizeof blending / sizeof *blending)];
}

/* The draws. */

static struct command *copy_to(int on, QXLRect box, unsigned kinds)
{
    struct command *c = drawing(QXL_DRAW_COPY, on, box);
    QXLCopy *p = &c->drawable.u.copy;

    c->drawable.effect = QXL_EFFECT_OPAQUE;
    p->rop_descriptor = SPICE_ROPD_OP_PUT;
    p->scale_mode = SPICE_IMAGE_SCALE_MODE_NEAREST;
    p->src_bitmap = (uintptr_t)source(c, &p->src_area, kinds);
    mask(c, &p->mask, kinds);
    clip(c, kinds);
    return c;
}

struct command *draw_box(int left, int top, int right, int bottom, uint32_t colour)
{
    struct command *c = drawing(QXL_DRAW_FILL, 0, (QXLRect){.left = left, .top = top, .right = right, .bottom = bottom});

    c->drawable.effect = QXL_EFFECT_OPAQUE;
    c->drawable.u.fill.brush.type = SPICE_BRUSH_TYPE_SOLID;
    c->drawable.u.fill.brush.u.color = colour;
    c->drawable.u.fill.rop_descriptor = SPICE_ROPD_OP_PUT;
    return c;
}

struct command *draw_pixels(int left, int top, int width, int height, void **pixels)
{
    struct command *c = drawing(QXL_DRAW_COPY, 0,
                                (QXLRect){.left = left, .top = top, .right = left + width, .bottom = top + height});
    QXLImage *image = bitmap(c, width, height, SPICE_BITMAP_FMT_32BIT, 32, 0);

    c->drawable.effect = QXL_EFFECT_OPAQUE;
    c->drawable.u.copy.rop_descriptor = SPICE_ROPD_OP_PUT;
    c->drawable.u.copy.src_area = (QXLRect){.right = width, .bottom = height};
    c->drawable.u.copy.src_bitmap = (uintptr_t)image;
    *pixels = (void *)(uintptr_t)image->bitmap.data;
    return c;
}

static struct command *fill(int on, unsigned kinds)
{
    struct command *c = drawing(QXL_DRAW_FILL, on, somewhere(on, 200, 120));
    QXLFill *p = &c->drawable.u.fill;
    int blends = kinds & DRAW_BLENDS && one_in(2);

    c->drawable.effect = blends ? QXL_EFFECT_BLEND : QXL_EFFECT_OPAQUE;
    p->rop_descriptor = blends ? SPICE_ROPD_OP_XOR : SPICE_ROPD_OP_PUT;
    brush(c, &p->brush, kinds);
    mask(c, &p->mask, kinds);
    clip(c, kinds);
    return c;
}

static struct command *opaque(int on, unsigned kinds)
{
    struct command *c = drawing(QXL_DRAW_OPAQUE, on, somewhere(on, 160, 120));
    QXLOpaque *p = &c->drawable.u.opaque;

    c->drawable.effect = QXL_EFFECT_OPAQUE_BRUSH;
    brush(c, &p->brush, kinds);
    p->rop_descriptor = one_in(2) ? SPICE_ROPD_OP_PUT : SPICE_ROPD_OP_XOR;
    p->scale_mode = SPICE_IMAGE_SCALE_MODE_NEAREST;
    p->src_bitmap = (uintptr_t)source(c, &p->src_area, kinds);
    clip(c, kinds);
    return c;
}

static struct command *blend(int on, unsigned kinds)
{
    struct command *c = drawing(QXL_DRAW_BLEND, on, somewhere(on, 200, 160));
    QXLBlend *p = &c->drawable.u.blend;

    p->rop_descriptor = blend_rop();
    p->scale_mode = SPICE_IMAGE_SCALE_MODE_NEAREST;
    p->src_bitmap = (uintptr_t)source(c, &p->src_area, kinds);
    clip(c, kinds);
    return c;
}

static struct command *alpha_blend(int on, unsigned kinds)
{
    struct command *c = drawing(QXL_DRAW_ALPHA_BLEND, on, somewhere(on, 200, 160));
    QXLAlphaBlend *p = &c->drawable.u.alpha_blend;

    p->alpha = 30 + below(200);
    p->src_bitmap = (uintptr_t)source(c, &p->src_area, kinds & ~DRAW_CACHED);
    clip(c, kinds);
    return c;
}

static struct command *transparent(int on, unsigned kinds)
{
    struct command *c = drawing(QXL_DRAW_TRANSPARENT, on, somewhere(on, 160, 120));
    QXLTransparent *p = &c->drawable.u.transparent;
    QXLRect b = c->drawable.bbox;

    p->src_area = (QXLRect){.right = width_of(b), .bottom = height_of(b)};
    p->src_bitmap = (uintptr_t)bitmap(c, width_of(b), height_of(b), SPICE_BITMAP_FMT_32BIT, 32, kinds);
    p->src_color = p->true_color = 0x102040;
    clip(c, kinds);
    return c;
}

static struct command *rop3(int on, unsigned kinds)
{
    struct command *c = drawing(QXL_DRAW_ROP3, on, somewhere(on, 120, 90));
    QXLRop3 *p = &c->drawable.u.rop3;
    QXLRect b = c->drawable.bbox;

    p->src_area = (QXLRect){.right = width_of(b), .bottom = height_of(b)};
    p->src_bitmap = (uintptr_t)bitmap(c, width_of(b), height_of(b), SPICE_BITMAP_FMT_32BIT, 32, kinds);
    brush(c, &p->brush, 0);
    p->rop3 = below(2) ? 0x96 : 0xe8; /* all three XORed; the majority */
    clip(c, kinds);
    return c;
}

static struct command *invers(int on, unsigned kinds)
{
    struct command *c = drawing(one_in(3) ? QXL_DRAW_BLACKNESS : one_in(2) ? QXL_DRAW_WHITENESS : QXL_DRAW_INVERS,
                                on, somewhere(on, 150, 150));

    mask(c, &c->drawable.u.invers.mask, kinds);
    clip(c, kinds);
    return c;
}

static struct command *stroke(int on, unsigned kinds)
{
    enum { points = 5, fixed = 16 }; /* 28.4 */
    struct command *c = drawing(QXL_DRAW_STROKE, on, somewhere(on, 300, 200));
    QXLStroke *p = &c->drawable.u.stroke;
    QXLRect b = c->drawable.bbox;
    size_t size = sizeof(QXLPathSeg) + points * sizeof(QXLPointFix);
    QXLPath *path = keep(c, sizeof *path + size);
    QXLPathSeg *segment = (QXLPathSeg *)path->chunk.data;

    path->data_size = path->chunk.data_size = size;
    segment->flags = QXL_PATH_BEGIN | QXL_PATH_END;
    segment->count = points;
    for (int i = 0; i < points; i++) {
        segment->points[i].x = (b.left + below(width_of(b))) * fixed;
        segment->points[i].y = (b.top + below(height_of(b))) * fixed;
    }
    p->path = (uintptr_t)path;
    brush(c, &p->brush, 0);
    p->attr.width = fixed;
    p->fore_mode = kinds & DRAW_BLENDS && one_in(2) ? SPICE_ROPD_OP_XOR : SPICE_ROPD_OP_PUT;
    p->back_mode = SPICE_ROPD_OP_PUT;
    clip(c, kinds);
    return c;
}

static int between(int n, int least, int most)
{
    return n < least ? least : n > most ? most : n;
}

/* Moves what is in a rectangle: a window by some pixels, or text by some lines. Or
 * keeps what a busy place shows at this time, somewhere else. */
static struct command *move(int on)
{
    QXLRect b = bounds(on), to = somewhere(on, 300, 250);
    struct command *c;
    int x = to.left + below(81) - 40, y = to.top + below(81) - 40;

    if (!on && one_in(2)) {
        QXLRect from = again();
        x = from.left;
        y = from.top;
    }
    x = between(x, b.left, b.right - width_of(to));
    y = between(y, b.top, b.bottom - height_of(to));
    c = drawing(QXL_COPY_BITS, on, to);
    c->drawable.effect = QXL_EFFECT_OPAQUE;
    c->drawable.u.copy_bits.src_pos = (QXLPoint){x, y};
    c->drawable.surfaces_dest[0] = on;
    c->drawable.surfaces_rects[0] = (QXLRect){.left = x, .top = y, .right = x + width_of(to), .bottom = y + height_of(to)};
    return c;
}

enum { video_at = 64, video_top = 160, video_width = 256, video_height = 192 };

struct command *draw_frame(int ahead_ms)
{
    int left = screen.left + video_at;
    QXLRect box = {.left = left, .top = video_top, .right = left + video_width, .bottom = video_top + video_height};
    struct command *c = drawing(QXL_DRAW_COPY, 0, box);
    QXLCopy *p = &c->drawable.u.copy;

    c->drawable.mm_time += ahead_ms;
    c->drawable.effect = QXL_EFFECT_OPAQUE;
    p->rop_descriptor = SPICE_ROPD_OP_PUT;
    p->src_area = (QXLRect){.right = video_width, .bottom = video_height};
    p->src_bitmap = (uintptr_t)bitmap(c, video_width, video_height, SPICE_BITMAP_FMT_32BIT, 32, 0);
    return c;
}

struct command *draw_on_video(void)
{
    enum { side = 8 };
    int left = screen.left + video_at;
    struct command *c = drawing(QXL_DRAW_INVERS, 0,
        (QXLRect){.left = left, .top = video_top, .right = left + side, .bottom = video_top + side});

    return c;
}

struct command *draw_below_video(int line)
{
    enum { height = 64 };
    int top = video_top + video_height + line * height;
    QXLRect box = {.left = screen.left, .top = top, .right = screen.right, .bottom = top + height};
    struct command *c = drawing(QXL_DRAW_COPY, 0, box);
    QXLCopy *p = &c->drawable.u.copy;

    p->rop_descriptor = SPICE_ROPD_OP_PUT;
    p->src_area = (QXLRect){.right = width_of(box), .bottom = height_of(box)};
    p->src_bitmap = (uintptr_t)noise(c, width_of(box), height_of(box));
    return c;
}

/* Makes an off-screen surface, or ends one. NULL: none is free or there. */
static struct command *change_surfaces(void)
{
    struct command *c;

    if (one_in(3))
        return draw_end_surface();
    for (int n = 1; n <= surfaces; n++) {
        QXLSurface *s;
        if (surface[n].alive || atomic_load(&surface[n].dying))
            continue;
        c = command(QXL_CMD_SURFACE, surface_info);
        c->surface.type = QXL_SURFACE_CMD_CREATE;
        c->surface.surface_id = n;
        s = &c->surface.u.surface_create;
        s->format = SPICE_SURFACE_FMT_32_xRGB;
        s->width = surface_width;
        s->height = surface_height;
        s->stride = surface_width * 4;
        surface[n].pixels = calloc(surface_height, s->stride);
        s->data = (uintptr_t)surface[n].pixels;
        surface[n].alive = 1;
        return c;
    }
    return NULL;
}

struct command *draw_end_surface(void)
{
    int n = living();
    struct command *c;

    if (!n)
        return NULL;
    surface[n].alive = 0;
    atomic_store(&surface[n].dying, 1);
    c = command(QXL_CMD_SURFACE, surface_info);
    c->surface.type = QXL_SURFACE_CMD_DESTROY;
    c->surface.surface_id = n;
    c->dead = &surface[n];
    c->memory[c->count++] = surface[n].pixels;
    return c;
}

static struct command *blending_draw(int on, unsigned kinds)
{
    switch (below(7)) {
    case 0: return blend(on, kinds);
    case 1: return alpha_blend(on, kinds);
    case 2: return transparent(on, kinds);
    case 3: return rop3(on, kinds);
    case 4: return invers(on, kinds);
    case 5: return opaque(on, kinds);
    }
    return stroke(on, kinds);
}

struct command *draw_next(unsigned kinds)
{
    int on = target(kinds);
    struct command *c = NULL;

    switch (below(16)) {
    case 0:
    case 1:
        if (kinds & DRAW_BLENDS)
            return blending_draw(on, kinds);
        break;
    case 2:
    case 10:
        if (kinds & DRAW_MOVES)
            return move(on);
        break;
    case 3:
        if (kinds & DRAW_SURFACES)
            c = change_surfaces();
        if (c)
            return c;
        break;
    case 4:
        return fill(on, kinds);
    case 5:
    case 6:
        if (kinds & DRAW_VIDEO)
            return draw_frame(0);
        break;
    case 7:
    case 8:
        return copy_to(on, somewhere(on, 40, 30), kinds);
    case 9:
        return copy_to(on, somewhere(on, 250, 180), kinds);
    }
    return copy_to(0, again(), DRAW_COPIES);
}
