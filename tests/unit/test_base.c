#include "base/base.h"
#include "base/fd.h"
#include "base/names.h"
#include "base/parse.h"
#include "base/random.h"
#include "base/secrets.h"
#include "base/utf8.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/sanitize.h"

#include "unit.h"

static void a_buffer_stops_at_its_maximum_and_says_so(void **state)
{
    cm_autobuf b = CM_BUF_INIT(10);
    struct cm_err err;

    (void)state;
    cm_buf_add_z(&b, "12345");
    cm_buf_addf(&b, "%d", 67890);
    assert_int_equal(cm_buf_check(&b, "text", &err), CM_OK);
    cm_buf_add_char(&b, 'x');
    assert_int_equal(cm_buf_check(&b, "text", &err), CM_E_LIMIT);
    assert_false(b.no_memory);
    assert_string_equal(err.message, "text is larger than the limit of 10 bytes");
    assert_string_equal(b.ptr, "1234567890");
}

#if !CM_SANITIZED /* which end the process where a machine has no such memory */
static void a_buffer_that_gets_no_memory_says_so(void **state)
{
    cm_autobuf b = CM_BUF_INIT((size_t)1 << 60);
    struct cm_err err;

    (void)state;
    cm_buf_add_z(&b, "x");
    assert_null(cm_buf_reserve(&b, (size_t)1 << 55));
    assert_int_equal(cm_buf_check(&b, "the list", &err), CM_E_NOMEM);
    assert_string_equal(err.message, "out of memory for the list");
    cm_buf_clear(&b);
    assert_int_equal(cm_buf_check(&b, "the list", &err), CM_OK);
}
#endif

static void an_error_keeps_its_status_and_gains_context_in_front(void **state)
{
    struct cm_err err;

    (void)state;
    assert_int_equal(cm_err_errno(&err, ENOENT, "open '%s'", "x"), CM_E_NOT_FOUND);
    assert_int_equal(cm_err_prefix(&err, "spec '%s'", "pets"), CM_E_NOT_FOUND);
    assert_string_equal(err.message, "spec 'pets': open 'x': No such file or directory");
}

static void a_prefix_never_overruns_a_full_message(void **state)
{
    struct cm_err err;
    char big[CM_ERR_MAX_BYTES * 2];

    (void)state;
    memset(big, 'y', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    (void)cm_err_set(&err, CM_E_IO, "%s", big);
    (void)cm_err_prefix(&err, "%s", big);
    assert_int_equal(strlen(err.message), CM_ERR_MAX_BYTES - 1);
}

static void names_become_identifiers(void **state)
{
    static const char *const rows[][2] = {
        {"list-open.items", "list_open_items"},
        {"2fa-reset", "_2fa_reset"},
        {"delete", "delete_"},
        {"Delete", "Delete"},
        {"a--b", "a__b"},
        {"...", "___"},
        {"issues/create", "issues_create"},
        {"@#!", "_"},
        {"", "_"},
        {"@#$", "$"},
    };

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        cm_autofree char *got = cm_name_to_identifier(cm_str_of(rows[i][0]));
        assert_string_equal(got, rows[i][1]);
        assert_true(cm_name_is_identifier(cm_str_of(got)));
    }
    assert_false(cm_name_is_identifier(CM_STR("await")));
    assert_false(cm_name_is_identifier(CM_STR("a-b")));
}

static void a_transposed_letter_is_one_edit(void **state)
{
    (void)state;
    assert_int_equal(cm_name_distance(CM_STR("create_isuse"), CM_STR("create_issue")), 1);
    assert_int_equal(cm_name_distance(CM_STR("Create"), CM_STR("create")), 0);
    assert_int_equal(cm_name_distance(CM_STR(""), CM_STR("abc")), 3);
}

static void numbers_are_whole_and_in_range(void **state)
{
    static const char *const bad[] = {"", "-", "1x", " 1", "4294967296", "-1", "99999999999999999999"};
    struct cm_err err;
    uint32_t v = 7;
    int64_t w = 0;

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(bad); i++)
        assert_int_equal(cm_parse_u32(cm_str_of(bad[i]), &v, &err), CM_E_INVALID);
    assert_int_equal(v, 7);
    assert_int_equal(cm_parse_u32(CM_STR("4294967295"), &v, &err), CM_OK);
    assert_int_equal(v, UINT32_MAX);
    assert_int_equal(cm_parse_i64(CM_STR("-9223372036854775808"), &w, &err), CM_OK);
    assert_true(w == INT64_MIN);
}

static void a_secret_is_found_in_every_spelling(void **state)
{
    cm_secrets *s = cm_secrets_new();
    size_t len = 0;

    (void)state;
    cm_secrets_add(s, CM_STR("to\"ken/42"), "headers.X-Key");
    cm_secrets_add(s, CM_STR("abc"), "short");
    assert_null(cm_secrets_redact(s, CM_STR("nothing abc here"), &len));
    cm_autofree char *raw = cm_secrets_redact(s, CM_STR("a to\"ken/42 b to\"ken/42"), &len);
    assert_string_equal(raw, "a [secret headers.X-Key] b [secret headers.X-Key]");
    cm_autofree char *json = cm_secrets_redact(s, CM_STR("{\"k\":\"to\\\"ken/42\"}"), &len);
    assert_string_equal(json, "{\"k\":\"[secret headers.X-Key]\"}");
    cm_autofree char *pct = cm_secrets_redact(s, CM_STR("?q=to%22ken%2F42"), &len);
    assert_string_equal(pct, "?q=[secret headers.X-Key]");
    cm_autofree char *b64 = cm_secrets_redact(s, CM_STR("dG8ia2VuLzQy"), &len);
    assert_string_equal(b64, "[secret headers.X-Key]");
    cm_secrets_free(s);
}

static void a_method_gets_no_name_that_javascript_asks_every_object_for(void **state)
{
    static const char *const rows[][2] = {
        {"then", "then_"},           {"to-json", "to_json"}, {"toJSON", "toJSON_"},
        {"__proto__", "__proto___"}, {"catch", "catch_"},    {"thenable", "thenable"},
    };

    (void)state;
    for (size_t i = 0; i < CM_ARRAY_LEN(rows); i++) {
        cm_autofree char *got = cm_name_to_method(cm_str_of(rows[i][0]));
        assert_string_equal(got, rows[i][1]);
    }
}

/** Each of these came back from a server unmarked once. */
static void a_secret_with_line_breaks_is_found_in_json_within_json_and_amid_base64(void **state)
{
    static const char *const texts[] = {
        "{\"k\":\"-key-\\nab/cd!\\t\"}",                      /* a string of JSON */
        "{\"m\":\"400: {\\\"k\\\":\\\"-key-\\\\nab/cd!\\\\t", /* JSON text in a string of JSON */
        "-key-\\nab\\/cd!\\t",                                /* as PHP writes it */
        "-key-\\\\nab\\\\/cd!\\\\t",
        "-key-%0Aab%2Fcd!%09",  /* as encodeURIComponent does */
        "eC1rZXktCmFiL2NkIQk=", /* base64 of "x" and it */
        "eHgta2V5LQphYi9jZCEJ", /* and of "xx" and it */
    };
    cm_secrets *s = cm_secrets_new();

    (void)state;
    cm_secrets_add(s, CM_STR("-key-\nab/cd!\t"), "k");
    for (size_t i = 0; i < CM_ARRAY_LEN(texts); i++) {
        cm_autofree char *clean = cm_secrets_redact(s, cm_str_of(texts[i]), NULL);
        if (!clean || !strstr(clean, "[secret k]"))
            fail_msg("kept: %s", texts[i]);
    }
    cm_secrets_free(s);
}

static void a_text_full_of_secrets_is_neither_cut_nor_searched_for_ever(void **state)
{
    enum { TIMES = 200000 };
    cm_secrets *s = cm_secrets_new();
    char label[301] = "";
    size_t len = 0;

    (void)state;
    memset(label, 'l', 300);
    cm_secrets_add(s, CM_STR("sesame"), label);
    cm_secrets_add(s, CM_STR("never-there"),
                   "other"); /* searched for to the end after each hit, it took minutes */
    cm_autobuf b = CM_BUF_INIT(TIMES * 8);
    for (int i = 0; i < TIMES; i++)
        cm_buf_add_z(&b, "sesame");
    cm_autofree char *clean = cm_secrets_redact(s, cm_buf_str(&b), &len);
    assert_int_equal(len % TIMES, 0);
    assert_memory_equal(clean + len - 3, "ll]", 3);
    cm_secrets_free(s);
}

static void invalid_utf8_is_repaired_and_never_split(void **state)
{
    size_t len = 0;

    (void)state;
    cm_autofree char *fixed = cm_utf8_repair(CM_STR("a\xff\xed\xa0\x80z"), &len);
    assert_string_equal(fixed, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
    assert_int_equal(cm_utf8_cut(CM_STR("a\xc3\xa9z"), 2), 1);
    assert_int_equal(cm_utf8_valid_prefix(CM_STR("ok\xf4\x90\x80\x80")), 2);
}

static void writing_to_a_closed_pipe_raises_no_signal(void **state)
{
    int p[2];

    (void)state;
    assert_int_equal(pipe(p), 0);
    cm_fd_close(p[0]);
    assert_int_equal(cm_write_nosigpipe(p[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    cm_fd_close(p[1]);
}

static void a_file_larger_than_its_limit_is_refused(void **state)
{
    char path[] = "/tmp/cm-base-XXXXXX";
    int fd = mkstemp(path);
    struct cm_err err;
    char *text = NULL;

    (void)state;
    assert_int_equal(cm_write_fd(fd, "12345678901", 11, &err), CM_OK);
    cm_fd_close(fd);
    assert_int_equal(cm_read_file(path, 10, &text, NULL, &err), CM_E_LIMIT);
    assert_non_null(strstr(err.message, path));
    assert_null(text);
    assert_int_equal(cm_read_file(path, 11, &text, NULL, &err), CM_OK);
    assert_string_equal(text, "12345678901");
    free(text);
    (void)unlink(path);
}

static void every_uuid_is_new_and_of_version_4(void **state)
{
    char a[37], b[37];

    (void)state;
    cm_random_uuid(a);
    cm_random_uuid(b);
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_stops_at_its_maximum_and_says_so),
#if !CM_SANITIZED
        cmocka_unit_test(a_buffer_that_gets_no_memory_says_so),
#endif
        cmocka_unit_test(an_error_keeps_its_status_and_gains_context_in_front),
        cmocka_unit_test(a_prefix_never_overruns_a_full_message),
        cmocka_unit_test(names_become_identifiers),
        cmocka_unit_test(a_transposed_letter_is_one_edit),
        cmocka_unit_test(numbers_are_whole_and_in_range),
        cmocka_unit_test(a_method_gets_no_name_that_javascript_asks_every_object_for),
        cmocka_unit_test(a_secret_is_found_in_every_spelling),
        cmocka_unit_test(a_secret_with_line_breaks_is_found_in_json_within_json_and_amid_base64),
        cmocka_unit_test(a_text_full_of_secrets_is_neither_cut_nor_searched_for_ever),
        cmocka_unit_test(invalid_utf8_is_repaired_and_never_split),
        cmocka_unit_test(writing_to_a_closed_pipe_raises_no_signal),
        cmocka_unit_test(a_file_larger_than_its_limit_is_refused),
        cmocka_unit_test(every_uuid_is_new_and_of_version_4),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
