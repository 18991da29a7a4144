#include "base/base.h"
#include "base/fd.h"
#include "loop/loop.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "MARK=42", NULL};

struct seen {
    struct cm_buf out, errs;
    int exit_code, signal, exits;
    int fired;
    cm_child *child;
    cm_timer *timer;
    cm_stream *stream;
    bool ended;
};

static int count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static cm_loop *new_loop(void)
{
    cm_loop *l = NULL;

    assert_int_equal(cm_loop_new(&l, NULL), CM_OK);
    return l;
}

static void a_closed_standard_descriptor_is_an_error_and_no_abort(void **state)
{
    (void)state;
    struct cm_err err = {0};
    cm_loop *l = NULL;
    int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

    assert_true(kept >= 0);
    assert_int_equal(close(STDIN_FILENO), 0);
    cm_status st = cm_loop_new(&l, &err);
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(close(kept), 0);
    assert_int_equal(st, CM_E_INVALID);
    assert_non_null(strstr(err.message, "descriptor 0 is closed"));
}

static void on_out(void *user, struct cm_str b)
{
    cm_buf_add_str(&((struct seen *)user)->out, b);
}

static void on_err(void *user, struct cm_str b)
{
    cm_buf_add_str(&((struct seen *)user)->errs, b);
}

static void on_exit_(void *user, int code, int sig)
{
    struct seen *s = user;

    s->exits++;
    s->exit_code = code;
    s->signal = sig;
}

static const struct cm_child_events child_events = {
    .on_stdout = on_out, .on_stderr = on_err, .on_exit = on_exit_};

static void init_seen(struct seen *s)
{
    *s = (struct seen){.out = CM_BUF_INIT(64u << 20), .errs = CM_BUF_INIT(1u << 20)};
}

static void done_seen(struct seen *s)
{
    cm_buf_done(&s->out);
    cm_buf_done(&s->errs);
}

static void spawn_sh(cm_loop *l, struct seen *s, const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct cm_child_spec spec = {.argv = argv, .env = env, .stderr_events = true};
    struct cm_err err = {0};

    assert_int_equal(cm_child_spawn(l, &spec, &child_events, s, &s->child, &err), CM_OK);
}

static void a_child_gets_its_input_and_its_whole_output_comes_before_its_exit(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    spawn_sh(l, &s, "cat; echo $MARK ${HOME-none}; echo oops >&2; exit 3");
    cm_autofree char *big = cm_malloc(1u << 20);
    memset(big, 'a', 1u << 20);
    assert_int_equal(cm_child_write(s.child, cm_str_mk(big, 1u << 20), NULL), CM_OK);
    cm_child_close_stdin(s.child);
    while (!s.exits && cm_loop_once(l))
        ;
    assert_int_equal(s.exit_code, 3);
    assert_int_equal(s.out.len, (1u << 20) + strlen("42 none\n"));
    assert_string_equal(s.out.ptr + (1u << 20), "42 none\n");
    assert_string_equal(s.errs.ptr, "oops\n");
    cm_child_free(s.child);
    cm_loop_free(l);
    done_seen(&s);
}

static void a_child_that_dies_of_a_signal_says_which(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    spawn_sh(l, &s, "kill -9 $$");
    while (!s.exits && cm_loop_once(l))
        ;
    assert_int_equal(s.signal, SIGKILL);
    cm_child_free(s.child);
    cm_loop_free(l);
    done_seen(&s);
}

static void a_grandchild_holding_the_pipe_does_not_delay_the_exit_for_ever(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    spawn_sh(l, &s, "echo hi; sleep 1000 & exit 0");
    while (!s.exits && cm_loop_once(l))
        ;
    assert_string_equal(s.out.ptr, "hi\n");
    cm_child_kill(s.child, SIGKILL);
    cm_child_free(s.child);
    cm_loop_free(l);
    done_seen(&s);
}

static void a_missing_program_is_named_with_the_path_that_was_searched(void **state)
{
    cm_loop *l = new_loop();
    const char *argv[] = {"no-such-program", NULL};
    struct cm_child_spec spec = {.argv = argv, .env = env};
    struct cm_err err = {0};
    cm_child *c = NULL;

    (void)state;
    assert_int_equal(cm_child_spawn(l, &spec, &child_events, NULL, &c, &err), CM_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "no-such-program"));
    assert_non_null(strstr(err.message, "/usr/local/bin:/usr/bin:/bin"));
    cm_loop_free(l);
}

static void freeing_a_running_child_ends_and_reaps_it(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    spawn_sh(l, &s, "trap '' TERM; echo ready; while :; do sleep 1000; done");
    while (s.out.len == 0 && cm_loop_once(l))
        ;
    pid_t pid = cm_child_pid(s.child);
    cm_child_free(s.child);
    cm_loop_free(l);
    assert_int_equal(s.exits, 0);
    assert_int_equal(kill(pid, 0), -1);
    done_seen(&s);
}

static void a_child_inherits_no_descriptor_of_ours(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;
    int leaky = dup(1); /* without O_CLOEXEC, as an embedder's may be */

    (void)state;
    init_seen(&s);
    spawn_sh(l, &s, "ls /proc/self/fd | tr '\\n' ' '");
    while (!s.exits && cm_loop_once(l))
        ;
    /* 3 is the descriptor that ls itself opens for the folder. */
    assert_string_equal(s.out.ptr, "0 1 2 3 ");
    cm_fd_close(leaky);
    cm_child_free(s.child);
    cm_loop_free(l);
    done_seen(&s);
}

static void count_fire(void *user)
{
    struct seen *s = user;

    s->fired++;
}

static void free_own_timer(void *user)
{
    struct seen *s = user;

    s->fired++;
    cm_timer_free(s->timer);
    s->timer = NULL;
}

static void a_timer_may_be_freed_by_its_own_callback(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    s.timer = cm_timer_new(l, free_own_timer, &s);
    cm_timer_start(s.timer, 1);
    while (cm_loop_once(l))
        ;
    assert_int_equal(s.fired, 1);
    cm_loop_free(l);
}

static void several_posts_are_one_run(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    cm_soon *soon = cm_soon_new(l, count_fire, &s);
    cm_soon_post(soon);
    cm_soon_post(soon);
    assert_int_equal(cm_loop_timeout_ms(l), 0);
    while (cm_loop_once(l))
        ;
    assert_int_equal(s.fired, 1);
    cm_soon_free(soon);
    cm_loop_free(l);
}

static void stream_data(void *user, struct cm_str b)
{
    struct seen *s = user;

    cm_buf_add_str(&s->out, b);
    if (memmem(s->out.ptr, s->out.len, "stop", 4)) {
        cm_stream_free(s->stream);
        s->stream = NULL;
    }
}

static void stream_end(void *user, int eno)
{
    (void)eno;
    ((struct seen *)user)->ended = true;
}

static const struct cm_stream_events stream_events = {.on_data = stream_data, .on_end = stream_end};

static void a_stream_may_be_freed_from_inside_its_data(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;
    int sv[2];

    (void)state;
    init_seen(&s);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    s.stream = cm_stream_new(l, sv[0], sv[0], &stream_events, &s);
    assert_int_equal(cm_write_fd(sv[1], "please stop now", 15, NULL), CM_OK);
    while (s.stream && cm_loop_once(l))
        ;
    assert_false(s.ended);
    cm_fd_close(sv[1]);
    cm_loop_free(l);
    done_seen(&s);
}

static void a_regular_file_is_read_as_a_stream(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;
    char path[] = "/tmp/cm-loop-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    init_seen(&s);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(write(fd, "0123456789", 10), 10);
    (void)lseek(fd, 0, SEEK_SET);
    s.stream = cm_stream_new(l, fd, -1, &stream_events, &s);
    while (!s.ended && cm_loop_once(l))
        ;
    assert_int_equal(s.out.len, 200000);
    cm_stream_free(s.stream);
    cm_loop_free(l);
    (void)unlink(path);
    done_seen(&s);
}

static void writing_to_a_peer_that_hung_up_is_an_error_and_no_signal(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;
    struct cm_err err = {0};
    int sv[2];

    (void)state;
    init_seen(&s);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    s.stream = cm_stream_new(l, -1, sv[0], &stream_events, &s);
    cm_fd_close(sv[1]);
    assert_int_equal(cm_stream_write(s.stream, CM_STR("x"), &err), CM_E_IO);
    cm_stream_free(s.stream);
    cm_loop_free(l);
}

static void say(cm_stream *to, struct cm_str text)
{
    struct cm_buf *queue = cm_stream_begin(to);

    assert_non_null(queue);
    cm_buf_add_str(queue, text);
    assert_int_equal(cm_stream_send(to, NULL), CM_OK);
}

/** Two words, and a third from another callback of the same turn. */
static void say_two(void *user)
{
    struct seen *s = user;

    say(s->stream, cm_str_of(s->fired ? "three" : "one"));
    if (s->fired++ == 0)
        say(s->stream, CM_STR("two"));
}

static void what_is_said_in_one_turn_goes_out_in_one_write_and_before_the_loop_waits(void **state)
{
    cm_loop *l = new_loop();
    cm_soon *first = NULL, *second = NULL;
    struct seen s;
    char packet[64];
    int sv[2];

    (void)state;
    init_seen(&s);
    /* Here each write arrives by itself. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv), 0);
    s.stream = cm_stream_new(l, -1, sv[0], &stream_events, &s);
    first = cm_soon_new(l, say_two, &s);
    second = cm_soon_new(l, say_two, &s);
    cm_soon_post(first);
    cm_soon_post(second);
    cm_loop_nowait(l);
    assert_int_equal(recv(sv[1], packet, sizeof packet, MSG_DONTWAIT), 11);
    assert_memory_equal(packet, "onetwothree", 11);
    /* Outside of a turn nobody knows when the next one is. */
    say(s.stream, CM_STR("now"));
    assert_int_equal(recv(sv[1], packet, sizeof packet, MSG_DONTWAIT), 3);
    cm_stream_free(s.stream);
    cm_soon_free(first);
    cm_soon_free(second);
    cm_fd_close(sv[1]);
    cm_loop_free(l);
    done_seen(&s);
}

static void slow_work(void *user)
{
    ((struct seen *)user)->exits++;
}

static void work_is_done_before_the_loop_is_freed(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    cm_work_post(l, slow_work, count_fire, &s);
    cm_loop_free(l);
    assert_int_equal(s.exits, 1);
    assert_int_equal(s.fired, 1);
}

static void a_hundred_children_leave_no_descriptor_behind(void **state)
{
    cm_loop *l = new_loop();
    int before = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        struct seen s;
        init_seen(&s);
        spawn_sh(l, &s, "echo x");
        while (!s.exits && cm_loop_once(l))
            ;
        cm_child_free(s.child);
        done_seen(&s);
        cm_loop_nowait(l);
        if (i == 0)
            before = count_fds();
    }
    assert_int_equal(count_fds(), before);
    cm_loop_free(l);
}

static void no_signal_handler_is_installed(void **state)
{
    cm_loop *l = new_loop();
    struct seen s;

    (void)state;
    init_seen(&s);
    spawn_sh(l, &s, "exit 0");
    while (!s.exits && cm_loop_once(l))
        ;
    for (int sig = 1; sig < 32; sig++) {
        struct sigaction sa;
        if (sigaction(sig, NULL, &sa) == 0)
            assert_true(sa.sa_handler == SIG_DFL || sa.sa_handler == SIG_IGN || sig == SIGSEGV ||
                        sig == SIGILL || sig == SIGFPE || sig == SIGBUS || sig == SIGSYS || sig == SIGABRT);
    }
    cm_child_free(s.child);
    cm_loop_free(l);
    done_seen(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_standard_descriptor_is_an_error_and_no_abort),
        cmocka_unit_test(a_child_gets_its_input_and_its_whole_output_comes_before_its_exit),
        cmocka_unit_test(a_child_that_dies_of_a_signal_says_which),
        cmocka_unit_test(a_grandchild_holding_the_pipe_does_not_delay_the_exit_for_ever),
        cmocka_unit_test(a_missing_program_is_named_with_the_path_that_was_searched),
        cmocka_unit_test(freeing_a_running_child_ends_and_reaps_it),
        cmocka_unit_test(a_child_inherits_no_descriptor_of_ours),
        cmocka_unit_test(a_timer_may_be_freed_by_its_own_callback),
        cmocka_unit_test(several_posts_are_one_run),
        cmocka_unit_test(a_stream_may_be_freed_from_inside_its_data),
        cmocka_unit_test(a_regular_file_is_read_as_a_stream),
        cmocka_unit_test(writing_to_a_peer_that_hung_up_is_an_error_and_no_signal),
        cmocka_unit_test(what_is_said_in_one_turn_goes_out_in_one_write_and_before_the_loop_waits),
        cmocka_unit_test(work_is_done_before_the_loop_is_freed),
        cmocka_unit_test(a_hundred_children_leave_no_descriptor_behind),
        cmocka_unit_test(no_signal_handler_is_installed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
