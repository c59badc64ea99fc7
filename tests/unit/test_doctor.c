// The doctor on fixtures of machines, and its changes on a copy of one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "measure/doctor.h"
#include "measure/doctor_parts.h"
#include "measure/proc.h"

#define DOCTOR TLC_TESTS_DIR "/fixtures/doctor/"

static void set(cpu_set_t *cpus, const char *list)
{
    assert_int_equal(tlc_cpus_parse(list, cpus, NULL), TLC_OK);
}

static struct tlc_patient patient_at(const char *root, const char *servers, const char *generators,
                                     const char *usable)
{
    struct tlc_patient patient = {.root = root};
    set(&patient.server_cpus, servers);
    set(&patient.generator_cpus, generators);
    set(&patient.usable_cpus, usable);
    return patient;
}

static struct tlc_finding *examine(const struct tlc_patient *patient, size_t *count)
{
    struct tlc_finding *findings = tlc_doctor_examine(patient, count);
    assert_non_null(findings);
    for (size_t i = 0; i < *count; i++) {
        assert_true(*findings[i].name && *findings[i].text);
        // What spoils says what to do about it.
        if (findings[i].state == TLC_FINDING_GOOD || findings[i].state == TLC_FINDING_UNKNOWN)
            assert_string_equal(findings[i].remedy, "");
    }
    return findings;
}

static const struct tlc_finding *named(const struct tlc_finding *findings, size_t count,
                                       const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(findings[i].name, name))
            return &findings[i];
    fail_msg("no finding '%s'", name);
    return NULL;
}

struct wanted {
    const char *name;
    enum tlc_finding_state state;
    const char *text, *remedy; // parts of them; NULL: any
};

static void check(const struct tlc_patient *patient, const struct wanted *wanted,
                  size_t wanted_count)
{
    size_t count;
    struct tlc_finding *findings = examine(patient, &count);
    assert_int_equal(count, wanted_count);
    for (size_t i = 0; i < wanted_count; i++) {
        const struct tlc_finding *finding = named(findings, count, wanted[i].name);
        if (finding->state != wanted[i].state ||
            (wanted[i].text && !strstr(finding->text, wanted[i].text)) ||
            (wanted[i].remedy && !strstr(finding->remedy, wanted[i].remedy)))
            fail_msg("%s: %s, '%s', '%s'", finding->name, tlc_finding_state_name(finding->state),
                     finding->text, finding->remedy);
    }
    tlc_findings_free(findings, count);
}

#define GOOD    TLC_FINDING_GOOD
#define NOTE    TLC_FINDING_NOTE
#define SPOILS  TLC_FINDING_SPOILS
#define UNKNOWN TLC_FINDING_UNKNOWN

static const char stat_idle[] =
    "cpu0 100 0 100 2000 0 0 0 0 0 0\ncpu1 100 0 100 2000 0 0 0 0 0 0\n"
    "cpu2 100 0 100 2000 0 0 0 0 0 0\ncpu3 100 0 100 2000 0 0 0 0 0 0\n";
// A second (100 ticks) later: CPU 2 was half busy, and a fifth of CPU 1 was stolen.
static const char stat_busy[] =
    "cpu0 100 0 100 2100 0 0 0 0 0 0\ncpu1 100 0 100 2080 0 0 0 20 0 0\n"
    "cpu2 150 0 100 2050 0 0 0 0 0 0\ncpu3 100 0 100 2100 0 0 0 0 0 0\n";
static const char stat_calm[] =
    "cpu0 100 0 101 2099 0 0 0 0 0 0\ncpu1 101 0 100 2099 0 0 0 0 0 0\n"
    "cpu2 100 0 100 2100 0 0 0 0 0 0\ncpu3 100 0 100 2100 0 0 0 0 0 0\n";
static const char irqs_before[] =
    "           CPU0       CPU1       CPU2       CPU3\n"
    "  9:         10         10         10         10  IO-APIC   9-fasteoi   acpi\n"
    " 43:          0          0       5000       5000  PCI-MSI 1-edge  eth0-rx-0\n"
    "LOC:     100000     100000     100000     100000  Local timer interrupts\n";
static const char irqs_after[] =
    "           CPU0       CPU1       CPU2       CPU3\n"
    "  9:         10         10         11         10  IO-APIC   9-fasteoi   acpi\n"
    " 43:          0          0       5000       6000  PCI-MSI 1-edge  eth0-rx-0\n"
    "LOC:     200000     200000     200000     200000  Local timer interrupts\n";
static const char softirqs_before[] = "                    CPU0       CPU1       CPU2       CPU3\n"
                                      "      NET_TX:          0          0          0          0\n"
                                      "      NET_RX:          0          0        100        100\n";
static const char softirqs_after[] = "                    CPU0       CPU1       CPU2       CPU3\n"
                                     "      NET_TX:          0          0          0          0\n"
                                     "      NET_RX:          0          0       2100        100\n";

static void counters(struct tlc_patient *patient, const char *stat, const char *irqs,
                     const char *softirqs)
{
    patient->before =
        (struct tlc_counters_text){(char *)(uintptr_t)stat_idle, (char *)(uintptr_t)irqs_before,
                                   (char *)(uintptr_t)softirqs_before, 0};
    patient->after = (struct tlc_counters_text){(char *)(uintptr_t)stat, (char *)(uintptr_t)irqs,
                                                (char *)(uintptr_t)softirqs, 1000000000};
}

static void noisy_machine_is_found_out(void **state)
{
    (void)state;
    // CPU 2 shares a core with 0: the worst split of this machine.
    struct tlc_patient patient = patient_at(DOCTOR "noisy", "2-3", "0-1", "0-3");
    patient.fd_limit = 512;
    counters(&patient, stat_busy, irqs_after, softirqs_after);
    static const struct wanted wanted[] = {
        {"cpus", GOOD, "4 CPUs", NULL},
        {"governor", SPOILS, "powersave, performance", "cpupower frequency-set"},
        {"boost", SPOILS, "on", "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"},
        {"smt", SPOILS, "share a core", "--server-cpus 1,3 --generator-cpus 0,2"},
        {"hypervisor", GOOD, "none", NULL},
        {"steal", SPOILS, "5.0 %", "vmstat"},
        {"cgroup-quota", SPOILS, "1.50 CPUs", "tee /sys/fs/cgroup/user.slice/cpu.max"},
        {"load", SPOILS, "servers' CPUs 25 % and the generator's 0 %", "ps -eo"},
        {"irq-affinity", SPOILS, "1001 device interrupts", "/proc/irq/43/smp_affinity_list"},
        {"softirq", SPOILS, "2000 network softirqs", "ss "},
        {"rps", SPOILS, "eth0 rx-0", "echo 0 | sudo tee /sys/class/net/eth0/queues/rx-0/rps_cpus"},
        {"port-range", SPOILS, "1000 ports", "net.ipv4.ip_local_port_range"},
        {"somaxconn", SPOILS, "128", "net.core.somaxconn=4096"},
        {"fd-limit", SPOILS, "512", "ulimit -n"},
        {"clock-source", SPOILS, "hpet", "echo tsc"},
        {"hardware-counters", GOOD, "are there", NULL},
        {"perf-permission", NOTE, "4", "kernel.perf_event_paranoid=1"},
        {"memory", SPOILS, "500 of 2000 MiB", "ps -eo"},
    };
    check(&patient, wanted, sizeof wanted / sizeof *wanted);
}

// A write to the affinity of a disk's queue fails: no command may ask for it.
static void kept_interrupts_get_no_command(void **state)
{
    (void)state;
    static const char before[] =
        "           CPU0       CPU1       CPU2       CPU3\n"
        " 36:          0          0          0          0  PCI-MSIX-0000:00:02.0 1-edge "
        "virtio1-req.0\n"
        " 37:          0          0          0          0  PCI-MSIX-0000:00:05.0 3-edge nvme0q3\n"
        " 43:          0          0          0          0  PCI-MSI 1-edge  eth0-rx-0\n";
    static const char after[] =
        "           CPU0       CPU1       CPU2       CPU3\n"
        " 36:          0          0        900          0  PCI-MSIX-0000:00:02.0 1-edge "
        "virtio1-req.0\n"
        " 37:          0          0          0        300  PCI-MSIX-0000:00:05.0 3-edge nvme0q3\n"
        " 43:          0          0          0        100  PCI-MSI 1-edge  eth0-rx-0\n";
    struct tlc_patient patient = patient_at(DOCTOR "noisy", "2-3", "0-1", "0-3");
    counters(&patient, stat_busy, after, softirqs_after);
    patient.before.interrupts = (char *)(uintptr_t)before;
    size_t count;
    struct tlc_finding *findings = tlc_doctor_examine(&patient, &count);
    const struct tlc_finding *finding = named(findings, count, "irq-affinity");
    assert_int_equal(finding->state, SPOILS);
    assert_non_null(strstr(finding->text, "1300 device interrupts"));
    assert_non_null(strstr(finding->text, "1200 of them are disks'"));
    assert_non_null(strstr(finding->remedy, "/proc/irq/43/"));
    assert_null(strstr(finding->remedy, "/proc/irq/36/"));
    assert_null(strstr(finding->remedy, "/proc/irq/37/"));
    tlc_findings_free(findings, count);
}

static void tuned_machine_has_nothing_wrong(void **state)
{
    (void)state;
    struct tlc_patient patient = patient_at(DOCTOR "tuned", "3", "0-2", "0-3");
    patient.fd_limit = 65536;
    counters(&patient, stat_calm, irqs_before, softirqs_before);
    size_t count;
    struct tlc_finding *findings = examine(&patient, &count);
    for (size_t i = 0; i < count; i++)
        if (findings[i].state != TLC_FINDING_GOOD)
            fail_msg("%s: %s: %s", findings[i].name, tlc_finding_state_name(findings[i].state),
                     findings[i].text);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(findings[i].change_count, 0);
    tlc_findings_free(findings, count);
}

static void virtual_machine_is_told_as_it_is(void **state)
{
    (void)state;
    struct tlc_patient patient =
        patient_at(TLC_TESTS_DIR "/fixtures/proc/small-vm", "1", "0", "0-1");
    size_t count;
    struct tlc_finding *findings = examine(&patient, &count);
    assert_int_equal(named(findings, count, "cpus")->state, NOTE);
    assert_int_equal(named(findings, count, "governor")->state, NOTE);
    assert_non_null(strstr(named(findings, count, "governor")->text, "virtual machine"));
    assert_int_equal(named(findings, count, "hypervisor")->state, NOTE);
    for (size_t i = 0; i < count; i++)
        assert_int_not_equal(findings[i].state, SPOILS);
    tlc_findings_free(findings, count);
}

// No files at all: nothing is good, nothing is wrong.
static void silent_machine_gets_no_diagnosis(void **state)
{
    (void)state;
    struct tlc_patient patient = patient_at(DOCTOR "none", "1", "0", "0-2");
    size_t count;
    struct tlc_finding *findings = examine(&patient, &count);
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(findings[i].name, "cpus") || !strcmp(findings[i].name, "governor"))
            continue; // what is asked of the kernel, and the absence of a driver
        if (findings[i].state != UNKNOWN)
            fail_msg("%s: %s: %s", findings[i].name, tlc_finding_state_name(findings[i].state),
                     findings[i].text);
    }
    tlc_findings_free(findings, count);
}

static void damaged_counters_are_unknown(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "cpu",
                                        "cpu3 1 2",
                                        "CPU0\n43:",
                                        "x CPU9999999\n 1: 5\n",
                                        "CPU-1 CPU3\n 43: 99999999999999999999999 5\n"};
    struct tlc_patient patient = patient_at(DOCTOR "tuned", "3", "0-2", "0-3");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = (char *)(uintptr_t)texts[i];
        patient.before = patient.after = (struct tlc_counters_text){text, text, text, 0};
        size_t count;
        struct tlc_finding *findings = examine(&patient, &count);
        assert_int_equal(named(findings, count, "steal")->state, UNKNOWN);
        assert_int_equal(named(findings, count, "load")->state, UNKNOWN);
        assert_int_equal(named(findings, count, "softirq")->state, UNKNOWN);
        assert_int_not_equal(named(findings, count, "irq-affinity")->state, SPOILS);
        tlc_findings_free(findings, count);
    }
}

static void masks_are_read_and_written(void **state)
{
    (void)state;
    static const char *const masks[][2] = {{"0", "0"},
                                           {"f\n", "f"},
                                           {"00000000,00000005", "5"},
                                           {"1,00000000", "1,00000000"},
                                           {"80000000", "80000000"}};
    char text[512];
    cpu_set_t cpus;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        assert_true(tlc_mask_parse(masks[i][0], &cpus));
        tlc_mask_format(&cpus, text, sizeof text);
        assert_string_equal(text, masks[i][1]);
    }
    assert_true(tlc_mask_parse("1,00000001", &cpus));
    assert_true(CPU_COUNT(&cpus) == 2 && CPU_ISSET(0, &cpus) && CPU_ISSET(32, &cpus));
    assert_false(tlc_mask_parse("", &cpus));
    assert_false(tlc_mask_parse("0-3", &cpus));
}

// --- changes ---

static void put_file(const char *root, const char *file, const char *text)
{
    char path[1024];
    struct tlc_error error = {0};
    snprintf(path, sizeof path, "%s%s", root, file);
    *strrchr(path, '/') = '\0';
    assert_int_equal(tlc_directory_make(path, &error), TLC_OK);
    snprintf(path, sizeof path, "%s%s", root, file);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
}

static void assert_file(const char *root, const char *file, const char *wanted)
{
    char path[1024], text[128] = "";
    snprintf(path, sizeof path, "%s%s", root, file);
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    if (!fgets(text, sizeof text, from))
        text[0] = '\0';
    fclose(from);
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(text, wanted);
}

#define GOVERNOR0 "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
#define GOVERNOR1 "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"
#define BOOST     "/sys/devices/system/cpu/cpufreq/boost"
#define PORTS     "/proc/sys/net/ipv4/ip_local_port_range"
#define SOMAXCONN "/proc/sys/net/core/somaxconn"
#define PARANOID  "/proc/sys/kernel/perf_event_paranoid"

static void changes_are_made_and_put_back(void **state)
{
    (void)state;
    char root[256], told[4096];
    struct tlc_error error = {0};
    struct tlc_applied applied = {0};
    assert_int_equal(tlc_directory_temporary("tlscost-test", root, sizeof root, &error), TLC_OK);
    put_file(root, GOVERNOR0, "powersave\n");
    put_file(root, GOVERNOR1, "performance\n");
    put_file(root, BOOST, "1\n");
    put_file(root, PORTS, "60000\t60999\n");
    put_file(root, SOMAXCONN, "128\n");
    put_file(root, PARANOID, "2\n");
    struct tlc_patient patient = patient_at(root, "1", "0", "0-1");
    size_t count;
    struct tlc_finding *findings = examine(&patient, &count);
    assert_file(root, SOMAXCONN, "128"); // looking changes nothing
    tlc_doctor_apply(root, findings, count, &applied, told, sizeof told);
    assert_string_equal(told, "");
    assert_int_equal(applied.count, 5);
    assert_file(root, GOVERNOR0, "performance");
    assert_file(root, BOOST, "0");
    assert_file(root, PORTS, "10240 65535");
    assert_file(root, SOMAXCONN, "4096");
    assert_file(root, PARANOID, "1");
    assert_int_equal(tlc_doctor_restore(&applied), 0);
    assert_file(root, GOVERNOR0, "powersave");
    assert_file(root, GOVERNOR1, "performance");
    assert_file(root, BOOST, "1");
    assert_file(root, PORTS, "60000\t60999");
    assert_file(root, SOMAXCONN, "128");
    assert_file(root, PARANOID, "2");
    assert_int_equal(tlc_doctor_restore(&applied), 0); // nothing is left to put back
    tlc_findings_free(findings, count);
    tlc_directory_remove(root);
}

static void what_cannot_be_changed_is_told(void **state)
{
    (void)state;
    char root[256], told[4096], path[512];
    struct tlc_error error = {0};
    struct tlc_applied applied = {0};
    assert_int_equal(tlc_directory_temporary("tlscost-test", root, sizeof root, &error), TLC_OK);
    put_file(root, SOMAXCONN, "128\n");
    put_file(root, BOOST, "1\n");
    struct tlc_patient patient = patient_at(root, "1", "0", "0-1");
    size_t count;
    struct tlc_finding *findings = examine(&patient, &count);
    // Gone, or no file of that name but a link, by the time it is to be changed.
    snprintf(path, sizeof path, "%s%s", root, SOMAXCONN);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    snprintf(path, sizeof path, "%s%s", root, BOOST);
    assert_int_equal(unlink(path), 0);
    tlc_doctor_apply(root, findings, count, &applied, told, sizeof told);
    assert_int_equal(applied.count, 0);
    assert_non_null(strstr(told, SOMAXCONN));
    assert_non_null(strstr(told, BOOST));
    assert_int_equal(tlc_doctor_restore(&applied), 0);
    tlc_findings_free(findings, count);
    tlc_directory_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noisy_machine_is_found_out),
        cmocka_unit_test(kept_interrupts_get_no_command),
        cmocka_unit_test(tuned_machine_has_nothing_wrong),
        cmocka_unit_test(virtual_machine_is_told_as_it_is),
        cmocka_unit_test(silent_machine_gets_no_diagnosis),
        cmocka_unit_test(damaged_counters_are_unknown),
        cmocka_unit_test(masks_are_read_and_written),
        cmocka_unit_test(changes_are_made_and_put_back),
        cmocka_unit_test(what_cannot_be_changed_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
