/* Frames: a stream of them as a worker could send it. What was decoded lies inside the input, and encoding it
 * again gives the bytes it came from. */
#include "fuzz.h"
#include "wire/wire.h"

#define FRAME_MAX_BYTES (64U << 10)

static void lies_inside(const struct cm_frame *f, const char *p, size_t len)
{
    for (size_t i = 0; i < f->n_parts; i++) {
        CM_MUST(f->parts[i].ptr >= p && f->parts[i].ptr + f->parts[i].len <= p + len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data;
    struct cm_err err = {0};

    while (size > 0) {
        struct cm_frame f = {0};
        cm_autobuf again = CM_BUF_INIT((size_t)FRAME_MAX_BYTES * 2);
        size_t used = 0;
        if (cm_wire_decode(p, size, FRAME_MAX_BYTES, &f, &used, &err) != CM_OK || used == 0)
            return 0;
        CM_MUST(used <= size);
        lies_inside(&f, p, used);
        CM_MUST((int)f.n_parts == cm_wire_part_count(f.type));
        cm_wire_encode(&again, f.type, f.flags, f.id, f.parts, f.n_parts);
        CM_MUST(cm_str_eq(cm_buf_str(&again), cm_str_mk(p, used)));
        p += used;
        size -= used;
    }
    return 0;
}
