// Which component a function of a dispatch table belongs to, and which one does its work.
#include <strings.h>

#include "providers/trace.h"

bool trace_wraps(int operation)
{
    switch (operation) {
    case OSSL_OP_DIGEST:
    case OSSL_OP_CIPHER:
    case OSSL_OP_MAC:
    case OSSL_OP_KDF:
    case OSSL_OP_RAND:
    case OSSL_OP_KEYMGMT:
    case OSSL_OP_KEYEXCH:
    case OSSL_OP_SIGNATURE:
    case OSSL_OP_ASYM_CIPHER:
    case OSSL_OP_KEM:
        return true;
    default: // encoders, decoders, stores
        return false;
    }
}

#define PART(name)  ((struct trace_kind){TLC_COMPONENT_##name, false, false, TRACE_NO_GENERATION, 0})
#define WHOLE(name) ((struct trace_kind){TLC_COMPONENT_##name, true, false, TRACE_NO_GENERATION, 0})
#define FILLS(name) ((struct trace_kind){TLC_COMPONENT_##name, true, true, TRACE_NO_GENERATION, 0})

static struct trace_kind of_symmetric(int operation, int function)
{
    switch (operation) {
    case OSSL_OP_DIGEST:
        return function == OSSL_FUNC_DIGEST_FINAL || function == OSSL_FUNC_DIGEST_DIGEST
                   ? WHOLE(DIGEST)
                   : PART(DIGEST);
    case OSSL_OP_CIPHER:
        return function == OSSL_FUNC_CIPHER_FINAL || function == OSSL_FUNC_CIPHER_CIPHER
                   ? WHOLE(CIPHER)
                   : PART(CIPHER);
    case OSSL_OP_MAC:
        return function == OSSL_FUNC_MAC_FINAL ? FILLS(MAC) : PART(MAC);
    default:
        return function == OSSL_FUNC_KDF_DERIVE ? WHOLE(KDF) : PART(KDF);
    }
}

// A generator is told the name of its provider and looks for it in its own library context, where
// the provider has another name.
static struct trace_kind of_random(int function)
{
    struct trace_kind kind = function == OSSL_FUNC_RAND_GENERATE ? WHOLE(RANDOM) : PART(RANDOM);
    if (function == OSSL_FUNC_RAND_INSTANTIATE)
        kind.parameters = 6;
    else if (function == OSSL_FUNC_RAND_SET_CTX_PARAMS)
        kind.parameters = 2;
    return kind;
}

static struct trace_kind of_key(int function)
{
    struct trace_kind kind = PART(KEY_GENERATION);
    switch (function) {
    case OSSL_FUNC_KEYMGMT_GEN:
        kind.whole = true;
        kind.generation = TRACE_GENERATES;
        return kind;
    case OSSL_FUNC_KEYMGMT_GEN_INIT:
        kind.generation = TRACE_BEGINS;
        return kind;
    case OSSL_FUNC_KEYMGMT_GEN_SET_TEMPLATE:
    case OSSL_FUNC_KEYMGMT_GEN_SET_PARAMS:
    case OSSL_FUNC_KEYMGMT_GEN_SETTABLE_PARAMS:
    case OSSL_FUNC_KEYMGMT_GEN_CLEANUP:
        return kind;
    case OSSL_FUNC_KEYMGMT_IMPORT:
    case OSSL_FUNC_KEYMGMT_SET_PARAMS:
        return WHOLE(IMPORT_KEY);
    default:
        return PART(IMPORT_KEY);
    }
}

// What belongs to both sides, such as the context, is counted as signing.
static struct trace_kind of_signature(int function)
{
    switch (function) {
    case OSSL_FUNC_SIGNATURE_SIGN:
    case OSSL_FUNC_SIGNATURE_DIGEST_SIGN:
    case OSSL_FUNC_SIGNATURE_DIGEST_SIGN_FINAL:
    case 29: // OSSL_FUNC_SIGNATURE_SIGN_MESSAGE_FINAL, since OpenSSL 3.4
        return FILLS(SIGN);
    case OSSL_FUNC_SIGNATURE_VERIFY:
    case OSSL_FUNC_SIGNATURE_DIGEST_VERIFY:
    case OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_FINAL:
    case OSSL_FUNC_SIGNATURE_VERIFY_RECOVER:
    case 32: // OSSL_FUNC_SIGNATURE_VERIFY_MESSAGE_FINAL
        return WHOLE(VERIFY);
    case OSSL_FUNC_SIGNATURE_VERIFY_INIT:
    case OSSL_FUNC_SIGNATURE_VERIFY_RECOVER_INIT:
    case OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT:
    case OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_UPDATE:
    case 30: // OSSL_FUNC_SIGNATURE_VERIFY_MESSAGE_INIT and _UPDATE
    case 31:
        return PART(VERIFY);
    default:
        return PART(SIGN);
    }
}

static struct trace_kind of_kem(int function)
{
    switch (function) {
    case OSSL_FUNC_KEM_ENCAPSULATE:
        return FILLS(ENCAPSULATE);
    case OSSL_FUNC_KEM_DECAPSULATE:
        return FILLS(DECAPSULATE);
    case OSSL_FUNC_KEM_DECAPSULATE_INIT:
        return PART(DECAPSULATE);
    default:
        return PART(ENCAPSULATE);
    }
}

// Key transport by RSA does for TLS 1.2 what an encapsulation does.
static struct trace_kind of_transport(int function)
{
    switch (function) {
    case OSSL_FUNC_ASYM_CIPHER_ENCRYPT:
        return FILLS(ENCAPSULATE);
    case OSSL_FUNC_ASYM_CIPHER_DECRYPT:
        return FILLS(DECAPSULATE);
    case OSSL_FUNC_ASYM_CIPHER_ENCRYPT_INIT:
        return PART(ENCAPSULATE);
    default:
        return PART(DECAPSULATE);
    }
}

// Key derivations and MACs are also served in the dress of an exchange and of a signature.
static enum tlc_component dressed(int operation, const char *algorithm,
                                  enum tlc_component component)
{
    static const char *const kdfs[] = {"HKDF", "TLS1-PRF", "SCRYPT", "id-scrypt"};
    static const char *const macs[] = {"HMAC", "CMAC", "SIPHASH", "POLY1305"};
    for (size_t i = 0; i < sizeof kdfs / sizeof *kdfs; i++) {
        if (operation == OSSL_OP_KEYEXCH && !strcasecmp(algorithm, kdfs[i]))
            return TLC_COMPONENT_KDF;
        if (operation == OSSL_OP_SIGNATURE && !strcasecmp(algorithm, macs[i]))
            return TLC_COMPONENT_MAC;
    }
    return component;
}

static struct trace_kind kind_of(int operation, int function)
{
    switch (operation) {
    case OSSL_OP_RAND:
        return of_random(function);
    case OSSL_OP_KEYMGMT:
        return of_key(function);
    case OSSL_OP_KEYEXCH:
        return function == OSSL_FUNC_KEYEXCH_DERIVE ? FILLS(KEY_AGREEMENT) : PART(KEY_AGREEMENT);
    case OSSL_OP_SIGNATURE:
        return of_signature(function);
    case OSSL_OP_KEM:
        return of_kem(function);
    case OSSL_OP_ASYM_CIPHER:
        return of_transport(function);
    default:
        return of_symmetric(operation, function);
    }
}

struct trace_kind trace_kind_of(int operation, int function, const char *algorithm)
{
    struct trace_kind kind = kind_of(operation, function);
    kind.component = dressed(operation, algorithm, kind.component);
    return kind;
}
