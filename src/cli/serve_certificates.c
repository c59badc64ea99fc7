// The certificates that `serve` serves: from --certs, --cert, --sni and --names.
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "cli/common.h"
#include "cli/serve.h"

void tlc_served_forget_numbered(struct tlc_served *served)
{
    tlc_certs_numbered_free(&served->numbered);
    free(served->numbered_hosts);
    free(served->all);
    served->numbered_hosts = NULL;
    served->all = NULL;
}

void tlc_served_free(struct tlc_served *served)
{
    tlc_served_forget_numbered(served);
    for (size_t i = 0; i < served->count; i++)
        tlc_certs_pair_free(&served->pairs[i]);
    tlc_words_free(served->cert_words);
    tlc_words_free(served->sni_words);
    tlc_words_free(served->alpn_words);
}

// Fills names and server names from --cert and --sni; the PEM comes later.
static enum tlc_status choose_certificates(const struct tlc_serve_asked *asked,
                                           struct tlc_served *served, struct tlc_error *error)
{
    served->cert_words = tlc_words(asked->cert);
    served->sni_words = tlc_words(asked->sni ? asked->sni : "");
    size_t count = 0;
    for (char **word = served->cert_words; word && *word && count < TLC_SERVED_CERTIFICATES; word++)
        served->names[count++] = *word;
    if (!count)
        return tlc_fail(error, TLC_USAGE,
                        "--cert: a certificate is needed, for example ecdsa-p256");
    for (char **word = served->sni_words; word && *word && count < TLC_SERVED_CERTIFICATES;
         word++) {
        char *equals = strchr(*word, '=');
        if (!equals || equals == *word || !equals[1])
            return tlc_fail(error, TLC_USAGE,
                            "--sni: '%s': write NAME=HOST, for example rsa-2048=www.test", *word);
        *equals = '\0';
        served->certificates[count].server_name = equals + 1;
        served->hosts[served->host_count++] = equals + 1;
        served->names[count++] = *word;
    }
    if (count == TLC_SERVED_CERTIFICATES)
        return tlc_fail(error, TLC_USAGE, "--cert, --sni: fewer than %d certificates, please",
                        TLC_SERVED_CERTIFICATES);
    return TLC_OK;
}

// Without --certs: a folder of this user, filled with what is missing.
static enum tlc_status make_certificates(const struct tlc_served *served, unsigned numbered,
                                         char *directory, size_t capacity, struct tlc_error *error)
{
    char cache[3072];
    enum tlc_status status = tlc_directory_of_user(TLC_DIRECTORY_CACHE, cache, sizeof cache, error);
    if (status != TLC_OK)
        return status;
    snprintf(directory, capacity, "%s/serve", cache);
    return tlc_certs_make(&(struct tlc_certs_options){.directory = directory,
                                                      .names = served->names,
                                                      .extra_hosts = served->hosts,
                                                      .numbered = served->names[0],
                                                      .numbered_count = numbered},
                          NULL, error);
}

// Behind the others, so that the first one stays the default.
static enum tlc_status add_numbered(const char *directory, unsigned count,
                                    struct tlc_served *served, struct tlc_stack_config *config,
                                    struct tlc_error *error)
{
    enum tlc_status status =
        tlc_certs_numbered_read(directory, served->names[0], count, &served->numbered, error);
    if (status != TLC_OK)
        return status;
    served->all = calloc(served->count + count, sizeof *served->all);
    served->numbered_hosts = calloc(count, sizeof *served->numbered_hosts);
    if (!served->all || !served->numbered_hosts)
        return tlc_fail(error, TLC_ENVIRONMENT, "serve: out of memory");
    memcpy(served->all, served->certificates, served->count * sizeof *served->all);
    for (size_t i = 0; i < count; i++) {
        tlc_certs_numbered_host(i, served->numbered_hosts[i]);
        served->all[served->count + i] = (struct tlc_stack_certificate){
            .server_name = served->numbered_hosts[i],
            .chain_pem = served->numbered.chains[i],
            .key_pem = served->pairs[0].key_pem,
        };
    }
    config->certificates = served->all;
    config->certificate_count = served->count + count;
    return TLC_OK;
}

enum tlc_status tlc_served_read(const struct tlc_serve_asked *asked, struct tlc_served *served,
                                struct tlc_stack_config *config, struct tlc_error *error)
{
    char made[4096];
    const char *directory = asked->certs;
    enum tlc_status status = choose_certificates(asked, served, error);
    if (status == TLC_OK && !directory) {
        directory = made;
        status = make_certificates(served, asked->numbered, made, sizeof made, error);
    }
    for (; status == TLC_OK && served->names[served->count]; served->count++) {
        struct tlc_certs_pair *pair = &served->pairs[served->count];
        status = tlc_certs_read(directory, served->names[served->count], pair, error);
        if (status != TLC_OK)
            break;
        served->certificates[served->count].chain_pem = pair->chain_pem;
        served->certificates[served->count].key_pem = pair->key_pem;
    }
    config->certificates = served->certificates;
    config->certificate_count = served->count;
    if (status == TLC_OK && asked->numbered)
        status = add_numbered(directory, asked->numbered, served, config, error);
    if (config->client_auth != TLC_CLIENT_AUTH_NONE)
        config->trust_pem = served->pairs[0].ca_pem;
    return status;
}
