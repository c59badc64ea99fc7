// Examinations of interrupts and network settings.
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/doctor_parts.h"
#include "measure/proc.h"
#include "measure/softirq.h"
#include "measure/text.h"

// Per second on the servers' CPUs of a machine left alone. One interrupt costs some microseconds,
// so 100 are about a part in a thousand.
static const double MANY_IRQS = 100, MANY_SOFTIRQS = 500;
enum { LEAST_PORTS = 10000, LEAST_BACKLOG = 1024, MOST_IRQS = 1024, IRQS_TOLD = 3 };

static double seconds_between(const struct tlc_patient *patient)
{
    return patient->after.at_ns > patient->before.at_ns
               ? (double)(patient->after.at_ns - patient->before.at_ns) / 1e9
               : 1;
}

// --- interrupts of devices ---

struct irq {
    uint64_t number, count;
    bool kept; // the kernel places it and refuses to have it moved
};

// Queues that a disk has for each CPU are placed by the kernel ("managed", the kernel's
// Documentation/core-api/genericirq.rst); a write to their affinity fails. Only debugfs tells which
// they are, so the names of the drivers that do so have to: "virtio1-req.0", "nvme0q3".
static bool is_kept(const char *line)
{
    const char *end = line + strcspn(line, "\n"), *name = end;
    while (name > line && name[-1] != ' ')
        name--;
    const char *request = strstr(name, "-req.");
    unsigned device, queue;
    return (request && request < end) || sscanf(name, "nvme%uq%u", &device, &queue) == 2;
}

// Which CPU each column of /proc/interrupts is of; returns how many there are.
static size_t read_columns(const char *header, int *cpus, size_t capacity)
{
    size_t count = 0, length = strcspn(header, "\n");
    for (const char *at = header;
         count < capacity && (at = strstr(at, "CPU")) != NULL && at < header + length; at += 3)
        cpus[count++] = atoi(at + 3);
    return count;
}

// Counts of the numbered lines, which are devices' (the others are the kernel's own), summed over
// `cpus`. Returns how many lines there were.
static size_t read_irqs(const char *text, const cpu_set_t *cpus, struct irq *irqs)
{
    int columns[CPU_SETSIZE];
    size_t column_count = read_columns(text, columns, CPU_SETSIZE), used = 0;
    for (const char *line = tlc_text_next_line(text); line && *line && used < MOST_IRQS;
         line = tlc_text_next_line(line)) {
        char *end;
        uint64_t number = strtoull(line, &end, 10);
        if (end == line || *end != ':')
            continue;
        const char *at = end + 1;
        uint64_t count, sum = 0;
        for (size_t i = 0; i < column_count && tlc_text_number(&at, INT64_MAX, &count); i++)
            if (columns[i] >= 0 && columns[i] < CPU_SETSIZE && CPU_ISSET((size_t)columns[i], cpus))
                sum += count;
        irqs[used++] = (struct irq){number, sum, is_kept(line)};
    }
    return used;
}

static int by_count(const void *left, const void *right)
{
    uint64_t a = ((const struct irq *)left)->count, b = ((const struct irq *)right)->count;
    return (a < b) - (a > b);
}

// Leaves in `after` what came since `before`, most frequent first; returns the sum.
static uint64_t subtract_irqs(const struct irq *before, size_t before_count, struct irq *after,
                              size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < before_count; k++)
            if (before[k].number == after[i].number && before[k].count <= after[i].count) {
                after[i].count -= before[k].count;
                break;
            }
        sum += after[i].count;
    }
    qsort(after, count, sizeof *after, by_count);
    return sum;
}

static void remedy_irqs(const struct tlc_patient *patient, const struct irq *irqs, size_t count,
                        struct tlc_finding *finding)
{
    char list[128], commands[480] = "";
    tlc_cpus_format(&patient->generator_cpus, list, sizeof list);
    size_t told = 0;
    for (size_t i = 0, used = 0; i < count && told < IRQS_TOLD && irqs[i].count; i++) {
        if (irqs[i].kept)
            continue;
        told++;
        used += (size_t)snprintf(commands + used, sizeof commands - used,
                                 "%secho %.60s | sudo tee /proc/irq/%" PRIu64 "/smp_affinity_list",
                                 used ? "; " : "", list, irqs[i].number);
    }
    tlc_remedy(finding, "%s", commands);
}

void tlc_examine_irqs(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    const char *before = patient->before.interrupts, *after = patient->after.interrupts;
    struct irq *irqs = calloc((size_t)2 * MOST_IRQS, sizeof *irqs);
    if (!irqs || !before || !after) {
        free(irqs);
        return;
    }
    struct irq *later = irqs + MOST_IRQS;
    size_t old = read_irqs(before, &patient->server_cpus, irqs);
    size_t count = read_irqs(after, &patient->server_cpus, later);
    double rate = (double)subtract_irqs(irqs, old, later, count) / seconds_between(patient);
    bool many = rate > MANY_IRQS;
    double kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += later[i].kept ? (double)later[i].count / seconds_between(patient) : 0;
    char disks[128] = "";
    if (kept >= 1)
        snprintf(disks, sizeof disks,
                 "; %.0f of them are disks', which the kernel places: stop what uses the disk",
                 kept);
    tlc_find(finding, many ? TLC_FINDING_SPOILS : TLC_FINDING_GOOD,
             "%.0f device interrupts a second on the servers' CPUs%s%s", rate,
             many ? ": their time is charged to whoever runs there" : "", many ? disks : "");
    if (many)
        remedy_irqs(patient, later, count, finding);
    free(irqs);
}

void tlc_examine_softirqs(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    struct tlc_softirqs before, after;
    if (!patient->before.softirqs || !patient->after.softirqs ||
        tlc_parse_softirqs(patient->before.softirqs, &patient->server_cpus, &before, NULL) !=
            TLC_OK ||
        tlc_parse_softirqs(patient->after.softirqs, &patient->server_cpus, &after, NULL) != TLC_OK)
        return;
    struct tlc_softirqs now = tlc_softirqs_since(&after, &before);
    double rate = (double)(now.net_rx + now.net_tx) / seconds_between(patient);
    bool many = rate > MANY_SOFTIRQS;
    tlc_find(finding, many ? TLC_FINDING_SPOILS : TLC_FINDING_GOOD,
             "%.0f network softirqs a second on the servers' CPUs%s", rate,
             many ? ": the packets of other programs are worked off there" : "");
    if (many)
        tlc_remedy(finding, "ss --tcp --processes state established");
}

// --- receive steering ---

struct steering {
    const struct tlc_patient *patient;
    struct tlc_finding *finding;
    char queues[200]; // those steered to servers' CPUs
    bool loopback;    // the loopback device steers
    size_t seen;
};

static void examine_queue(struct steering *steering, const char *device, const char *queue)
{
    char path[256], mask[CPU_SETSIZE / 4 + CPU_SETSIZE / 32 + 1];
    cpu_set_t cpus;
    if ((size_t)snprintf(path, sizeof path, "/sys/class/net/%s/queues/%s/rps_cpus", device,
                         queue) >= sizeof path)
        return;
    char *text = tlc_patient_read(steering->patient, "%s", path);
    bool good = text && tlc_mask_parse(tlc_first_line(text), &cpus);
    free(text);
    if (!good)
        return;
    steering->seen++;
    if (!strcmp(device, "lo")) {
        steering->loopback = steering->loopback || CPU_COUNT(&cpus) > 0;
        return;
    }
    if (!tlc_sets_meet(&cpus, &steering->patient->server_cpus))
        return;
    size_t used = strlen(steering->queues);
    snprintf(steering->queues + used, sizeof steering->queues - used, "%s%.40s %.40s",
             used ? ", " : "", device, queue);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &steering->patient->server_cpus))
            CPU_CLR(cpu, &cpus);
    tlc_mask_format(&cpus, mask, sizeof mask);
    if (!*steering->finding->remedy)
        tlc_remedy(steering->finding, "echo %.100s | sudo tee %s", mask, path);
}

static void examine_device(struct steering *steering, const char *device)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/sys/class/net/%.64s/queues", steering->patient->root, device);
    DIR *queues = opendir(path);
    if (!queues)
        return;
    for (struct dirent *entry; (entry = readdir(queues)) != NULL;)
        if (!strncmp(entry->d_name, "rx-", 3))
            examine_queue(steering, device, entry->d_name);
    closedir(queues);
}

void tlc_examine_rps(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    struct steering steering = {.patient = patient, .finding = finding};
    char path[1024];
    snprintf(path, sizeof path, "%s/sys/class/net", patient->root);
    DIR *devices = opendir(path);
    if (!devices)
        return;
    for (struct dirent *entry; (entry = readdir(devices)) != NULL;)
        if (entry->d_name[0] != '.')
            examine_device(&steering, entry->d_name);
    closedir(devices);
    if (!steering.seen)
        return;
    if (*steering.queues)
        tlc_find(finding, TLC_FINDING_SPOILS,
                 "packets of %s are worked off on the servers' CPUs, and charged to them",
                 steering.queues);
    else if (steering.loopback)
        tlc_find(finding, TLC_FINDING_NOTE,
                 "the loopback device steers received packets to other CPUs: who pays for the "
                 "receive half of TCP depends on it");
    else
        tlc_find(finding, TLC_FINDING_GOOD,
                 "no device steers packets to the servers' CPUs; on loopback the sender's CPU does "
                 "the receiver's half of TCP");
    if (steering.loopback && !*finding->remedy)
        tlc_remedy(finding, "echo 0 | sudo tee /sys/class/net/lo/queues/rx-0/rps_cpus");
}

// --- settings ---

void tlc_examine_ports(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    static const char path[] = "/proc/sys/net/ipv4/ip_local_port_range";
    char *text = tlc_patient_read(patient, "%s", path);
    const char *at = text;
    uint64_t low, high;
    bool good = text && tlc_text_number(&at, 65535, &low) && tlc_text_number(&at, 65535, &high) &&
                low <= high;
    free(text);
    if (!good)
        return;
    bool few = high - low + 1 < LEAST_PORTS;
    tlc_find(finding, few ? TLC_FINDING_SPOILS : TLC_FINDING_GOOD,
             "%" PRIu64 " to %" PRIu64 ", %" PRIu64 " ports for each source address%s", low, high,
             high - low + 1, few ? ": connections may run out of them" : "");
    if (!few)
        return;
    tlc_remedy(finding, "sudo sysctl -w net.ipv4.ip_local_port_range='10240 65535'");
    tlc_change_add(finding, path, "10240 65535");
}

void tlc_examine_somaxconn(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    static const char path[] = "/proc/sys/net/core/somaxconn";
    uint64_t value;
    if (!tlc_patient_number(patient, path, &value))
        return;
    bool small = value < LEAST_BACKLOG;
    tlc_find(finding, small ? TLC_FINDING_SPOILS : TLC_FINDING_GOOD, "%" PRIu64 "%s", value,
             small ? ": a full accept queue drops connections, which then wait a second" : "");
    if (!small)
        return;
    tlc_remedy(finding, "sudo sysctl -w net.core.somaxconn=4096");
    tlc_change_add(finding, path, "4096");
}
