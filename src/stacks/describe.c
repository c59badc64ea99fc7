// What a result stores of a plug-in.
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "stacks/hash.h"
#include "stacks/loader.h"

bool tlc_stack_hash(const char *path, char hex[TLC_STACK_HASH_BYTES])
{
    unsigned char digest[EVP_MAX_MD_SIZE], buffer[65536];
    unsigned size = 0;
    FILE *file = fopen(path, "rbe");
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool good = file && hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1;
    for (size_t got; good && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        good = EVP_DigestUpdate(hash, buffer, got) == 1;
    good = good && !ferror(file) && EVP_DigestFinal_ex(hash, digest, &size) == 1 && size == 32;
    for (unsigned i = 0; good && i < size; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", digest[i]);
    if (file)
        fclose(file);
    EVP_MD_CTX_free(hash);
    return good;
}

// The manifest lies beside the plug-in: ID.json.
static json_t *read_manifest(const char *plugin_path)
{
    char path[4096];
    size_t length = strlen(plugin_path);
    if (length > 3 && !strcmp(plugin_path + length - 3, ".so"))
        length -= 3;
    snprintf(path, sizeof path, "%.*s.json", (int)length, plugin_path);
    json_t *manifest = json_load_file(path, 0, NULL);
    return manifest ? manifest : json_null();
}

json_t *tlc_stack_describe(const struct tlc_stack_plugin *plugin)
{
    char hex[TLC_STACK_HASH_BYTES] = "";
    bool hashed = tlc_stack_hash(plugin->path, hex);
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "id", plugin->id, "name",
                     plugin->stack->name, "version", plugin->stack->version(), "build",
                     plugin->stack->build(), "sha256", hashed ? json_string(hex) : json_null(),
                     "manifest", read_manifest(plugin->path));
}
