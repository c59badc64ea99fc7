#include "measure/doctor.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/clock.h"
#include "measure/doctor_parts.h"
#include "measure/text.h"

static const struct {
    const char *name;
    tlc_examination *examine;
} examinations[] = {
    {"cpus", tlc_examine_cpus},
    {"governor", tlc_examine_governor},
    {"boost", tlc_examine_boost},
    {"smt", tlc_examine_smt},
    {"hypervisor", tlc_examine_hypervisor},
    {"steal", tlc_examine_steal},
    {"cgroup-quota", tlc_examine_quota},
    {"load", tlc_examine_load},
    {"irq-affinity", tlc_examine_irqs},
    {"softirq", tlc_examine_softirqs},
    {"rps", tlc_examine_rps},
    {"port-range", tlc_examine_ports},
    {"somaxconn", tlc_examine_somaxconn},
    {"fd-limit", tlc_examine_fd_limit},
    {"clock-source", tlc_examine_clock_source},
    {"hardware-counters", tlc_examine_counters},
    {"perf-permission", tlc_examine_perf_permission},
    {"memory", tlc_examine_memory},
};
enum { EXAMINATIONS = sizeof examinations / sizeof *examinations };

const char *tlc_finding_state_name(enum tlc_finding_state state)
{
    static const char *const names[] = {"good", "note", "spoils", "unknown"};
    return names[state];
}

void tlc_find(struct tlc_finding *finding, enum tlc_finding_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    finding->state = state;
}

void tlc_remedy(struct tlc_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->remedy, sizeof finding->remedy, format, arguments);
    va_end(arguments);
}

void tlc_change_add(struct tlc_finding *finding, const char *path, const char *value)
{
    struct tlc_change *grown =
        realloc(finding->changes, (finding->change_count + 1) * sizeof *grown);
    if (!grown)
        return;
    finding->changes = grown;
    struct tlc_change *change = &grown[finding->change_count++];
    snprintf(change->path, sizeof change->path, "%s", path);
    snprintf(change->value, sizeof change->value, "%s", value);
}

// --- reading ---

char *tlc_patient_read(const struct tlc_patient *patient, const char *format, ...)
{
    char file[512], path[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(file, sizeof file, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s%s", patient->root, file);
    return tlc_text_read(path);
}

bool tlc_patient_number(const struct tlc_patient *patient, const char *file, uint64_t *number)
{
    char *text = tlc_patient_read(patient, "%s", file);
    const char *at = text;
    bool good = text && tlc_text_number(&at, INT64_MAX, number);
    free(text);
    return good;
}

char *tlc_first_line(char *text)
{
    size_t length = strcspn(text, "\n");
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

bool tlc_sets_meet(const cpu_set_t *a, const cpu_set_t *b)
{
    cpu_set_t both;
    CPU_AND(&both, a, b);
    return CPU_COUNT(&both) > 0;
}

void tlc_counters_text_read(const char *root, struct tlc_counters_text *counters)
{
    const struct tlc_patient machine = {.root = root};
    counters->stat = tlc_patient_read(&machine, "/proc/stat");
    counters->interrupts = tlc_patient_read(&machine, "/proc/interrupts");
    counters->softirqs = tlc_patient_read(&machine, "/proc/softirqs");
    counters->at_ns = tlc_now_ns();
}

void tlc_counters_text_free(struct tlc_counters_text *counters)
{
    free(counters->stat);
    free(counters->interrupts);
    free(counters->softirqs);
    *counters = (struct tlc_counters_text){0};
}

// --- findings ---

struct tlc_finding *tlc_doctor_examine(const struct tlc_patient *patient, size_t *count)
{
    struct tlc_finding *findings = calloc(EXAMINATIONS, sizeof *findings);
    *count = findings ? EXAMINATIONS : 0;
    for (size_t i = 0; i < *count; i++) {
        findings[i].name = examinations[i].name;
        tlc_find(&findings[i], TLC_FINDING_UNKNOWN, "this machine does not tell");
        examinations[i].examine(patient, &findings[i]);
    }
    return findings;
}

void tlc_findings_free(struct tlc_finding *findings, size_t count)
{
    for (size_t i = 0; findings && i < count; i++)
        free(findings[i].changes);
    free(findings);
}

json_t *tlc_findings_json(const struct tlc_finding *findings, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct tlc_finding *finding = &findings[i];
        json_t *changes = json_array();
        for (size_t k = 0; k < finding->change_count; k++)
            json_array_append_new(changes, json_pack("{s:s, s:s}", "path", finding->changes[k].path,
                                                     "value", finding->changes[k].value));
        // NULL when a file of the machine held bytes that are no UTF-8.
        json_t *text = json_string(finding->text);
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s?, s:o}", "name", finding->name,
                                              "state", tlc_finding_state_name(finding->state),
                                              "text", text ? text : json_null(), "remedy",
                                              *finding->remedy ? finding->remedy : NULL, "changes",
                                              changes));
    }
    return list;
}
