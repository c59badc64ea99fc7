// The test CA and its folder, checked with libcrypto's own verification.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/process.h"
#include "certs/certs.h"

// --- a folder for each test ---

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tlscost-certs-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *files = opendir(folder);
    for (struct dirent *entry; files && (entry = readdir(files)) != NULL;)
        unlinkat(dirfd(files), entry->d_name, 0);
    closedir(files);
    return rmdir(folder);
}

static const char *path_of(const char *file)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static bool has(const char *file)
{
    return access(path_of(file), F_OK) == 0;
}

static void put(const char *file, const char *text)
{
    FILE *out = fopen(path_of(file), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static mode_t mode_of(const char *file)
{
    struct stat facts;
    assert_int_equal(stat(path_of(file), &facts), 0);
    return facts.st_mode & 07777;
}

static const char *const two[] = {"ecdsa-p256", "ed25519", NULL};

static size_t make(struct tlc_certs_options options)
{
    struct tlc_error error = {0};
    size_t made = 0;
    options.directory = folder;
    if (tlc_certs_make(&options, &made, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return made;
}

static size_t make_two(void)
{
    return make((struct tlc_certs_options){.names = two});
}

static void expect_refusal(struct tlc_certs_options options, enum tlc_status status,
                           const char *word)
{
    struct tlc_error error = {0};
    if (!options.directory)
        options.directory = folder;
    assert_int_equal(tlc_certs_make(&options, NULL, &error), status);
    if (!strstr(error.text, word))
        fail_msg("'%s': does not say '%s'", error.text, word);
}

// --- certificates ---

static STACK_OF(X509) * parse_chain(const char *pem)
{
    BIO *memory = BIO_new_mem_buf(pem, -1);
    STACK_OF(X509) *chain = sk_X509_new_null();
    for (X509 *next; (next = PEM_read_bio_X509(memory, NULL, NULL, NULL)) != NULL;)
        sk_X509_push(chain, next);
    BIO_free(memory);
    assert_true(sk_X509_num(chain) > 0);
    return chain;
}

static STACK_OF(X509) * read_chain(const char *name)
{
    struct tlc_certs_pair pair;
    struct tlc_error error = {0};
    if (tlc_certs_read(folder, name, &pair, &error) != TLC_OK)
        fail_msg("%s", error.text);
    STACK_OF(X509) *chain = parse_chain(pair.chain_pem);
    tlc_certs_pair_free(&pair);
    return chain;
}

// The first certificate of a chain in the folder; X509_free frees it.
static X509 *read_leaf(const char *name)
{
    STACK_OF(X509) *chain = read_chain(name);
    X509 *leaf = sk_X509_shift(chain);
    sk_X509_pop_free(chain, X509_free);
    return leaf;
}

static int verify(const struct tlc_certs_pair *pair, int purpose)
{
    STACK_OF(X509) *chain = parse_chain(pair->chain_pem), *ca = parse_chain(pair->ca_pem);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, sk_X509_value(ca, 0));
    X509_STORE_CTX_init(context, store, sk_X509_value(chain, 0), chain);
    X509_STORE_CTX_set_purpose(context, purpose);
    int result = X509_verify_cert(context) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    sk_X509_pop_free(ca, X509_free);
    sk_X509_pop_free(chain, X509_free);
    return result;
}

static int verify_named(const char *name, int purpose)
{
    struct tlc_certs_pair pair;
    struct tlc_error error = {0};
    if (tlc_certs_read(folder, name, &pair, &error) != TLC_OK)
        fail_msg("%s", error.text);
    int result = verify(&pair, purpose);
    tlc_certs_pair_free(&pair);
    return result;
}

static struct tlc_certs_facts facts_of(const char *pem)
{
    struct tlc_certs_facts facts;
    struct tlc_error error = {0};
    if (tlc_certs_facts_pem(pem, &facts, NULL, NULL, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return facts;
}

static void in_memory_pairs_verify(void **state)
{
    (void)state;
    struct tlc_error error;
    size_t count = 0;
    for (; tlc_certs_name_at(count); count++) {
        const char *name = tlc_certs_name_at(count);
        char subject[64];
        struct tlc_certs_pair pair;
        assert_int_equal(tlc_certs_in_memory(name, &pair, &error), TLC_OK);
        assert_int_equal(verify(&pair, X509_PURPOSE_SSL_SERVER), X509_V_OK);
        struct tlc_certs_facts facts = facts_of(pair.chain_pem);
        snprintf(subject, sizeof subject, "tlscost %s", name);
        assert_string_equal(facts.key_type, name);
        assert_string_equal(facts.subject, subject);
        assert_string_equal(facts.issuer, "tlscost test CA");
        assert_string_equal(facts.signature_algorithm, "sha256WithRSAEncryption");
        tlc_certs_pair_free(&pair);
    }
    assert_int_equal(count, 9);
    struct tlc_certs_pair pair;
    assert_int_equal(tlc_certs_in_memory("dsa-1024", &pair, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "mldsa-65"));
}

static void names_are_known_exactly(void **state)
{
    (void)state;
    assert_true(tlc_certs_name_known("mldsa-87"));
    assert_false(tlc_certs_name_known("MLDSA-87"));
    assert_false(tlc_certs_name_known("rsa-1024"));
    assert_false(tlc_certs_name_known(""));
}

// Everything but the subject key identifier, which is a hash of the key, is byte for byte the same.
static void expect_equal_extensions(const X509 *left, const X509 *right)
{
    assert_int_equal(X509_get_ext_count(left), X509_get_ext_count(right));
    for (int i = 0; i < X509_get_ext_count(left); i++) {
        X509_EXTENSION *a = X509_get_ext(left, i), *b = X509_get_ext(right, i);
        int kind = OBJ_obj2nid(X509_EXTENSION_get_object(a));
        assert_int_equal(kind, OBJ_obj2nid(X509_EXTENSION_get_object(b)));
        assert_int_equal(X509_EXTENSION_get_critical(a), X509_EXTENSION_get_critical(b));
        const ASN1_OCTET_STRING *x = X509_EXTENSION_get_data(a), *y = X509_EXTENSION_get_data(b);
        assert_int_equal(ASN1_STRING_length(x), ASN1_STRING_length(y));
        assert_int_equal(ASN1_OCTET_STRING_cmp(x, y) != 0, kind == NID_subject_key_identifier);
    }
}

static void leaves_differ_only_in_their_key(void **state)
{
    (void)state;
    assert_int_equal(make((struct tlc_certs_options){0}), 10);
    X509 *first = read_leaf("ecdsa-p256");
    for (size_t i = 0; tlc_certs_name_at(i); i++) {
        const char *name = tlc_certs_name_at(i);
        assert_int_equal(verify_named(name, X509_PURPOSE_SSL_SERVER), X509_V_OK);
        X509 *leaf = read_leaf(name);
        assert_int_equal(ASN1_TIME_compare(X509_get0_notBefore(leaf), X509_get0_notBefore(first)),
                         0);
        assert_int_equal(ASN1_TIME_compare(X509_get0_notAfter(leaf), X509_get0_notAfter(first)), 0);
        assert_int_equal(ASN1_STRING_length(X509_get0_serialNumber(leaf)), 20);
        if (i > 0) {
            expect_equal_extensions(first, leaf);
            assert_int_not_equal(
                ASN1_INTEGER_cmp(X509_get0_serialNumber(first), X509_get0_serialNumber(leaf)), 0);
            assert_int_not_equal(
                X509_NAME_cmp(X509_get_subject_name(first), X509_get_subject_name(leaf)), 0);
        }
        X509_free(leaf);
    }
    X509_free(first);
    X509 *rsa = read_leaf("rsa-3072");
    BIGNUM *exponent = NULL;
    assert_int_equal(EVP_PKEY_get_bn_param(X509_get0_pubkey(rsa), OSSL_PKEY_PARAM_RSA_E, &exponent),
                     1);
    assert_true(BN_is_word(exponent, 65537));
    BN_free(exponent);
    X509_free(rsa);
}

static void keys_are_for_their_owner_only(void **state)
{
    (void)state;
    char deep[PATH_MAX];
    mode_t before = umask(0);
    snprintf(deep, sizeof deep, "%s/a", folder);
    struct tlc_error error;
    struct tlc_certs_options options = {.directory = deep, .names = two};
    assert_int_equal(tlc_certs_make(&options, NULL, &error), TLC_OK);
    umask(before);
    assert_int_equal(mode_of("a"), 0700);
    assert_int_equal(mode_of("a/ca.key"), 0600);
    assert_int_equal(mode_of("a/ed25519.key"), 0600);
    assert_int_equal(mode_of("a/ed25519.pem"), 0644);
    strcat(folder, "/a");
    assert_int_equal(remove_folder(NULL), 0);
    folder[strlen(folder) - 2] = '\0';
}

static void what_is_good_is_kept(void **state)
{
    (void)state;
    assert_int_equal(make_two(), 3);
    X509 *before = read_leaf("ed25519");
    assert_int_equal(make_two(), 0);
    static const char *const three[] = {"ed25519", "ecdsa-p384", NULL};
    assert_int_equal(make((struct tlc_certs_options){.names = three}), 1);
    X509 *after = read_leaf("ed25519"), *added = read_leaf("ecdsa-p384");
    assert_int_equal(X509_cmp(before, after), 0);
    expect_equal_extensions(after, added);
    assert_int_equal(ASN1_TIME_compare(X509_get0_notAfter(after), X509_get0_notAfter(added)), 0);
    assert_int_equal(make((struct tlc_certs_options){.names = two, .force = true}), 4);
    X509_free(added);
    X509_free(after);
    X509_free(before);
}

struct notes {
    char text[256];
};

static void take_note(const char *name, bool made, void *context)
{
    struct notes *notes = context;
    size_t used = strlen(notes->text);
    snprintf(notes->text + used, sizeof notes->text - used, "%s %s;", name, made ? "made" : "kept");
}

static void every_certificate_is_noted(void **state)
{
    (void)state;
    struct notes notes = {""};
    make((struct tlc_certs_options){.names = (const char *const[]){"ed25519", NULL}});
    make((struct tlc_certs_options){
        .names = two, .client = "ecdsa-p256", .note = take_note, .note_context = &notes});
    assert_string_equal(notes.text, "ecdsa-p256 made;ed25519 kept;client-ecdsa-p256 made;");
}

static void hosts_are_in_every_leaf(void **state)
{
    (void)state;
    static const char *const hosts[] = {"www.test.example", "192.0.2.7", "2001:db8::1", NULL};
    static const char *const turned[] = {"2001:db8::1", "192.0.2.7", "www.test.example",
                                         "192.0.2.7", NULL};
    make_two();
    assert_int_equal(make((struct tlc_certs_options){.names = two, .extra_hosts = hosts}), 3);
    X509 *leaf = read_leaf("ed25519");
    assert_int_equal(X509_check_host(leaf, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(leaf, "www.test.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(leaf, "other.example", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(leaf, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "192.0.2.7", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "2001:db8::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(leaf, "192.0.2.8", 0), 0);
    X509_free(leaf);
    // Neither their order nor a repeat makes them others.
    assert_int_equal(make((struct tlc_certs_options){.names = two, .extra_hosts = turned}), 0);
}

static void intermediates_are_sent(void **state)
{
    (void)state;
    struct tlc_certs_options options = {.names = two, .intermediates = 6};
    assert_int_equal(make(options), 9);
    STACK_OF(X509) *chain = read_chain("ecdsa-p256");
    assert_int_equal(sk_X509_num(chain), 7);
    for (int i = 0; i + 1 < sk_X509_num(chain); i++)
        assert_int_equal(X509_check_issued(sk_X509_value(chain, i + 1), sk_X509_value(chain, i)),
                         X509_V_OK);
    sk_X509_pop_free(chain, X509_free);
    assert_int_equal(verify_named("ecdsa-p256", X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(make(options), 0);
    assert_true(has("intermediate-6.key"));
    options.intermediates = 1;
    assert_int_equal(make(options), 4);
    assert_true(has("intermediate-1.pem"));
    assert_false(has("intermediate-2.pem"));
    assert_false(has("intermediate-6.key"));
    assert_int_equal(verify_named("ed25519", X509_PURPOSE_SSL_SERVER), X509_V_OK);
}

static void client_certificates_are_for_clients(void **state)
{
    (void)state;
    assert_int_equal(make((struct tlc_certs_options){.names = two, .client = "ed25519"}), 4);
    assert_int_equal(verify_named("client-ed25519", X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    assert_int_equal(verify_named("client-ed25519", X509_PURPOSE_SSL_SERVER),
                     X509_V_ERR_INVALID_PURPOSE);
    assert_int_equal(verify_named("ed25519", X509_PURPOSE_SSL_CLIENT), X509_V_ERR_INVALID_PURPOSE);
    // A folder that is remade keeps its client certificates.
    assert_int_equal(make((struct tlc_certs_options){.names = two, .days = 7}), 4);
    assert_int_equal(verify_named("client-ed25519", X509_PURPOSE_SSL_CLIENT), X509_V_OK);
}

// --- what makes a folder no longer good ---

static void move_validity(json_int_t before_s, json_int_t after_s)
{
    json_t *manifest = json_load_file(path_of("manifest.json"), 0, NULL);
    assert_non_null(manifest);
    time_t now = time(NULL);
    json_object_set_new(manifest, "not_before", json_integer(now + before_s));
    json_object_set_new(manifest, "not_after", json_integer(now + after_s));
    assert_int_equal(json_dump_file(manifest, path_of("manifest.json"), 0), 0);
    json_decref(manifest);
}

static void near_expiry_everything_is_remade(void **state)
{
    (void)state;
    enum { DAY = 86400 };
    make_two();
    move_validity(-21 * DAY, 9 * DAY); // less than a third of 30 days left
    assert_int_equal(make_two(), 3);
    move_validity(-40 * DAY, -10 * DAY);
    assert_int_equal(make_two(), 3);
    move_validity(2 * DAY, 32 * DAY); // the clock was set back
    assert_int_equal(make_two(), 3);
    assert_int_equal(make_two(), 0);
    // Certificates of another validity than the manifest says.
    move_validity(-DAY, 60 * DAY);
    assert_int_equal(make_two(), 3);
}

static void damage_is_repaired(void **state)
{
    (void)state;
    make_two();
    put("ed25519.pem", "-----BEGIN CERTIFICATE-----\n");
    assert_int_equal(make_two(), 1);
    assert_int_equal(unlink(path_of("ed25519.key")), 0);
    assert_int_equal(make_two(), 1);
    assert_int_equal(chmod(path_of("ed25519.key"), 0644), 0);
    assert_int_equal(make_two(), 1);
    assert_int_equal(mode_of("ed25519.key"), 0600);
    char other[PATH_MAX];
    snprintf(other, sizeof other, "%s", path_of("ecdsa-p256.key"));
    assert_int_equal(rename(other, path_of("ed25519.key")), 0);
    assert_int_equal(make_two(), 2);
    put("ca.key", "nothing");
    assert_int_equal(make_two(), 3);
    put("manifest.json", "{\"format\": 1");
    expect_refusal((struct tlc_certs_options){.names = two}, TLC_USAGE, "--force");
    assert_int_equal(make((struct tlc_certs_options){.names = two, .force = true}), 3);
    assert_int_equal(verify_named("ed25519", X509_PURPOSE_SSL_SERVER), X509_V_OK);
}

static void die(const char *name, bool made, void *context)
{
    (void)name, (void)made, (void)context;
    raise(SIGKILL);
}

static void a_killed_maker_leaves_nothing_half_done(void **state)
{
    (void)state;
    make_two();
    pid_t pid = fork();
    if (pid == 0) {
        make((struct tlc_certs_options){.names = two, .force = true, .note = die});
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(make_two(), 3);
    assert_int_equal(verify_named("ed25519", X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(make_two(), 0);
}

static void makers_at_once_agree(void **state)
{
    (void)state;
    enum { MAKERS = 4 };
    pid_t makers[MAKERS];
    for (int i = 0; i < MAKERS; i++)
        if ((makers[i] = fork()) == 0) {
            size_t made = 99;
            struct tlc_certs_options options = {.directory = folder, .names = two};
            if (tlc_certs_make(&options, &made, NULL) != TLC_OK)
                made = 99;
            _exit((int)made);
        }
    int sum = 0;
    for (int i = 0; i < MAKERS; i++) {
        int how;
        assert_int_equal(waitpid(makers[i], &how, 0), makers[i]);
        assert_true(WIFEXITED(how));
        sum += WEXITSTATUS(how);
    }
    assert_int_equal(sum, 3);
    assert_int_equal(verify_named("ecdsa-p256", X509_PURPOSE_SSL_SERVER), X509_V_OK);
}

// --- refusals ---

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const char *const unknown[] = {"ed25519", "rsa-1", NULL};
    static const char *const empty[] = {"", NULL};
    static const char *const hosts[] = {"good.example", "DNS:evil,IP:1", NULL};
    static const char *const dots[] = {"a..b", NULL};
    expect_refusal((struct tlc_certs_options){.names = unknown}, TLC_USAGE, "'rsa-1'");
    expect_refusal((struct tlc_certs_options){.names = empty}, TLC_USAGE, "''");
    expect_refusal((struct tlc_certs_options){.client = "x"}, TLC_USAGE, "'x'");
    expect_refusal((struct tlc_certs_options){.intermediates = 7}, TLC_USAGE, "at most 6");
    expect_refusal((struct tlc_certs_options){.days = 100000}, TLC_USAGE, "at most 3650");
    expect_refusal((struct tlc_certs_options){.extra_hosts = hosts}, TLC_USAGE, "DNS:evil");
    expect_refusal((struct tlc_certs_options){.extra_hosts = dots}, TLC_USAGE, "a..b");
    expect_refusal((struct tlc_certs_options){.directory = "/proc/none/here"}, TLC_ENVIRONMENT,
                   "/proc/none");
    assert_false(has("ca.pem"));
}

static void unsafe_folders_are_refused(void **state)
{
    (void)state;
    assert_int_equal(chmod(folder, 0777), 0);
    expect_refusal((struct tlc_certs_options){.names = two}, TLC_ENVIRONMENT, "chmod go-w");
    assert_int_equal(chmod(folder, 0700), 0);
    put("ca.pem", "somebody's");
    expect_refusal((struct tlc_certs_options){.names = two}, TLC_USAGE, "another folder");
    assert_false(has("ca.key"));
}

static void expect_unreadable(const char *name, const char *word)
{
    struct tlc_certs_pair pair;
    struct tlc_error error = {0};
    assert_int_not_equal(tlc_certs_read(folder, name, &pair, &error), TLC_OK);
    if (!strstr(error.text, word))
        fail_msg("'%s': does not say '%s'", error.text, word);
    assert_null(pair.chain_pem);
    assert_null(pair.key_pem);
    assert_null(pair.ca_pem);
}

static void reading_checks_what_it_reads(void **state)
{
    (void)state;
    make_two();
    expect_unreadable("rsa-2048", "tlscost certs");
    expect_unreadable("../etc/passwd", "not a certificate's name");
    expect_unreadable(".hidden", "not a certificate's name");
    expect_unreadable("", "not a certificate's name");
    char from[PATH_MAX];
    snprintf(from, sizeof from, "%s", path_of("ecdsa-p256.key"));
    assert_int_equal(rename(from, path_of("ed25519.key")), 0);
    expect_unreadable("ed25519", "does not belong");
    put("ed25519.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n");
    expect_unreadable("ed25519", "no readable private key");
    put("ed25519.pem", "");
    expect_unreadable("ed25519", "no certificate");
    unlink(path_of("ca.pem"));
    expect_unreadable("ed25519", "ca.pem");
    struct tlc_certs_pair pair;
    struct tlc_error error;
    assert_int_equal(tlc_certs_read("/nowhere", "ed25519", &pair, &error), TLC_ENVIRONMENT);
}

static void facts_survive_any_bytes(void **state)
{
    (void)state;
    struct tlc_certs_pair pair;
    struct tlc_certs_facts facts;
    struct tlc_error error;
    assert_int_equal(tlc_certs_in_memory("ecdsa-p384", &pair, &error), TLC_OK);
    STACK_OF(X509) *chain = parse_chain(pair.chain_pem);
    unsigned char *der = NULL;
    int count = i2d_X509(sk_X509_value(chain, 0), &der);
    assert_int_equal(tlc_certs_facts(der, (size_t)count, &facts, &error), TLC_OK);
    assert_int_equal(facts.key_bits, 384);
    assert_int_equal(facts.not_after[4], '-');
    assert_int_equal(facts.not_after[19], 'Z');
    for (int length = 0; length < count; length++)
        assert_int_equal(tlc_certs_facts(der, (size_t)length, &facts, &error), TLC_ENVIRONMENT);
    for (int at = 0; at < count; at++) { // any answer, but no crash and always one line of text
        der[at] ^= 0x55;
        if (tlc_certs_facts(der, (size_t)count, &facts, &error) == TLC_OK)
            assert_null(strpbrk(facts.subject, "\n\r\x1b"));
        der[at] ^= 0x55;
    }
    unsigned char *longer = calloc(1, (size_t)count + 1);
    memcpy(longer, der, (size_t)count);
    assert_int_equal(tlc_certs_facts(longer, (size_t)count + 1, &facts, &error), TLC_ENVIRONMENT);
    free(longer);
    assert_int_equal(tlc_certs_facts_pem("no PEM", &facts, NULL, NULL, &error), TLC_ENVIRONMENT);
    OPENSSL_free(der);
    sk_X509_pop_free(chain, X509_free);
    tlc_certs_pair_free(&pair);
}

static void facts_of_a_chain_count_its_bytes(void **state)
{
    (void)state;
    make((struct tlc_certs_options){.names = two, .intermediates = 2});
    struct tlc_certs_pair pair;
    struct tlc_certs_facts facts;
    struct tlc_error error;
    size_t count, bytes, expected = 0;
    assert_int_equal(tlc_certs_read(folder, "ed25519", &pair, &error), TLC_OK);
    assert_int_equal(tlc_certs_facts_pem(pair.chain_pem, &facts, &count, &bytes, &error), TLC_OK);
    STACK_OF(X509) *chain = parse_chain(pair.chain_pem);
    for (int i = 0; i < sk_X509_num(chain); i++)
        expected += (size_t)i2d_X509(sk_X509_value(chain, i), NULL);
    assert_int_equal(count, 3);
    assert_int_equal(bytes, expected);
    assert_string_equal(facts.key_type, "ed25519");
    assert_string_equal(facts.issuer, "tlscost intermediate 2");
    sk_X509_pop_free(chain, X509_free);
    tlc_certs_pair_free(&pair);
}

// A second opinion, without the key types that an older openssl does not know.
static void the_openssl_program_agrees(void **state)
{
    (void)state;
    static const char *const names[] = {"ecdsa-p256", "ed25519", "rsa-2048", NULL};
    char ca[PATH_MAX], leaf[PATH_MAX], *text = NULL;
    int code = -1;
    struct tlc_error error;
    const char *const version[] = {"openssl", "version", NULL};
    if (tlc_process_output(version, 10000, &text, &code, &error) != TLC_OK || code != 0) {
        free(text);
        skip();
    }
    free(text);
    make((struct tlc_certs_options){.names = names, .intermediates = 2});
    snprintf(ca, sizeof ca, "%s", path_of("ca.pem"));
    for (size_t i = 0; names[i]; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s.pem", names[i]);
        snprintf(leaf, sizeof leaf, "%s", path_of(file));
        const char *const arguments[] = {
            "openssl", "verify",     "-x509_strict", "-purpose", "sslserver", "-CAfile",
            ca,        "-untrusted", leaf,           leaf,       NULL};
        assert_int_equal(tlc_process_output(arguments, 10000, &text, &code, &error), TLC_OK);
        if (code != 0)
            fail_msg("%s", text);
        free(text);
    }
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory_pairs_verify),
        cmocka_unit_test(names_are_known_exactly),
        in_folder(leaves_differ_only_in_their_key),
        in_folder(keys_are_for_their_owner_only),
        in_folder(what_is_good_is_kept),
        in_folder(every_certificate_is_noted),
        in_folder(hosts_are_in_every_leaf),
        in_folder(intermediates_are_sent),
        in_folder(client_certificates_are_for_clients),
        in_folder(near_expiry_everything_is_remade),
        in_folder(damage_is_repaired),
        in_folder(a_killed_maker_leaves_nothing_half_done),
        in_folder(makers_at_once_agree),
        in_folder(wrong_options_are_refused),
        in_folder(unsafe_folders_are_refused),
        in_folder(reading_checks_what_it_reads),
        cmocka_unit_test(facts_survive_any_bytes),
        in_folder(facts_of_a_chain_count_its_bytes),
        in_folder(the_openssl_program_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
