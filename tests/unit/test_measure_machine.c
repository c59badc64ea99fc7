// The description of a machine and the split of its CPUs, on machines laid out as files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/machine.h"
#include "measure/proc.h"
#include "measure/text.h"

static char root[64];

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/tlscost-machine-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *file, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, file);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0)
            assert_int_equal(errno, EEXIST);
        *slash = '/';
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void put_cpu(int cpu, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
    put(path, text);
}

// Two sockets of 32 cores with two threads each; thread n + 64 is the sibling of n.
static void put_smt_server(void)
{
    put("/sys/devices/system/cpu/online", "0-127\n");
    put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: A Server CPU\nflags\t\t: fpu ht sse2\n");
    for (int cpu = 0; cpu < 128; cpu++) {
        char siblings[32];
        snprintf(siblings, sizeof siblings, "%d,%d\n", cpu % 64, cpu % 64 + 64);
        put_cpu(cpu, "topology/thread_siblings_list", siblings);
        put_cpu(cpu, "cpufreq/scaling_governor", "performance\n");
    }
}

static void a_small_vm_is_described(void **state)
{
    (void)state;
    json_t *machine = tlc_machine_describe_at(TLC_TESTS_DIR "/fixtures/proc/small-vm");
    assert_string_equal(json_string_value(json_object_get(machine, "cpu_model")), "AMD EPYC");
    assert_int_equal(json_integer_value(json_object_get(machine, "cpus")), 2);
    assert_int_equal(json_integer_value(json_object_get(machine, "cores")), 2);
    assert_true(json_is_false(json_object_get(machine, "smt")));
    assert_true(json_is_null(json_object_get(machine, "governor")));
    assert_true(json_is_null(json_object_get(machine, "boost")));
    assert_true(json_is_true(json_object_get(machine, "virtual")));
    assert_true(json_is_null(json_object_get(machine, "hypervisor")));
    assert_string_equal(json_string_value(json_object_get(machine, "kernel")), "6.18.44");
    assert_string_equal(json_string_value(json_object_get(machine, "distribution")),
                        "Debian GNU/Linux 12 (bookworm)");
    assert_string_equal(json_string_value(json_object_get(machine, "clock_source")), "kvm-clock");
    assert_string_equal(json_string_value(json_object_get(machine, "cpu_accounting")), "tick");
    assert_int_equal(json_integer_value(json_object_get(machine, "somaxconn")), 4096);
    json_t *ports = json_object_get(machine, "port_range");
    assert_int_equal(json_integer_value(json_array_get(ports, 0)), 32768);
    assert_int_equal(json_integer_value(json_array_get(ports, 1)), 60999);
    assert_true(json_integer_value(json_object_get(machine, "memory_bytes")) > 1 << 30);
    assert_float_equal(json_real_value(json_array_get(json_object_get(machine, "load_average"), 0)),
                       1.65, 1e-9);
    json_decref(machine);
}

static void a_large_smt_server_is_described(void **state)
{
    (void)state;
    put_smt_server();
    put("/sys/class/dmi/id/product_name", "Some Server\n");
    json_t *machine = tlc_machine_describe_at(root);
    assert_int_equal(json_integer_value(json_object_get(machine, "cpus")), 128);
    assert_int_equal(json_integer_value(json_object_get(machine, "cores")), 64);
    assert_true(json_is_true(json_object_get(machine, "smt")));
    assert_true(json_is_true(json_object_get(machine, "boost")));
    assert_true(json_is_false(json_object_get(machine, "virtual")));
    assert_true(json_is_null(json_object_get(machine, "hypervisor")));
    assert_string_equal(json_string_value(json_object_get(machine, "governor")), "performance");
    json_decref(machine);
}

static void differing_governors_are_all_named(void **state)
{
    (void)state;
    put("/sys/devices/system/cpu/online", "0-2\n");
    put_cpu(0, "cpufreq/scaling_governor", "performance\n");
    put_cpu(1, "cpufreq/scaling_governor", "powersave\n");
    put_cpu(2, "cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    json_t *machine = tlc_machine_describe_at(root);
    assert_string_equal(json_string_value(json_object_get(machine, "governor")),
                        "performance, powersave");
    assert_true(json_is_false(json_object_get(machine, "boost")));
    json_decref(machine);
}

static void a_virtual_machine_names_its_hypervisor(void **state)
{
    (void)state;
    put("/proc/cpuinfo", "model name\t: X\nflags\t\t: fpu hypervisor\n");
    put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
    json_t *machine = tlc_machine_describe_at(root);
    assert_true(json_is_true(json_object_get(machine, "virtual")));
    assert_string_equal(json_string_value(json_object_get(machine, "hypervisor")), "QEMU");
    json_decref(machine);
    // Only the whole word among the flags counts.
    put("/proc/cpuinfo", "model name\t: X\nflags\t\t: fpu hypervisors\nbugs\t: a hypervisor b\n");
    machine = tlc_machine_describe_at(root);
    assert_true(json_is_false(json_object_get(machine, "virtual")));
    assert_true(json_is_null(json_object_get(machine, "hypervisor")));
    json_decref(machine);
}

static void what_is_not_told_is_null(void **state)
{
    (void)state;
    static const char *const names[] = {
        "cpu_model", "cpus",         "cores",        "smt",          "governor",
        "boost",     "hypervisor",   "virtual",      "kernel",       "architecture",
        "fd_limit",  "distribution", "memory_bytes", "clock_source", "cpu_accounting",
        "somaxconn", "port_range",   "load_average"};
    json_t *machine = tlc_machine_describe_at(root);
    assert_int_equal(json_object_size(machine), sizeof names / sizeof *names + 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!json_is_null(json_object_get(machine, names[i])))
            fail_msg("%s: is not null", names[i]);
    json_decref(machine);
}

static void hostile_files_give_null(void **state)
{
    (void)state;
    put("/proc/cpuinfo", "model name\t:\nflags");
    put("/proc/meminfo", "MemTotal: 99999999999999999999999 kB\n");
    put("/proc/loadavg", "nan nan nan 1/2 3\n");
    put("/proc/sys/net/core/somaxconn", "-1\n");
    put("/proc/sys/net/ipv4/ip_local_port_range", "70000 80000\n");
    put("/proc/sys/kernel/osrelease", "\xff\xfe\n");
    put("/etc/os-release", "PRETTY_NAME=\"\xc3\"\n");
    put("/sys/devices/system/cpu/online", "0-99999\n");
    json_t *machine = tlc_machine_describe_at(root);
    static const char *const names[] = {"cpu_model",    "virtual",   "memory_bytes",
                                        "load_average", "somaxconn", "port_range",
                                        "kernel",       "cpus",      "distribution"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!json_is_null(json_object_get(machine, names[i])))
            fail_msg("%s: is not null", names[i]);
    json_decref(machine);
}

static void this_machine_is_described(void **state)
{
    (void)state;
    json_t *machine = tlc_machine_describe();
    assert_true(json_integer_value(json_object_get(machine, "memory_bytes")) > 0);
    assert_true(json_is_string(json_object_get(machine, "kernel")));
    assert_true(json_is_string(json_object_get(machine, "architecture")));
    json_t *own = json_object_get(machine, "tlscost");
    assert_true(json_is_string(json_object_get(own, "version")));
    assert_non_null(strstr(json_string_value(json_object_get(own, "libcrypto")), "OpenSSL"));
    json_decref(machine);
}

// --- the split ---

static void expect_split(const struct tlc_cpu_place *places, size_t count, const char *server_list,
                         const char *generator_list)
{
    cpu_set_t server, generator;
    struct tlc_error error = {0};
    char text[256];
    if (tlc_split_places(places, count, &server, &generator, &error) != TLC_OK)
        fail_msg("%s", error.text);
    tlc_cpus_format(&server, text, sizeof text);
    assert_string_equal(text, server_list);
    tlc_cpus_format(&generator, text, sizeof text);
    assert_string_equal(text, generator_list);
}

static void cores_without_siblings_split_by_a_third(void **state)
{
    (void)state;
    struct tlc_cpu_place places[12];
    for (int cpu = 0; cpu < 12; cpu++)
        places[cpu] = (struct tlc_cpu_place){.cpu = cpu, .core = cpu};
    expect_split(places, 2, "1", "0");
    expect_split(places, 3, "2", "0-1");
    expect_split(places, 4, "3", "0-2");
    expect_split(places, 6, "4-5", "0-3");
    expect_split(places, 12, "8-11", "0-7");
}

static void siblings_stay_together(void **state)
{
    (void)state;
    // Siblings side by side (0,1), (2,3), ... and far apart (0,4), (1,5), ...
    struct tlc_cpu_place beside[8], apart[8];
    for (int cpu = 0; cpu < 8; cpu++) {
        beside[cpu] = (struct tlc_cpu_place){.cpu = cpu, .core = cpu - cpu % 2};
        apart[cpu] = (struct tlc_cpu_place){.cpu = cpu, .core = cpu % 4};
    }
    expect_split(beside, 8, "6-7", "0-5");
    expect_split(apart, 8, "3,7", "0-2,4-6");
    expect_split(beside, 4, "2-3", "0-1");
    // An affinity may leave one thread of a core to us.
    expect_split(beside + 1, 4, "4", "1-3");
}

static void one_core_must_be_divided(void **state)
{
    (void)state;
    struct tlc_cpu_place places[8];
    for (int cpu = 0; cpu < 8; cpu++)
        places[cpu] = (struct tlc_cpu_place){.cpu = cpu, .core = 0};
    expect_split(places, 2, "1", "0");
    expect_split(places, 8, "6-7", "0-5");
}

static void the_server_runs_on_one_fast_kind(void **state)
{
    (void)state;
    // Four fast cores with two threads each, then eight slow ones.
    struct tlc_cpu_place places[16];
    for (int cpu = 0; cpu < 8; cpu++)
        places[cpu] = (struct tlc_cpu_place){cpu, cpu - cpu % 2, 1024};
    for (int cpu = 8; cpu < 16; cpu++)
        places[cpu] = (struct tlc_cpu_place){cpu, cpu, 500};
    expect_split(places, 16, "4-7", "0-3,8-15");
    // One fast core among many slow ones: better few equal CPUs than a mixture.
    expect_split(places + 6, 10, "6-7", "8-15");
}

static void unknown_siblings_count_as_cores(void **state)
{
    (void)state;
    struct tlc_cpu_place places[3] = {{0, -1, 0}, {1, -1, 0}, {2, -1, 0}};
    expect_split(places, 3, "2", "0-1");
}

static void one_cpu_is_refused(void **state)
{
    (void)state;
    struct tlc_cpu_place place = {.cpu = 0};
    cpu_set_t server, generator;
    struct tlc_error error;
    assert_int_equal(tlc_split_places(&place, 1, &server, &generator, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "at least 2"));
    assert_int_equal(tlc_split_places(&place, 0, &server, &generator, &error), TLC_ENVIRONMENT);
}

// Whatever the machine: nothing is lost, nothing is in both, and no core is divided.
static void every_split_is_clean(void **state)
{
    (void)state;
    for (int cores = 2; cores <= 64; cores++)
        for (int threads = 1; threads <= 4; threads *= 2) {
            struct tlc_cpu_place places[256];
            cpu_set_t server, generator, both;
            int count = cores * threads;
            for (int cpu = 0; cpu < count; cpu++)
                places[cpu] = (struct tlc_cpu_place){.cpu = cpu, .core = cpu % cores};
            assert_int_equal(tlc_split_places(places, (size_t)count, &server, &generator, NULL),
                             TLC_OK);
            CPU_AND(&both, &server, &generator);
            assert_int_equal(CPU_COUNT(&both), 0);
            assert_int_equal(CPU_COUNT(&server) + CPU_COUNT(&generator), count);
            assert_in_range(CPU_COUNT(&server), 1, count / 3 > threads ? count / 3 : threads);
            for (int cpu = 0; cpu < count; cpu++)
                assert_int_equal(!CPU_ISSET((size_t)cpu, &server),
                                 !CPU_ISSET((size_t)(cpu % cores), &server));
        }
}

static void places_are_read_from_files(void **state)
{
    (void)state;
    put_smt_server();
    cpu_set_t cpus;
    struct tlc_cpu_place *places = calloc(CPU_SETSIZE, sizeof *places);
    assert_non_null(places);
    assert_true(tlc_read_online(root, &cpus));
    assert_int_equal(tlc_read_places(root, &cpus, places), 128);
    assert_int_equal(places[70].cpu, 70);
    assert_int_equal(places[70].core, 6);
    expect_split(places, 128, "43-63,107-127", "0-42,64-106");
    // A list that does not hold the CPU itself is not believed.
    put_cpu(70, "topology/thread_siblings_list", "1,2\n");
    put_cpu(71, "cpu_capacity", "446\n");
    assert_int_equal(tlc_read_places(root, &cpus, places), 128);
    assert_int_equal(places[70].core, -1);
    assert_int_equal(places[71].capacity, 446);
    free(places);
}

static void hybrid_x86_is_read_from_its_list(void **state)
{
    (void)state;
    put("/sys/devices/cpu_core/cpus", "0-3\n");
    put("/sys/devices/cpu_atom/cpus", "4-7\n");
    cpu_set_t cpus;
    assert_int_equal(tlc_cpus_parse("3-4", &cpus, NULL), TLC_OK);
    struct tlc_cpu_place places[2];
    assert_int_equal(tlc_read_places(root, &cpus, places), 2);
    assert_true(places[0].capacity > places[1].capacity);
}

static void a_name_said_twice_is_told_once(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"bhyve bhyve ", "bhyve"},
                                           {"KVMKVMKVM", "KVMKVMKVM"},
                                           {"prl hyperv  ", "prl hyperv"},
                                           {"", ""},
                                           {" ", ""},
                                           {"a b", "a b"},
                                           {"VMware VMwar", "VMware VMwar"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s", names[i][0]);
        tlc_text_once(text);
        assert_string_equal(text, names[i][1]);
    }
}

#define in_root(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_vm_is_described),
        in_root(a_large_smt_server_is_described),
        in_root(differing_governors_are_all_named),
        in_root(a_virtual_machine_names_its_hypervisor),
        cmocka_unit_test(a_name_said_twice_is_told_once),
        in_root(what_is_not_told_is_null),
        in_root(hostile_files_give_null),
        cmocka_unit_test(this_machine_is_described),
        cmocka_unit_test(cores_without_siblings_split_by_a_third),
        cmocka_unit_test(siblings_stay_together),
        cmocka_unit_test(one_core_must_be_divided),
        cmocka_unit_test(the_server_runs_on_one_fast_kind),
        cmocka_unit_test(unknown_siblings_count_as_cores),
        cmocka_unit_test(one_cpu_is_refused),
        cmocka_unit_test(every_split_is_clean),
        in_root(places_are_read_from_files),
        in_root(hybrid_x86_is_read_from_its_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
