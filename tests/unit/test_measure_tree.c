// Run time of process trees, on real processes that use a known least of CPU time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/clock.h"
#include "measure/proc.h"

enum { MS = 1000000 };

static void burn(uint64_t run_ns)
{
    while (tlc_thread_cpu_ns() < run_ns)
        continue;
}

// A process that obeys one-letter commands: 'b' burn 20 ms more, 'f' fork a child that obeys what
// follows on the same pipe, 'q' end. It answers each with its pid, or that of its child.
struct puppet {
    pid_t pid;
    int commands, answers;
};

static void obey(int commands, int answers)
{
    char command;
    while (read(commands, &command, 1) == 1) {
        pid_t answer = getpid();
        if (command == 'b')
            burn(tlc_thread_cpu_ns() + 20 * MS);
        if (command == 'f') {
            answer = fork();
            if (answer == 0) {
                prctl(PR_SET_NAME, "a) R 1 (b\n");
                answer = getpid();
            } else {
                for (;;)
                    pause(); // the child reads the commands from now on
            }
        }
        if (write(answers, &answer, sizeof answer) != (ssize_t)sizeof answer || command == 'q')
            break;
    }
    _exit(0);
}

static struct puppet start(void)
{
    int commands[2], answers[2];
    assert_int_equal(pipe(commands), 0);
    assert_int_equal(pipe(answers), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(commands[1]);
        close(answers[0]);
        obey(commands[0], answers[1]);
    }
    close(commands[0]);
    close(answers[1]);
    return (struct puppet){pid, commands[1], answers[0]};
}

static pid_t command(const struct puppet *puppet, char letter)
{
    pid_t answer;
    assert_int_equal(write(puppet->commands, &letter, 1), 1);
    assert_int_equal(read(puppet->answers, &answer, sizeof answer), sizeof answer);
    return answer;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void drop(const struct puppet *puppet)
{
    close(puppet->commands);
    close(puppet->answers);
}

static void a_tree_is_the_sum_of_its_processes(void **state)
{
    (void)state;
    struct puppet root = start();
    command(&root, 'b');
    pid_t child = command(&root, 'f');
    command(&root, 'b');
    unsigned processes = 0;
    uint64_t run_ns = tlc_tree_cpu_ns(root.pid, &processes);
    assert_int_equal(processes, 2);
    assert_true(tlc_process_cpu_ns(root.pid) >= 20 * MS);
    assert_true(tlc_process_cpu_ns(child) >= 20 * MS);
    assert_true(run_ns >= 40 * MS);
    assert_true(tlc_tree_memory_bytes(root.pid) >= tlc_tree_memory_bytes(child));
    assert_true(tlc_tree_memory_bytes(child) > 0);
    end(root.pid);
    end(child);
    drop(&root);
}

// Each test of an open tree runs twice: with the kernel's lists of children and with the scan.
static bool scanning;

static int use_scan(void **state)
{
    (void)state;
    scanning = true;
    return 0;
}

static int use_lists(void **state)
{
    (void)state;
    scanning = false;
    return 0;
}

static struct tlc_tree *open_tree(pid_t root)
{
    struct tlc_tree *tree = tlc_tree_open(root);
    assert_non_null(tree);
    if (scanning)
        tlc_tree_scan(tree);
    return tree;
}

static void an_open_tree_finds_new_processes(void **state)
{
    (void)state;
    struct puppet root = start();
    struct tlc_tree *tree = open_tree(root.pid);
    unsigned processes = 0;
    uint64_t before = tlc_tree_read_ns(tree, &processes);
    assert_int_equal(processes, 1);
    pid_t child = command(&root, 'f');
    uint64_t idle = tlc_tree_read_ns(tree, &processes);
    assert_int_equal(processes, 2);
    command(&root, 'b');
    uint64_t after = tlc_tree_read_ns(tree, &processes);
    assert_true(idle >= before);
    assert_true(after >= idle + 20 * MS);
    tlc_tree_close(tree);
    end(root.pid);
    end(child);
    drop(&root);
}

static void ended_processes_stay_in_the_sum(void **state)
{
    (void)state;
    struct puppet root = start();
    struct tlc_tree *tree = open_tree(root.pid);
    command(&root, 'b');
    pid_t child = command(&root, 'f');
    unsigned processes = 0;
    uint64_t both = tlc_tree_read_ns(tree, &processes);
    assert_int_equal(processes, 2);
    end(root.pid); // the child is an orphan now
    command(&root, 'b');
    uint64_t orphan = tlc_tree_read_ns(tree, &processes);
    assert_int_equal(processes, 1);
    assert_true(orphan >= both + 20 * MS);
    assert_int_equal(tlc_tree_cpu_ns(root.pid, &processes), 0);
    assert_int_equal(processes, 0);
    end(child);
    assert_true(tlc_tree_read_ns(tree, &processes) >= orphan);
    assert_int_equal(processes, 0);
    tlc_tree_close(tree);
    drop(&root);
}

static void a_zombie_gives_its_final_time(void **state)
{
    (void)state;
    struct puppet root = start();
    struct tlc_tree *tree = open_tree(root.pid);
    uint64_t before = tlc_tree_read_ns(tree, NULL);
    command(&root, 'b');
    command(&root, 'q');
    siginfo_t how;
    assert_int_equal(waitid(P_PID, (id_t)root.pid, &how, WEXITED | WNOWAIT), 0);
    unsigned processes = 1;
    assert_true(tlc_tree_read_ns(tree, &processes) >= before + 20 * MS);
    assert_int_equal(processes, 0);
    tlc_tree_close(tree);
    assert_int_equal(waitpid(root.pid, NULL, 0), root.pid);
    drop(&root);
}

static void nobody_is_no_tree(void **state)
{
    (void)state;
    unsigned processes = 1;
    assert_null(tlc_tree_open(0));
    assert_null(tlc_tree_open(-1));
    assert_int_equal(tlc_tree_cpu_ns(-5, &processes), 0);
    assert_int_equal(processes, 0);
    assert_int_equal(tlc_process_cpu_ns(0), 0);
    assert_int_equal(tlc_tree_memory_bytes(-5), 0);
    tlc_tree_close(NULL);
}

static void *burn_in_thread(void *nothing)
{
    burn(20 * MS);
    return nothing;
}

static void ended_threads_stay_in_the_process(void **state)
{
    (void)state;
    uint64_t before = tlc_process_cpu_ns(getpid());
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, burn_in_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(tlc_process_cpu_ns(getpid()) >= before + 20 * MS);
}

static void clocks_go_forward(void **state)
{
    (void)state;
    uint64_t first = tlc_now_ns();
    assert_true(first > 0);
    assert_true(tlc_now_ns() >= first);
}

static void process_names_may_hold_anything(void **state)
{
    (void)state;
    struct tlc_process_stat process;
    assert_true(
        tlc_parse_process_stat("1234 (a) R 1 (b\n) S 77 1234 1 0 -1 4194560 1\n", &process));
    assert_int_equal(process.pid, 1234);
    assert_int_equal(process.parent, 77);
    assert_int_equal(process.state, 'S');
    assert_string_equal(process.name, "a) R 1 (b\n");
    assert_true(tlc_parse_process_stat("1 () Z 0 0\n", &process));
    assert_string_equal(process.name, "");
    char text[300], name[201] = "";
    memset(name, 'x', sizeof name - 1);
    snprintf(text, sizeof text, "9 (%s) S 8 9 9\n", name);
    assert_true(tlc_parse_process_stat(text, &process));
    assert_int_equal(strlen(process.name), sizeof process.name - 1);
}

static void damaged_process_text_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           "12",           "12 (a",       "12 (a)",         "12 (a) ",
        "12 (a) S",   "12 (a) S ",    "12 (a) S 7",  "x (a) S 7 ",     "12 a) S 7 (",
        "12 (a) S x", "12 (a) S -7 ", "-1 (a) S 7 ", "12 (a) 5 7 8\n", "99999999999 (a) S 7 8\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tlc_process_stat process;
        if (tlc_parse_process_stat(wrong[i], &process))
            fail_msg("'%s': was taken", wrong[i]);
    }
}

static void descendants_come_after_their_parents(void **state)
{
    (void)state;
    struct tlc_process_link links[] = {{9, 5}, {5, 2}, {1, 0}, {2, 1}, {7, 5}, {3, 1}, {4, 3}};
    size_t count = sizeof links / sizeof *links;
    pid_t pids[7];
    assert_int_equal(tlc_process_descendants(links, count, 2, pids, 7), 4);
    static const pid_t expected[] = {2, 5, 7, 9};
    assert_memory_equal(pids, expected, sizeof expected);
    assert_int_equal(tlc_process_descendants(links, count, 1, pids, 7), 7);
    assert_int_equal(tlc_process_descendants(links, count, 4, pids, 7), 1);
    assert_int_equal(tlc_process_descendants(links, count, 42, pids, 7), 0);
    assert_int_equal(tlc_process_descendants(links, count, 2, pids, 3), 3);
    assert_int_equal(tlc_process_descendants(links, count, 2, pids, 0), 0);
    // /proc is not read at one instant, so a pid may seem to be its own ancestor.
    struct tlc_process_link circle[] = {{2, 3}, {3, 2}, {4, 4}};
    assert_true(tlc_process_descendants(circle, 3, 2, pids, 3) <= 3);
    assert_int_equal(tlc_process_descendants(circle, 3, 4, pids, 3), 1);
}

#define twice(test) cmocka_unit_test_setup(test, use_lists), cmocka_unit_test_setup(test, use_scan)

int main(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1); // orphans come to us to be reaped
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_the_sum_of_its_processes),
        twice(an_open_tree_finds_new_processes),
        twice(ended_processes_stay_in_the_sum),
        twice(a_zombie_gives_its_final_time),
        cmocka_unit_test(nobody_is_no_tree),
        cmocka_unit_test(ended_threads_stay_in_the_process),
        cmocka_unit_test(clocks_go_forward),
        cmocka_unit_test(process_names_may_hold_anything),
        cmocka_unit_test(damaged_process_text_is_refused),
        cmocka_unit_test(descendants_come_after_their_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
