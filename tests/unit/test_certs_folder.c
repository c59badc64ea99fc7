// The folder: what is kept, what is made again, and what is refused.
#include "certs_support.h"

#include <signal.h>
#include <sys/wait.h>

static void keys_are_for_their_owner_only(void **state)
{
    (void)state;
    mode_t before = umask(0);
    assert_int_equal(rmdir(folder), 0);
    make_two();
    umask(before);
    assert_int_equal(mode_of(""), 0700);
    assert_int_equal(mode_of("ca.key"), 0600);
    assert_int_equal(mode_of("ed25519.key"), 0600);
    assert_int_equal(mode_of("ed25519.pem"), 0644);
}

static void missing_parents_are_made(void **state)
{
    (void)state;
    char deep[PATH_MAX];
    snprintf(deep, sizeof deep, "%s/a/b", folder);
    struct tlc_error error;
    struct tlc_certs_options options = {.directory = deep, .names = two};
    assert_int_equal(tlc_certs_make(&options, NULL, &error), TLC_OK);
    assert_int_equal(mode_of("a/b"), 0700);
    empty_folder(deep);
    assert_int_equal(rmdir(deep), 0);
    assert_int_equal(rmdir(path_of("a")), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(keys_are_for_their_owner_only),
        in_folder(missing_parents_are_made),
        in_folder(what_is_good_is_kept),
        in_folder(every_certificate_is_noted),
        in_folder(near_expiry_everything_is_remade),
        in_folder(damage_is_repaired),
        in_folder(a_killed_maker_leaves_nothing_half_done),
        in_folder(makers_at_once_agree),
        in_folder(wrong_options_are_refused),
        in_folder(unsafe_folders_are_refused),
        in_folder(reading_checks_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
