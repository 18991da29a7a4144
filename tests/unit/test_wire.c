/** The frames between host and worker: what decodes, what waits for more, and what ends the worker. */
#include "wire/wire.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define MAX 4096

static const char pos[12] = {3, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0};

static void add_call(struct cm_buf *b, uint32_t id)
{
    const struct cm_str parts[] = {CM_STR("\0"),        CM_STR("github"), CM_STR("create_issue"),
                                   CM_STR("{\"a\":1}"), CM_STR(""),       {pos, sizeof(pos)}};

    cm_wire_encode(b, CM_FRAME_CALL, 0, id, parts, 6);
}

static void a_frame_comes_back_as_it_was_sent(void **state)
{
    (void)state;
    cm_autobuf b = CM_BUF_INIT(MAX);
    struct cm_frame f;
    size_t used = 0;

    add_call(&b, 9);
    add_call(&b, 10);
    assert_int_equal(cm_wire_decode(b.ptr, b.len, MAX, &f, &used, NULL), CM_OK);
    assert_int_equal(used, b.len / 2);
    assert_int_equal(f.type, CM_FRAME_CALL);
    assert_int_equal(f.id, 9);
    assert_int_equal(f.n_parts, 6);
    assert_true(cm_str_eq_z(f.parts[1], "github"));
    assert_true(cm_str_eq_z(f.parts[3], "{\"a\":1}"));
    assert_int_equal(f.parts[4].len, 0);
    assert_int_equal(cm_wire_get_u32(f.parts[5].ptr + 4), 7);
    size_t first = used;
    assert_int_equal(cm_wire_decode(b.ptr + first, b.len - first, MAX, &f, &used, NULL), CM_OK);
    assert_int_equal(f.id, 10);
}

static void a_frame_cut_anywhere_waits_for_more(void **state)
{
    (void)state;
    cm_autobuf b = CM_BUF_INIT(MAX);

    add_call(&b, 1);
    for (size_t n = 0; n < b.len; n++) {
        struct cm_frame f;
        size_t used = 99;
        assert_int_equal(cm_wire_decode(b.ptr, n, MAX, &f, &used, NULL), CM_OK);
        assert_int_equal(used, 0);
    }
}

static void numbers_are_little_endian(void **state)
{
    (void)state;
    char p[8];

    cm_wire_put_u64(p, 0x8877665544332211u);
    assert_int_equal((unsigned char)p[0], 0x11);
    assert_int_equal((unsigned char)p[7], 0x88);
    assert_true(cm_wire_get_u64(p) == 0x8877665544332211u);
    assert_int_equal(cm_wire_get_u32(p), 0x44332211u);
}

static void an_encoder_past_its_maximum_fails_and_adds_nothing(void **state)
{
    (void)state;
    cm_autobuf b = CM_BUF_INIT(20);
    const struct cm_str part = CM_STR("0123456789");

    cm_wire_encode(&b, CM_FRAME_HELLO, 0, 0, &part, 1);
    assert_true(b.failed);
    assert_int_equal(b.len, 0);
}

/** One change to a good CALL frame, the status it must give and a word of the message. */
struct broken {
    const char *what;
    size_t offset;
    unsigned char byte;
    cm_status st;
    const char *word;
};

static const struct broken broken[] = {
    {"unknown type", 4, 0x70, CM_E_PROTOCOL, "unknown frame type 0x70"},
    {"flag that the type does not have", 5, 1, CM_E_PROTOCOL, "flags"},
    {"reserved bytes set", 7, 1, CM_E_PROTOCOL, "not zero"},
    {"id 0 for a call", 8, 0, CM_E_PROTOCOL, "id 0"},
    {"payload over the caller's limit", 1, 0x20, CM_E_LIMIT, "the limit is 4096"},
    {"payload over the ceiling of the format", 3, 0xff, CM_E_LIMIT, "the limit is 4096"},
    {"payload too short for its parts", 0, 3, CM_E_PROTOCOL, "payload bytes"},
    {"part longer than the frame", 15, 0x7f, CM_E_PROTOCOL, "claims"},
    {"fixed part of another size", 12, 2, CM_E_PROTOCOL, "expected 1"},
    {"a part that hides the last one", 17, 16, CM_E_PROTOCOL, "part"},
};

static void a_broken_frame_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(broken); i++) {
        cm_autobuf b = CM_BUF_INIT(MAX);
        struct cm_frame f;
        struct cm_err err = {0};
        size_t used = 99;

        add_call(&b, 1);
        b.ptr[broken[i].offset] = (char)broken[i].byte;
        cm_status st = cm_wire_decode(b.ptr, b.len, MAX, &f, &used, &err);
        if (st != broken[i].st || !strstr(err.message, broken[i].word))
            fail_msg("%s: status %d, message '%s'", broken[i].what, (int)st, err.message);
        assert_int_equal(used, 99);
    }
}

static void a_lie_about_the_length_is_refused_from_the_header_alone(void **state)
{
    (void)state;
    static const char header[CM_WIRE_HEADER_BYTES] = {0, 0, 0, (char)0xf0, (char)CM_FRAME_DONE};
    struct cm_frame f;
    size_t used = 0;

    assert_int_equal(cm_wire_decode(header, sizeof(header), CM_FRAME_MAX_BYTES, &f, &used, NULL), CM_E_LIMIT);
}

static void bytes_behind_the_last_part_are_refused(void **state)
{
    (void)state;
    cm_autobuf b = CM_BUF_INIT(MAX);
    const struct cm_str part = CM_STR("1");
    struct cm_frame f;
    struct cm_err err = {0};
    size_t used = 0;

    cm_wire_encode(&b, CM_FRAME_HELLO, 0, 0, &part, 1);
    cm_buf_add_char(&b, 'x');
    cm_wire_put_u32(b.ptr, 6);
    assert_int_equal(cm_wire_decode(b.ptr, b.len, MAX, &f, &used, &err), CM_E_PROTOCOL);
    assert_non_null(strstr(err.message, "behind its last part"));
}

static void every_type_has_a_direction_and_a_part_count(void **state)
{
    (void)state;
    assert_int_equal(cm_wire_part_count(CM_FRAME_CALL), 6);
    assert_int_equal(cm_wire_part_count(CM_FRAME_WAIT), 0);
    assert_int_equal(cm_wire_part_count(0x70), -1);
    assert_true(cm_wire_is_from_worker(CM_FRAME_HELLO));
    assert_true(cm_wire_is_from_worker(CM_FRAME_DONE));
    assert_false(cm_wire_is_from_worker(CM_FRAME_RUN));
    assert_false(cm_wire_is_from_worker(0x70));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_comes_back_as_it_was_sent),
        cmocka_unit_test(a_frame_cut_anywhere_waits_for_more),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(an_encoder_past_its_maximum_fails_and_adds_nothing),
        cmocka_unit_test(a_broken_frame_is_named),
        cmocka_unit_test(a_lie_about_the_length_is_refused_from_the_header_alone),
        cmocka_unit_test(bytes_behind_the_last_part_are_refused),
        cmocka_unit_test(every_type_has_a_direction_and_a_part_count),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
