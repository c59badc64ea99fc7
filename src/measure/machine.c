#include "measure/machine.h"
#include "base/process.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <openssl/crypto.h>

#include "measure/text.h"

// --- files under a root ---

static char *read_file(const char *root, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, file);
    return tlc_text_read(path);
}

// The first line, without spaces around it; null when empty, unreadable or not UTF-8.
static json_t *line_json(const char *text)
{
    if (!text)
        return json_null();
    text += strspn(text, " \t");
    size_t length = strcspn(text, "\n");
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    json_t *line = length > 0 ? json_stringn(text, length) : NULL;
    return line ? line : json_null();
}

static json_t *file_line(const char *root, const char *file)
{
    char *text = read_file(root, file);
    json_t *line = line_json(text);
    free(text);
    return line;
}

static bool file_number(const char *root, const char *file, uint64_t *number)
{
    char *text = read_file(root, file);
    const char *at = text;
    bool good = text && tlc_text_number(&at, INT64_MAX, number);
    free(text);
    return good;
}

// "name : value" of /proc/cpuinfo and "name=value" of os-release: the value of the first such line.
static const char *value_of(const char *text, const char *name, char mark)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = tlc_text_next_line(line)) {
        if (strncmp(line, name, length) != 0)
            continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at == mark)
            return at + 1;
    }
    return NULL;
}

// --- processor ---

static json_t *cpu_model(const char *cpuinfo)
{
    const char *model = value_of(cpuinfo, "model name", ':');
    if (!model)
        model = value_of(cpuinfo, "cpu", ':'); // POWER
    return line_json(model);
}

static void describe_cores(json_t *machine, const char *root)
{
    cpu_set_t online;
    struct tlc_cpu_place *places = calloc(CPU_SETSIZE, sizeof *places);
    bool known = places && tlc_read_online(root, &online);
    size_t count = known ? tlc_read_places(root, &online, places) : 0, cores = 0;
    for (size_t i = 0; i < count; i++) {
        known = known && places[i].core >= 0;
        cores += places[i].core == places[i].cpu;
    }
    uint64_t active;
    json_object_set_new(machine, "cpus", count ? json_integer((json_int_t)count) : json_null());
    json_object_set_new(machine, "cores",
                        count && known ? json_integer((json_int_t)cores) : json_null());
    json_t *smt = json_null();
    if (count && known)
        smt = json_boolean(cores < count);
    else if (file_number(root, "/sys/devices/system/cpu/smt/active", &active))
        smt = json_boolean(active != 0);
    json_object_set_new(machine, "smt", smt);
    free(places);
}

// Of all CPUs that are on: one name, or "a, b" when they differ.
static json_t *governor(const char *root)
{
    cpu_set_t online;
    char names[256] = "";
    if (!tlc_read_online(root, &online))
        return json_null();
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char file[128], name[64] = "";
        if (!CPU_ISSET((size_t)cpu, &online))
            continue;
        snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        char *text = read_file(root, file);
        snprintf(name, sizeof name, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
        free(text);
        size_t used = strlen(names);
        if (*name && !strstr(names, name))
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
    }
    return line_json(names);
}

static json_t *boost(const char *root)
{
    uint64_t value;
    if (file_number(root, "/sys/devices/system/cpu/cpufreq/boost", &value))
        return json_boolean(value != 0);
    if (file_number(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", &value))
        return json_boolean(value == 0);
    return json_null();
}

// --- virtual machines ---

static bool has_word(const char *line, const char *word)
{
    size_t length = strlen(word), end = strcspn(line, "\n");
    for (const char *at = line; (at = strstr(at, word)) != NULL && at < line + end; at += length)
        if (isspace((unsigned char)at[-1]) && (!at[length] || isspace((unsigned char)at[length])))
            return true;
    return false;
}

// True or false where the processor tells (x86) or a hypervisor names itself; else null.
static json_t *is_virtual(const char *root, const char *cpuinfo)
{
    char *type = read_file(root, "/sys/hypervisor/type");
    bool named = type != NULL;
    free(type);
    const char *flags = value_of(cpuinfo, "flags", ':');
    if (named || (flags && has_word(flags, "hypervisor")))
        return json_true();
    return flags ? json_false() : json_null();
}

// The hypervisor's own signature (CPUID leaf 0x40000000), for example "KVMKVMKVM".
static json_t *cpuid_signature(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned leaf, words[3];
    char text[sizeof words + 1] = "";
    __cpuid(0x40000000, leaf, words[0], words[1], words[2]);
    memcpy(text, words, sizeof words);
    for (const char *at = text; *at; at++)
        if (!isprint((unsigned char)*at))
            return json_null();
    tlc_text_once(text);
    return leaf >= 0x40000000 ? line_json(text) : json_null();
#else
    return json_null();
#endif
}

static json_t *hypervisor(const char *root, bool virtual)
{
    static const char *const files[] = {"/sys/hypervisor/type", "/sys/class/dmi/id/product_name",
                                        "/sys/class/dmi/id/sys_vendor"};
    json_t *name = json_null();
    if (!virtual)
        return name;
    if (!*root)
        name = cpuid_signature();
    for (size_t i = 0; json_is_null(name) && i < sizeof files / sizeof *files; i++)
        name = file_line(root, files[i]);
    return name;
}

static void describe_processor(json_t *machine, const char *root)
{
    char *cpuinfo = read_file(root, "/proc/cpuinfo");
    json_t *virtual = is_virtual(root, cpuinfo);
    json_object_set_new(machine, "cpu_model", cpu_model(cpuinfo));
    describe_cores(machine, root);
    json_object_set_new(machine, "governor", governor(root));
    json_object_set_new(machine, "boost", boost(root));
    json_object_set_new(machine, "hypervisor", hypervisor(root, json_is_true(virtual)));
    json_object_set_new(machine, "virtual", virtual);
    free(cpuinfo);
}

// --- system ---

static json_t *distribution(const char *root)
{
    char *text = read_file(root, "/etc/os-release");
    if (!text)
        text = read_file(root, "/usr/lib/os-release");
    const char *quoted = value_of(text, "PRETTY_NAME", '=');
    json_t *name = json_null();
    if (quoted && (*quoted == '"' || *quoted == '\'')) {
        char quote[] = {*quoted, '\n', '\0'};
        json_t *inner = json_stringn(quoted + 1, strcspn(quoted + 1, quote));
        name = inner ? inner : name;
    } else if (quoted) {
        name = line_json(quoted);
    }
    free(text);
    return name;
}

static json_t *memory_bytes(const char *root)
{
    char *text = read_file(root, "/proc/meminfo");
    const char *at = value_of(text, "MemTotal", ':');
    uint64_t kilobytes;
    bool good = at && tlc_text_number(&at, INT64_MAX / 1024, &kilobytes);
    free(text);
    return good ? json_integer((json_int_t)kilobytes * 1024) : json_null();
}

static json_t *fd_limit(const char *root)
{
    struct rlimit limit;
    if (*root || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return json_null();
    return json_integer((json_int_t)limit.rlim_cur);
}

static json_t *somaxconn(const char *root)
{
    uint64_t value;
    return file_number(root, "/proc/sys/net/core/somaxconn", &value)
               ? json_integer((json_int_t)value)
               : json_null();
}

static json_t *port_range(const char *root)
{
    char *text = read_file(root, "/proc/sys/net/ipv4/ip_local_port_range");
    const char *at = text;
    uint64_t low, high;
    bool good = text && tlc_text_number(&at, 65535, &low) && tlc_text_number(&at, 65535, &high);
    free(text);
    return good ? json_pack("[I, I]", (json_int_t)low, (json_int_t)high) : json_null();
}

static json_t *load_average(const char *root)
{
    char *text = read_file(root, "/proc/loadavg"), *at = text;
    json_t *list = json_array();
    while (at && json_array_size(list) < 3) {
        char *end;
        double value = strtod(at, &end);
        // jansson takes no NaN and no infinity
        at = end != at && json_array_append_new(list, json_real(value)) == 0 ? end : NULL;
    }
    free(text);
    if (json_array_size(list) == 3)
        return list;
    json_decref(list);
    return json_null();
}

static json_t *architecture(const char *root)
{
    struct utsname name;
    return *root || uname(&name) != 0 ? json_null() : line_json(name.machine);
}

// How the kernel keeps CPU time, by its configuration: "irq-time" and "virtual" measure interrupts
// apart from what they interrupt, "tick" looks at the end of each tick who runs.
static json_t *cpu_accounting(const char *root)
{
    char *release = read_file(root, "/proc/sys/kernel/osrelease"), path[512], *config = NULL;
    if (release) {
        release[strcspn(release, "\n")] = '\0';
        snprintf(path, sizeof path, "/boot/config-%.400s", release);
        config = read_file(root, path);
    }
    free(release);
    if (!config && !*root) { // a kernel may carry it
        static const char *const unpack[] = {"gzip", "-dc", "/proc/config.gz", NULL};
        struct tlc_error ignored;
        int code = 0;
        if (access("/proc/config.gz", R_OK) == 0 &&
            tlc_process_output(unpack, 5000, &config, &code, &ignored) != TLC_OK)
            config = NULL;
    }
    json_t *name = json_null();
    if (config && strstr(config, "\nCONFIG_IRQ_TIME_ACCOUNTING=y\n"))
        name = json_string("irq-time");
    else if (config && strstr(config, "\nCONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y\n"))
        name = json_string("virtual");
    else if (config && strstr(config, "\nCONFIG_TICK_CPU_ACCOUNTING=y\n"))
        name = json_string("tick");
    free(config);
    return name;
}

json_t *tlc_machine_describe_at(const char *root)
{
    json_t *machine = json_object();
    describe_processor(machine, root);
    json_object_set_new(machine, "kernel", file_line(root, "/proc/sys/kernel/osrelease"));
    json_object_set_new(machine, "architecture", architecture(root));
    json_object_set_new(machine, "distribution", distribution(root));
    json_object_set_new(machine, "memory_bytes", memory_bytes(root));
    json_object_set_new(
        machine, "clock_source",
        file_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    json_object_set_new(machine, "cpu_accounting", cpu_accounting(root));
    json_object_set_new(machine, "fd_limit", fd_limit(root));
    json_object_set_new(machine, "somaxconn", somaxconn(root));
    json_object_set_new(machine, "port_range", port_range(root));
    json_object_set_new(machine, "load_average", load_average(root));
    json_object_set_new(machine, "tlscost",
                        json_pack("{s:s, s:s}", "version", TLC_VERSION, "libcrypto",
                                  OpenSSL_version(OPENSSL_VERSION)));
    return machine;
}

json_t *tlc_machine_describe(void)
{
    return tlc_machine_describe_at("");
}
