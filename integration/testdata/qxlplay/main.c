/* A spice server that plays random QXL commands and tells what its own picture is.
 *
 *   qxlplay PORT COMPRESSION JPEG ZLIB
 *
 * serves 127.0.0.1:PORT without a password, with image compressions by their
 * numbers in spice.h, and does what the lines on its standard input say, each
 * answered by a line once it is done:
 *
 *   screen WIDTH HEIGHT                       another primary surface, with the key box
 *   streams HOW                               by the numbers of spice.h
 *   play SEED COUNT PER_SECOND KINDS          see draw.h; PER_SECOND 0: at once
 *   show FILE PER_SECOND                      copies of the pixels in a file, see show()
 *   video FRAMES AHEAD                        the last to be shown AHEAD ms later
 *   end-video                                 a frame, and later what changes its place
 *   dump FILE                                 writes the primary surface as PPM
 *
 * The end of the input ends the program. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw.h"
#include "loop.h"

static SpiceServer *server;
static QXLInstance qxl;
static int width, height;
static uint8_t *primary;

/* The commands that the worker has not fetched, the oldest first. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct command *oldest, **newest = &oldest;
static int waiting;

enum { ring = QXL_COMMAND_RING_SIZE };

static int queued(void)
{
    int n;

    pthread_mutex_lock(&lock);
    n = waiting;
    pthread_mutex_unlock(&lock);
    return n;
}

/* Gives the worker n commands at once, as soon as there is room. */
static void submit_all(struct command **c, int n)
{
    while (queued() + n > ring)
        loop_step(2);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        *newest = c[i];
        newest = &c[i]->next;
    }
    waiting += n;
    pthread_mutex_unlock(&lock);
    spice_qxl_wakeup(&qxl);
}

static void submit(struct command *c)
{
    submit_all(&c, 1);
}

static void drain(void)
{
    while (queued() > 0)
        loop_step(2);
}

/* The device, called by the worker's thread. */

static void attached(QXLInstance *q) { (void)q; }
static void set_compression_level(QXLInstance *q, int level) { (void)q; (void)level; }

static void get_init_info(QXLInstance *q, QXLDevInitInfo *info)
{
    (void)q;
    *info = (QXLDevInitInfo){
        .num_memslots_groups = 1, .num_memslots = 1, .memslot_gen_bits = 8, .memslot_id_bits = 8,
        .qxl_ram_size = 16 << 20, .n_surfaces = 64,
    };
}

static int get_command(QXLInstance *q, QXLCommandExt *out)
{
    struct command *c;

    (void)q;
    pthread_mutex_lock(&lock);
    c = oldest;
    if (c) {
        oldest = c->next;
        if (!oldest)
            newest = &oldest;
        waiting--;
        *out = c->ext;
    }
    pthread_mutex_unlock(&lock);
    return c != NULL;
}

static int req_cmd_notification(QXLInstance *q)
{
    (void)q;
    return queued() == 0;
}

static void release_resource(QXLInstance *q, QXLReleaseInfoExt released)
{
    (void)q;
    draw_release(released.info);
}

static int get_cursor_command(QXLInstance *q, QXLCommandExt *out) { (void)q; (void)out; return 0; }
static int req_cursor_notification(QXLInstance *q) { (void)q; return 1; }
static void notify_update(QXLInstance *q, uint32_t id) { (void)q; (void)id; }
static int flush_resources(QXLInstance *q) { (void)q; return 0; }
static void async_complete(QXLInstance *q, uint64_t cookie) { (void)q; (void)cookie; }

static void update_area_complete(QXLInstance *q, uint32_t surface, QXLRect *rects, uint32_t count)
{
    (void)q; (void)surface; (void)rects; (void)count;
}

static void set_client_capabilities(QXLInstance *q, uint8_t present, uint8_t *caps) { (void)q; (void)present; (void)caps; }
static int client_monitors_config(QXLInstance *q, VDAgentMonitorsConfig *c) { (void)q; (void)c; return 0; }

static QXLInterface device = {
    .base = {SPICE_INTERFACE_QXL, "qxlplay", SPICE_INTERFACE_QXL_MAJOR, SPICE_INTERFACE_QXL_MINOR},
    .attached_worker = attached,
    .set_compression_level = set_compression_level,
    .get_init_info = get_init_info,
    .get_command = get_command,
    .req_cmd_notification = req_cmd_notification,
    .release_resource = release_resource,
    .get_cursor_command = get_cursor_command,
    .req_cursor_notification = req_cursor_notification,
    .notify_update = notify_update,
    .flush_resources = flush_resources,
    .async_complete = async_complete,
    .update_area_complete = update_area_complete,
    .set_client_capabilities = set_client_capabilities,
    .client_monitors_config = client_monitors_config,
};

/* What the lines say. */

/* The key box of the measuring guest, by which tests find the screen, is alone in
 * a strip at the left. Its colour changes with the end of every play. */
enum { box_at = 16, box_side = 96, strip = 144 };

static int plays;

static void draw_key_box(void)
{
    submit(draw_box(box_at, box_at, box_at + box_side, box_at + box_side, plays % 2 ? 0x40ff40 : 0xff4040));
}

static void set_screen(int w, int h)
{
    QXLDevSurfaceCreate create = {
        .width = w, .height = h, .stride = w * 4, .format = SPICE_SURFACE_FMT_32_xRGB, .mouse_mode = 1,
    };
    struct command *c;

    while ((c = draw_end_surface()))
        submit(c);
    drain();
    if (primary)
        spice_qxl_destroy_primary_surface(&qxl, 0);
    free(primary);
    width = w;
    height = h;
    primary = calloc(h, w * 4);
    create.mem = (uintptr_t)primary;
    spice_qxl_create_primary_surface(&qxl, 0, &create);
    draw_area(strip, w, h);
    submit(draw_box(0, 0, w, h, 0x102040));
    draw_key_box();
    drain();
}

static void play(uint64_t seed, int count, int per_second, unsigned kinds)
{
    uint64_t began = loop_now();

    draw_seed(seed);
    for (int i = 0; i < count; i++) {
        while (per_second && (loop_now() - began) * per_second < (uint64_t)i * 1000)
            loop_step(2);
        submit(draw_next(kinds));
    }
    plays++;
    draw_key_box();
    drain();
}

static int within_screen(int at, int length, int limit)
{
    return at >= 0 && length >= 0 && length <= limit && at <= limit - length;
}

/* Shows a film: records of left, top, width and height, each an int32 of this
 * machine, and the pixels, four bytes each, row by row. One without a width ends a
 * frame. PER_SECOND 0: at once. A file that ends within a record, or has one that
 * leaves the screen, is an error. */
static int show(const char *file, int per_second)
{
    uint64_t began = loop_now();
    struct { int32_t left, top, width, height; } r;
    FILE *in = fopen(file, "r");
    size_t got;
    int frames = 0, ok = 1;

    if (!in)
        return -1;
    while (ok && (got = fread(&r, 1, sizeof r, in)) > 0) {
        void *pixels;
        struct command *c;

        ok = got == sizeof r && within_screen(r.left, r.width, width) && within_screen(r.top, r.height, height);
        if (!ok)
            break;
        if (!r.width) {
            frames++;
            while (per_second && (loop_now() - began) * per_second < (uint64_t)frames * 1000)
                loop_step(2);
            continue;
        }
        c = draw_pixels(r.left, r.top, r.width, r.height, &pixels);
        ok = fread(pixels, (size_t)r.width * 4, r.height, in) == (size_t)r.height;
        submit(c);
    }
    ok = ok && !ferror(in);
    fclose(in);
    drain();
    if (!ok)
        errno = EIO;
    return ok ? 0 : -1;
}

/* Frames of a video at 25 a second, the last of them to be shown so much later. */
static void video(int frames, int ahead_ms)
{
    enum { interval_ms = 40 };

    while (frames-- > 0) {
        uint64_t next = loop_now() + interval_ms;

        submit(draw_frame(frames ? 0 : ahead_ms));
        while (loop_now() < next)
            loop_step(2);
    }
}

/* The video's next frame, much else, and then what ends the video, all at once. */
static void end_video(void)
{
    enum { lines = 5 };
    struct command *all[lines + 2];
    int n = 0;

    all[n++] = draw_frame(0);
    for (int i = 0; i < lines; i++)
        all[n++] = draw_below_video(i);
    all[n++] = draw_on_video();
    submit_all(all, n);
    plays++;
    draw_key_box();
    drain();
}

static int dump(const char *file)
{
    QXLRect all = {.right = width, .bottom = height};
    FILE *out = fopen(file, "w");
    int failed;

    if (!out)
        return -1;
    spice_qxl_update_area(&qxl, 0, &all, NULL, 0, 0);
    fprintf(out, "P6\n%d %d\n255\n", width, height);
    for (int i = 0; i < width * height; i++) {
        uint8_t *p = primary + 4 * i;
        fputc(p[2], out);
        fputc(p[1], out);
        fputc(p[0], out);
    }
    failed = ferror(out);
    return fclose(out) == 0 && !failed ? 0 : -1;
}

static void obey(const char *line)
{
    unsigned long long seed;
    int a, b, c;
    char file[4096];

    if (sscanf(line, "screen %d %d", &a, &b) == 2) {
        set_screen(a, b);
    } else if (sscanf(line, "streams %d", &a) == 1) {
        spice_server_set_streaming_video(server, a);
    } else if (sscanf(line, "play %llu %d %d %d", &seed, &a, &b, &c) == 4) {
        play(seed, a, b, c);
    } else if (sscanf(line, "show %4095s %d", file, &a) == 2) {
        if (show(file, a) < 0) {
            printf("QXLPLAY ERROR %s: %s\n", file, strerror(errno));
            return;
        }
    } else if (sscanf(line, "video %d %d", &a, &b) == 2) {
        video(a, b);
    } else if (strcmp(line, "end-video") == 0) {
        end_video();
    } else if (sscanf(line, "dump %4095s", file) == 1) {
        if (dump(file) < 0) {
            printf("QXLPLAY ERROR %s: %s\n", file, strerror(errno));
            return;
        }
    } else {
        printf("QXLPLAY ERROR what is %s\n", line);
        return;
    }
    printf("QXLPLAY DONE %s\n", line);
}

/* The next line of the input, NULL at its end. The loop goes on meanwhile. */
static const char *next_line(void)
{
    static char buffer[8192];
    static size_t used, taken;
    char *end;

    memmove(buffer, buffer + taken, used -= taken);
    taken = 0;
    while (!(end = memchr(buffer, '\n', used))) {
        ssize_t n = read(STDIN_FILENO, buffer + used, sizeof buffer - used);
        if (n == 0)
            return NULL;
        if (n > 0)
            used += n;
        else
            loop_step(10);
    }
    *end = 0;
    taken = end + 1 - buffer;
    return buffer;
}

int main(int argc, char **argv)
{
    QXLDevMemSlot memory = {.virt_end = UINTPTR_MAX};
    const char *line;

    if (argc != 5) {
        fprintf(stderr, "usage: qxlplay PORT COMPRESSION JPEG ZLIB\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    server = spice_server_new();
    spice_server_set_addr(server, "127.0.0.1", 0);
    spice_server_set_port(server, atoi(argv[1]));
    spice_server_set_noauth(server);
    spice_server_set_image_compression(server, atoi(argv[2]));
    spice_server_set_jpeg_compression(server, atoi(argv[3]));
    spice_server_set_zlib_glz_compression(server, atoi(argv[4]));
    if (spice_server_init(server, &loop_core) < 0) {
        fprintf(stderr, "qxlplay: cannot serve port %s\n", argv[1]);
        return 1;
    }
    qxl.base.sif = &device.base;
    spice_server_add_interface(server, &qxl.base);
    spice_qxl_add_memslot(&qxl, &memory);
    spice_server_vm_start(server);
    set_screen(1024, 768);
    printf("QXLPLAY DONE start\n");
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    while ((line = next_line()))
        obey(line);
    return 0;
}
