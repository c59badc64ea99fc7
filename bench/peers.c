#include "bench/peers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process.h"

enum { RUN_MS = 60000, VERSION_MS = 5000, WORDS_MAX = 24, WORD_BYTES = 160 };

struct peer_tool {
    const char *program; // on PATH
    const char *name;    // in reports
    const char *version; // option that prints it; NULL: there is none
    // Arguments behind the program, separated by blanks. %a address and port, %h address, %p port,
    // %g group, %n handshakes, %c concurrency; ~ stands for a blank within an argument.
    const char *load, *start_up;
    bool start_up_alone; // the start-up run goes to a port where nobody listens
};

// A new connection for every handshake, everywhere: that is what is measured.
static const struct peer_tool tools[] = {
    // Whole seconds are all it knows.
    {"openssl", "openssl s_time", "version", "s_time -connect %a -new -tls1_3 -time 1",
     "s_time -connect %a -new -tls1_3 -time 1", true},
    // It connects anew where the server closes.
    {"h2load", "h2load", "--version",
     "--h1 -t 1 -n %n -c %c -H connection:~close --groups=%g https://%a/",
     "--h1 -t 1 -n 1 -c 1 -H connection:~close --groups=%g https://%a/", false},
    {"wrk", "wrk", "-v", "-t 1 -c %c -d 1s -H Connection:~close https://%a/",
     "-t 1 -c 1 -d 1s -H Connection:~close https://%a/", true},
    // Without -k, each request has its own connection.
    {"ab", "ab", "-V", "-q -n %n -c %c https://%a/", "-q -n 1 -c 1 https://%a/", false},
    {"hey", "hey", NULL, "-n %n -c %c -cpus 1 -disable-keepalive https://%a/",
     "-n 1 -c 1 -cpus 1 -disable-keepalive https://%a/", false},
    {"tls-perf", "tls-perf", NULL, "-q -n %n -l %c -t 1 --tls 1.3 -C %g %h %p",
     "-q -n 1 -l 1 -t 1 --tls 1.3 -C %g %h %p", false},
    {"h1load", "h1load", NULL, "-t 1 -c %c -n %n -r 1 --tls-ver TLS1.3 https://%a/",
     "-t 1 -c 1 -n 1 -r 1 --tls-ver TLS1.3 https://%a/", false},
};

enum { TOOLS = sizeof tools / sizeof *tools };

const char *peer_tools_text(void)
{
    return "openssl, h2load, wrk, ab, hey, tls-perf, h1load";
}

static bool find_on_path(const char *program, char *path, size_t capacity)
{
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        int written = snprintf(path, capacity, "%.*s/%s", (int)length, folder, program);
        if (length && written > 0 && (size_t)written < capacity && !access(path, X_OK))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

static void ask_version(struct peer *peer)
{
    struct tlc_error error;
    char *text = NULL;
    int code;
    if (!peer->tool->version)
        return;
    const char *const arguments[] = {peer->path, peer->tool->version, NULL};
    if (tlc_process_output(arguments, VERSION_MS, &text, &code, &error) == TLC_OK)
        snprintf(peer->version, sizeof peer->version, "%.*s", (int)strcspn(text, "\r\n"), text);
    free(text);
}

// A second program of the same tool is told from the first by what its version says.
static void name_peer(const struct peer_list *list, struct peer *peer)
{
    bool first = true;
    for (size_t i = 0; i < list->count; i++)
        first = first && list->peers[i].tool != peer->tool;
    const char *number = strpbrk(peer->version, "0123456789");
    if (first)
        snprintf(peer->name, sizeof peer->name, "%s", peer->tool->name);
    else if (number)
        snprintf(peer->name, sizeof peer->name, "%s %.*s", peer->tool->name,
                 (int)strcspn(number, " "), number);
    else
        snprintf(peer->name, sizeof peer->name, "%s #%zu", peer->tool->name, list->count + 1);
}

static enum tlc_status add_tool(struct peer_list *list, const struct peer_tool *tool,
                                const char *path, struct tlc_error *error)
{
    if (list->count == PEERS_MAX)
        return tlc_fail(error, TLC_USAGE, "--peer: %s: there are %d already", path, PEERS_MAX);
    struct peer *peer = &list->peers[list->count];
    *peer = (struct peer){.tool = tool};
    int written = snprintf(peer->path, sizeof peer->path, "%s", path);
    if (written < 0 || (size_t)written >= sizeof peer->path || access(path, X_OK))
        return tlc_fail_errno(error, "--peer: %s", path);
    ask_version(peer);
    name_peer(list, peer);
    list->count++;
    return TLC_OK;
}

enum tlc_status peers_add(struct peer_list *list, const char *name, const char *path,
                          struct tlc_error *error)
{
    for (size_t i = 0; i < TOOLS; i++)
        if (!strcmp(tools[i].program, name))
            return add_tool(list, &tools[i], path, error);
    return tlc_fail(error, TLC_USAGE, "--peer: '%s': unknown; there are %s", name,
                    peer_tools_text());
}

enum tlc_status peers_find(struct peer_list *list, struct tlc_error *error)
{
    char path[sizeof list->peers->path];
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < TOOLS; i++)
        if (find_on_path(tools[i].program, path, sizeof path))
            status = add_tool(list, &tools[i], path, error);
    return status;
}

// A port that was free a moment ago: connections to it are refused.
static unsigned unused_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) ||
        getsockname(fd, (struct sockaddr *)&address, &length))
        address.sin_port = htons(9); // discard, which nobody serves
    if (fd >= 0)
        close(fd);
    return ntohs(address.sin_port);
}

static void append(char word[WORD_BYTES], const char *text)
{
    size_t used = strlen(word);
    snprintf(word + used, WORD_BYTES - used, "%s", text);
}

static void append_number(char word[WORD_BYTES], unsigned number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", number);
    append(word, digits);
}

// What `%letter` stands for.
static void append_value(char word[WORD_BYTES], char letter, const struct peer_job *job)
{
    const char *colon = strrchr(job->address, ':');
    char host[WORD_BYTES];
    snprintf(host, sizeof host, "%.*s", colon ? (int)(colon - job->address) : 0, job->address);
    if (letter == 'a')
        append(word, job->address);
    else if (letter == 'h')
        append(word, host);
    else if (letter == 'p')
        append(word, colon ? colon + 1 : "");
    else if (letter == 'g')
        append(word, job->group);
    else if (letter == 'n')
        append_number(word, job->handshakes);
    else if (letter == 'c')
        append_number(word, job->concurrency);
}

static void split_words(const char *pattern, const struct peer_job *job,
                        char words[WORDS_MAX][WORD_BYTES], const char **arguments)
{
    size_t count = 0;
    while (*pattern && count + 2 < WORDS_MAX) {
        char *word = words[count];
        for (word[0] = '\0'; *pattern && *pattern != ' '; pattern++) {
            if (*pattern == '%' && pattern[1])
                append_value(word, *++pattern, job);
            else
                append(word, (char[]){*pattern == '~' ? ' ' : *pattern, '\0'});
        }
        pattern += *pattern == ' ';
        arguments[count++] = word;
    }
    arguments[count] = NULL;
}

static double children_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// What makes a client's library offer one group and its key share alone: OpenSSL's system-wide
// default (config(5), SSL_CTX_config(3)), and for Go the switch of its hybrid group. Unset again,
// since our own processes must not read it.
static enum tlc_status choose_group(const struct peer_job *job, struct tlc_error *error)
{
    FILE *file = fopen(job->openssl_conf, "we");
    if (!file)
        return tlc_fail_errno(error, "peers: %s", job->openssl_conf);
    fprintf(file,
            "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = client\n"
            "[client]\nMinProtocol = TLSv1.3\nGroups = %s\n",
            job->group);
    if (fclose(file))
        return tlc_fail_errno(error, "peers: %s", job->openssl_conf);
    setenv("OPENSSL_CONF", job->openssl_conf, 1);
    setenv("GODEBUG", strstr(job->group, "MLKEM") ? "tlsmlkem=1" : "tlsmlkem=0", 1);
    return TLC_OK;
}

static void forget_group(void)
{
    unsetenv("OPENSSL_CONF");
    unsetenv("GODEBUG");
}

enum tlc_status peer_execute(const struct peer *peer, const struct peer_job *job, bool start_up,
                             struct peer_run *run, struct tlc_error *error)
{
    char words[WORDS_MAX][WORD_BYTES], closed[32];
    const char *arguments[WORDS_MAX + 1] = {peer->path};
    struct peer_job mine = *job;
    if (start_up && peer->tool->start_up_alone) {
        snprintf(closed, sizeof closed, "127.0.0.1:%u", unused_port());
        mine.address = closed;
    }
    split_words(start_up ? peer->tool->start_up : peer->tool->load, &mine, words, arguments + 1);
    *run = (struct peer_run){.text = NULL};
    enum tlc_status status = choose_group(job, error);
    if (status != TLC_OK)
        return status;
    double before = children_us();
    status = tlc_process_output(arguments, RUN_MS, &run->text, &run->code, error);
    forget_group();
    run->cpu_us = children_us() - before;
    return status;
}

void peer_run_free(struct peer_run *run)
{
    free(run->text);
    run->text = NULL;
}
