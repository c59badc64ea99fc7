// Certificates of raw operations (docs/speed.md): a chain of ECDSA P-256 certificates is written
// here (RFC 5280, 4.1), with keys and signatures of the library that then reads and verifies it.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "stacks/plain_operations.h"

static struct tlc_plain_operation *plain_of(struct tlc_stack_operation *operation)
{
    return (struct tlc_plain_operation *)(void *)operation;
}

// ---- DER, from the last byte to the first, so that a length is known when it is written

struct der {
    uint8_t bytes[TLC_PLAIN_CERTIFICATE];
    size_t at; // of the first byte that is written
    bool full;
};

enum { INTEGER = 2, BITS = 3, TEXT = 12, TIME = 23, SEQUENCE = 0x30, SET = 0x31 };
enum { VERSION = 0xa0, EXTENSIONS = 0xa3 };

static void put(struct der *der, const void *bytes, size_t count)
{
    if (count > der->at) {
        der->full = true;
        return;
    }
    der->at -= count;
    memcpy(der->bytes + der->at, bytes, count);
}

// Tag and length of all that is written before the byte at `end`.
static void wrap(struct der *der, uint8_t tag, size_t end)
{
    size_t count = end - der->at;
    uint8_t head[4] = {tag, (uint8_t)count};
    size_t used = 2;
    if (count >= 256) {
        memcpy(head + 1, (uint8_t[]){0x82, (uint8_t)(count >> 8), (uint8_t)count}, 3);
        used = 4;
    } else if (count >= 128) {
        memcpy(head + 1, (uint8_t[]){0x81, (uint8_t)count}, 2);
        used = 3;
    }
    put(der, head, used);
}

static void put_value(struct der *der, uint8_t tag, const void *bytes, size_t count)
{
    size_t end = der->at;
    put(der, bytes, count);
    wrap(der, tag, end);
}

// basicConstraints, subjectAltName of "localhost" and extKeyUsage for servers (RFC 5280, 4.2.1)
static const uint8_t is_authority[] = {0x30, 15, 6, 3,    0x55, 0x1d, 19, 1,   1,
                                       0xff, 4,  5, 0x30, 3,    1,    1,  0xff};
static const uint8_t is_leaf[] = {0x30, 9, 6, 3, 0x55, 0x1d, 19, 4, 2, 0x30, 0};
static const uint8_t names_localhost[] = {0x30, 20, 6,   3,   0x55, 0x1d, 17,  4,   13,  0x30, 11,
                                          0x82, 9,  'l', 'o', 'c',  'a',  'l', 'h', 'o', 's',  't'};
static const uint8_t is_server[] = {0x30, 19, 6,    3, 0x55, 0x1d, 37, 4, 12, 0x30, 10,
                                    6,    8,  0x2b, 6, 1,    5,    5,  7, 3,  1};
// ecdsa-with-SHA256, and id-ecPublicKey with secp256r1 (RFC 5758, 3.2; RFC 5480, 2.1)
static const uint8_t signed_by[] = {0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2};
static const uint8_t key_type[] = {0x30, 19, 6,    7,    0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1,
                                   6,    8,  0x2a, 0x86, 0x48, 0xce, 0x3d, 3,    1,    7};

static void put_extensions(struct der *der, bool leaf)
{
    size_t end = der->at;
    if (leaf) {
        put(der, is_server, sizeof is_server);
        put(der, names_localhost, sizeof names_localhost);
        put(der, is_leaf, sizeof is_leaf);
    } else
        put(der, is_authority, sizeof is_authority);
    wrap(der, SEQUENCE, end);
    wrap(der, EXTENSIONS, end);
}

static void put_key(struct der *der, const uint8_t *point)
{
    size_t end = der->at;
    put(der, point, TLC_PLAIN_POINT);
    put(der, "", 1); // no unused bits
    wrap(der, BITS, end);
    put(der, key_type, sizeof key_type);
    wrap(der, SEQUENCE, end);
}

static void put_name(struct der *der, size_t number)
{
    static const uint8_t common_name[] = {6, 3, 0x55, 4, 3};
    size_t end = der->at;
    char text[32];
    int count = snprintf(text, sizeof text, "tlscost %zu", number);
    put_value(der, TEXT, text, (size_t)count);
    put(der, common_name, sizeof common_name);
    wrap(der, SEQUENCE, end);
    wrap(der, SET, end);
    wrap(der, SEQUENCE, end);
}

// UTCTime, which has two digits of the year (RFC 5280, 4.1.2.5.1).
static void put_time(struct der *der, time_t moment)
{
    enum { PARTS = 6 };
    uint8_t text[2 * PARTS + 1];
    struct tm all = {0};
    if (!gmtime_r(&moment, &all))
        der->full = true;
    const int parts[PARTS] = {all.tm_year % 100, all.tm_mon + 1, all.tm_mday,
                              all.tm_hour,       all.tm_min,     all.tm_sec};
    for (size_t i = 0; i < PARTS; i++) {
        text[2 * i] = (uint8_t)('0' + parts[i] / 10);
        text[2 * i + 1] = (uint8_t)('0' + parts[i] % 10);
    }
    text[2 * PARTS] = 'Z';
    put_value(der, TIME, text, sizeof text);
}

static void put_validity(struct der *der)
{
    enum { DAY = 86400 };
    size_t end = der->at;
    time_t now = time(NULL);
    put_time(der, now + 365L * DAY);
    put_time(der, now - DAY);
    wrap(der, SEQUENCE, end);
}

// What is signed: the certificate of level `level` (0: the leaf), issued by that of `issuer`.
static void put_content(struct der *der, size_t level, size_t issuer, const uint8_t *point)
{
    size_t end = der->at;
    put_extensions(der, level == 0);
    put_key(der, point);
    put_name(der, level);
    put_validity(der);
    put_name(der, issuer);
    put(der, signed_by, sizeof signed_by);
    put_value(der, INTEGER, (uint8_t[]){3, (uint8_t)(0xe8 + level)}, 2); // 1000 and the level
    put(der, (uint8_t[]){VERSION, 3, INTEGER, 1, 2}, 5);
    wrap(der, SEQUENCE, end);
}

static bool issue(struct tlc_stack_operation *operation, size_t level, size_t issuer,
                  const uint8_t *point, size_t signing_slot)
{
    struct der content = {.at = TLC_PLAIN_CERTIFICATE}, all = {.at = TLC_PLAIN_CERTIFICATE};
    struct tlc_plain_der *made = &plain_of(operation)->chain[level];
    uint8_t signature[128];
    size_t count = sizeof signature;
    put_content(&content, level, issuer, point);
    size_t bytes = TLC_PLAIN_CERTIFICATE - content.at;
    if (!tlc_plain_library.certificates->sign(operation, signing_slot, content.bytes + content.at,
                                              bytes, signature, &count))
        return false;
    put(&all, signature, count);
    put(&all, "", 1); // no unused bits
    wrap(&all, BITS, TLC_PLAIN_CERTIFICATE);
    put(&all, signed_by, sizeof signed_by);
    put(&all, content.bytes + content.at, bytes);
    wrap(&all, SEQUENCE, TLC_PLAIN_CERTIFICATE);
    made->count = TLC_PLAIN_CERTIFICATE - all.at;
    memcpy(made->bytes, all.bytes + all.at, made->count);
    return tlc_plain_is_right(operation, "certificate: it does not fit",
                              !content.full && !all.full);
}

// ---- the chain

// A leaf and `depth` - 1 intermediates below a root. Issuer and subject have a slot each, in turn.
static bool make_chain(struct tlc_stack_operation *operation, size_t depth)
{
    const struct tlc_plain_certificates *library = tlc_plain_library.certificates;
    uint8_t *point = plain_of(operation)->leaf_point;
    bool good = library->make_key(operation, depth % 2, point) &&
                issue(operation, depth, depth, point, depth % 2);
    for (size_t level = depth; good && level-- > 0;)
        good = library->make_key(operation, level % 2, point) &&
               issue(operation, level, level + 1, point, (level + 1) % 2);
    return good;
}

static void free_all(struct tlc_stack_operation *operation)
{
    tlc_plain_library.certificates->unload(operation);
    if (tlc_plain_library.certificates->free)
        tlc_plain_library.certificates->free(operation);
}

static bool parse_prepare(struct tlc_stack_operation *operation)
{
    return make_chain(operation, 1);
}

static bool parse_once(struct tlc_stack_operation *operation)
{
    return tlc_plain_library.certificates->parse(operation);
}

static bool parse_check(struct tlc_stack_operation *operation)
{
    uint8_t point[TLC_PLAIN_POINT];
    return tlc_plain_library.certificates->point_of(operation, point) &&
           tlc_plain_is_right(operation, "the parsed certificate has another key",
                              !memcmp(point, plain_of(operation)->leaf_point, sizeof point));
}

static bool verify_prepare(struct tlc_stack_operation *operation)
{
    size_t depth = plain_of(operation)->row->size;
    return make_chain(operation, depth) && tlc_plain_library.certificates->load(operation, depth);
}

static bool verify_once(struct tlc_stack_operation *operation)
{
    return tlc_plain_library.certificates->verify(operation);
}

// Whether the chain is refused when the signature of one of its certificates is another.
static bool is_refused(struct tlc_stack_operation *operation, size_t damaged)
{
    const struct tlc_plain_certificates *library = tlc_plain_library.certificates;
    struct tlc_plain_der *one = &plain_of(operation)->chain[damaged];
    one->bytes[one->count - 1] ^= 1;
    library->unload(operation);
    bool refused =
        !library->load(operation, plain_of(operation)->row->size) || !library->verify(operation);
    one->bytes[one->count - 1] ^= 1;
    return refused;
}

static bool verify_check(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_certificates *library = tlc_plain_library.certificates;
    size_t depth = plain_of(operation)->row->size;
    bool refused = true;
    for (size_t i = 0; refused && i < depth; i++)
        refused = is_refused(operation, i);
    library->unload(operation);
    return tlc_plain_is_right(operation, "a damaged chain is verified", refused) &&
           library->load(operation, depth) && library->verify(operation);
}

const struct tlc_plain_kind tlc_plain_certificate_parse = {parse_prepare, parse_once, parse_check,
                                                           free_all, NULL},
                            tlc_plain_chain_verify = {verify_prepare, verify_once, verify_check,
                                                      free_all, NULL};
