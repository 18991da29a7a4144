/**
 * Frames, by table. A row says everything that can be checked without knowing the state: who sends the type,
 * how many parts it has, how long it may be, which flags and ids it may carry, and which parts have a fixed
 * size. decode() compares with the row as soon as the twelve header bytes are there, so a lie about the
 * length is refused before its bytes are awaited, let alone stored.
 */
#include "wire/wire.h"

#include "base/limits.h"

#include <assert.h>

#define FROM_HOST      1u
#define FROM_WORKER    2u

#define PART_LEN_BYTES 4u
#define HELLO_MAX      64u /* a version; anything longer is no hello */

struct frame_row {
    enum cm_frame_type type;
    const char *name;
    unsigned from;
    uint8_t n_parts;
    uint8_t flags; /* the ones it may carry */
    bool has_id;   /* id is a call's, > 0; otherwise it is 0 */
    uint32_t max;  /* payload bytes */
    /* Bytes of each part where the format fixes them, 0 where any length will do. */
    uint8_t fixed[CM_WIRE_PARTS_MAX];
};

#define ANY CM_FRAME_MAX_BYTES

static const struct frame_row rows[] = {
    {CM_FRAME_HELLO, "HELLO", FROM_HOST | FROM_WORKER, 1, 0, false, HELLO_MAX, {0}},
    {CM_FRAME_BIND, "BIND", FROM_HOST, 2, 0, false, ANY, {0}},
    {CM_FRAME_RUN, "RUN", FROM_HOST, 4, 0, false, ANY, {0}},
    {CM_FRAME_OUTCOME, "OUTCOME", FROM_HOST, 3, CM_FRAME_ERROR | CM_FRAME_EXECUTE, true, ANY, {12}},
    {CM_FRAME_FINISH, "FINISH", FROM_HOST, 0, 0, false, 0, {0}},
    {CM_FRAME_DROP, "DROP", FROM_HOST, 0, 0, false, 0, {0}},
    {CM_FRAME_CALL, "CALL", FROM_WORKER, 6, 0, true, ANY, {1, 0, 0, 0, 0, 12}},
    {CM_FRAME_STEP, "STEP", FROM_WORKER, 2, CM_FRAME_ERROR, true, ANY, {0}},
    {CM_FRAME_LOG, "LOG", FROM_WORKER, 2, 0, false, ANY, {1}},
    {CM_FRAME_WAIT, "WAIT", FROM_WORKER, 0, CM_FRAME_ENDED | CM_FRAME_ERROR, false, 0, {0}},
    {CM_FRAME_DONE, "DONE", FROM_WORKER, 3, CM_FRAME_ERROR, false, ANY, {0}},
    {CM_FRAME_IDLE, "IDLE", FROM_WORKER, 0, 0, false, 0, {0}},
    {CM_FRAME_CANCEL, "CANCEL", FROM_WORKER, 0, 0, true, 0, {0}},
};

static const struct frame_row *row_of(unsigned type)
{
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        if ((unsigned)rows[i].type == type)
            return &rows[i];
    }
    return NULL;
}

uint32_t cm_wire_get_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint64_t cm_wire_get_u64(const char *p)
{
    return (uint64_t)cm_wire_get_u32(p) | (uint64_t)cm_wire_get_u32(p + 4) << 32;
}

void cm_wire_put_u32(char *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (char)(unsigned char)(v >> (8 * i));
}

void cm_wire_put_u64(char *p, uint64_t v)
{
    cm_wire_put_u32(p, (uint32_t)v);
    cm_wire_put_u32(p + 4, (uint32_t)(v >> 32));
}

int cm_wire_part_count(unsigned type)
{
    const struct frame_row *row = row_of(type);

    return row ? row->n_parts : -1;
}

bool cm_wire_is_from_worker(unsigned type)
{
    const struct frame_row *row = row_of(type);

    return row && (row->from & FROM_WORKER) != 0;
}

/** What the twelve header bytes alone give away. `len` is the payload they announce. */
static cm_status check_header(const struct frame_row *row, unsigned type, uint8_t flags, unsigned zero,
                              uint32_t id, size_t len, size_t max_bytes, struct cm_err *err)
{
    if (!row)
        return cm_err_set(err, CM_E_PROTOCOL, "unknown frame type 0x%02x", type);
    if (zero != 0)
        return cm_err_set(err, CM_E_PROTOCOL, "%s frame: bytes 6 and 7 of the header are not zero",
                          row->name);
    if ((flags & ~(unsigned)row->flags) != 0)
        return cm_err_set(err, CM_E_PROTOCOL, "%s frame: flags 0x%02x, allowed are 0x%02x", row->name, flags,
                          row->flags);
    if (row->has_id != (id != 0))
        return cm_err_set(err, CM_E_PROTOCOL, "%s frame: id %u, expected %s", row->name, id,
                          row->has_id ? "a call's, above 0" : "0");
    /* One without a limit of its own type is not wrong, only too much. */
    if (len < (size_t)row->n_parts * PART_LEN_BYTES || (len > row->max && row->max != ANY))
        return cm_err_set(err, CM_E_PROTOCOL, "%s frame: %zu payload bytes, allowed are %u to %u", row->name,
                          len, row->n_parts * PART_LEN_BYTES, row->max);
    if (len > max_bytes || len > row->max)
        return cm_err_set(err, CM_E_LIMIT, "%s frame: %zu payload bytes, the limit is %zu", row->name, len,
                          max_bytes < row->max ? max_bytes : (size_t)row->max);
    return CM_OK;
}

/** Cut the payload into the row's parts; they must fill it exactly. */
static cm_status cut_parts(const struct frame_row *row, const char *p, size_t len, struct cm_frame *out,
                           struct cm_err *err)
{
    size_t at = 0;

    for (unsigned i = 0; i < row->n_parts; i++) {
        if (len - at < PART_LEN_BYTES)
            return cm_err_set(err, CM_E_PROTOCOL, "%s frame: ends before part %u of %u", row->name, i + 1,
                              row->n_parts);
        uint32_t n = cm_wire_get_u32(p + at);
        at += PART_LEN_BYTES;
        if (n > len - at)
            return cm_err_set(err, CM_E_PROTOCOL, "%s frame: part %u claims %u bytes, %zu are left",
                              row->name, i + 1, n, len - at);
        if (row->fixed[i] != 0 && n != row->fixed[i])
            return cm_err_set(err, CM_E_PROTOCOL, "%s frame: part %u has %u bytes, expected %u", row->name,
                              i + 1, n, row->fixed[i]);
        out->parts[i] = cm_str_mk(p + at, n);
        at += n;
    }
    if (at != len)
        return cm_err_set(err, CM_E_PROTOCOL, "%s frame: %zu bytes behind its last part", row->name,
                          len - at);
    return CM_OK;
}

cm_status cm_wire_decode(const char *p, size_t len, size_t max_bytes, struct cm_frame *out, size_t *used,
                         struct cm_err *err)
{
    if (len < CM_WIRE_HEADER_BYTES) {
        *used = 0;
        return CM_OK;
    }
    size_t payload = cm_wire_get_u32(p);
    unsigned type = (unsigned char)p[4];
    uint8_t flags = (uint8_t)p[5];
    uint32_t id = cm_wire_get_u32(p + 8);
    const struct frame_row *row = row_of(type);
    cm_status st = check_header(row, type, flags, (unsigned char)p[6] | (unsigned char)p[7], id, payload,
                                max_bytes, err);
    if (st != CM_OK)
        return st;
    if (len - CM_WIRE_HEADER_BYTES < payload) {
        *used = 0;
        return CM_OK;
    }
    struct cm_frame f = {.type = row->type, .flags = flags, .id = id, .n_parts = row->n_parts};
    st = cut_parts(row, p + CM_WIRE_HEADER_BYTES, payload, &f, err);
    if (st != CM_OK)
        return st;
    *out = f;
    *used = CM_WIRE_HEADER_BYTES + payload;
    return CM_OK;
}

void cm_wire_encode(struct cm_buf *out, enum cm_frame_type type, uint8_t flags, uint32_t id,
                    const struct cm_str *parts, size_t n_parts)
{
    const struct frame_row *row = row_of(type);
    size_t payload = 0;

    assert(row && row->n_parts == n_parts);
    assert((flags & ~(unsigned)row->flags) == 0 && row->has_id == (id != 0));
    for (size_t i = 0; i < n_parts; i++) {
        assert(row->fixed[i] == 0 || row->fixed[i] == parts[i].len);
        /* No sum can wrap: each part is in memory, and there are at most six. */
        payload += PART_LEN_BYTES + parts[i].len;
    }
    char *at = payload > row->max ? NULL : cm_buf_reserve(out, CM_WIRE_HEADER_BYTES + payload);
    if (!at) {
        out->failed = true;
        return;
    }
    cm_wire_put_u32(at, (uint32_t)payload);
    at[4] = (char)type;
    at[5] = (char)flags;
    at[6] = at[7] = 0;
    cm_wire_put_u32(at + 8, id);
    at += CM_WIRE_HEADER_BYTES;
    for (size_t i = 0; i < n_parts; i++) {
        cm_wire_put_u32(at, (uint32_t)parts[i].len);
        at += PART_LEN_BYTES;
        if (parts[i].len)
            memcpy(at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    out->len += CM_WIRE_HEADER_BYTES + payload;
    out->ptr[out->len] = '\0';
}
