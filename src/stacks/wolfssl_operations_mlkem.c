// ML-KEM (FIPS 203) by wolfCrypt (docs/speed.md).
#include <string.h>

#include "stacks/wolfssl_operations.h"

#ifdef WOLFSSL_HAVE_MLKEM
// The own key opens, `mlkem_peer` is what was parsed of its bytes.

static bool mlkem_make(struct tlc_stack_operation *operation)
{
    int code = wc_MlKemKey_Init(&operation->mlkem, operation->kem, NULL, INVALID_DEVID);
    code = code ? code : wc_MlKemKey_MakeKey(&operation->mlkem, &operation->rng);
    code =
        code ? code : wc_MlKemKey_PublicKeySize(&operation->mlkem, &operation->plain.input_bytes);
    code = code ? code
                : wc_MlKemKey_EncodePublicKey(&operation->mlkem, operation->plain.input,
                                              operation->plain.input_bytes);
    return tlc_plain_works(operation, "wc_MlKemKey_MakeKey", code);
}

static bool mlkem_parse(struct tlc_stack_operation *operation)
{
    int code = wc_MlKemKey_Init(&operation->mlkem_peer, operation->kem, NULL, INVALID_DEVID);
    code = code ? code
                : wc_MlKemKey_DecodePublicKey(&operation->mlkem_peer, operation->plain.input,
                                              operation->plain.input_bytes);
    return tlc_plain_works(operation, "wc_MlKemKey_DecodePublicKey", code);
}

static bool mlkem_encapsulate_once(struct tlc_stack_operation *operation)
{
    int code = wc_MlKemKey_CipherTextSize(&operation->mlkem_peer, &operation->plain.output_bytes);
    code = code ? code
                : wc_MlKemKey_Encapsulate(&operation->mlkem_peer, operation->plain.output,
                                          operation->plain.expected, &operation->rng);
    return tlc_plain_works(operation, "wc_MlKemKey_Encapsulate", code);
}

static bool mlkem_opens(struct tlc_stack_operation *operation)
{
    byte secret[TLC_PLAIN_SECRET];
    return tlc_plain_works(operation, "wc_MlKemKey_Decapsulate",
                           wc_MlKemKey_Decapsulate(&operation->mlkem, secret,
                                                   operation->plain.output,
                                                   operation->plain.output_bytes)) &&
           tlc_plain_is_right(operation, "the two sides have different secrets",
                              !memcmp(secret, operation->plain.expected, 32));
}

static bool mlkem_prepare(struct tlc_stack_operation *operation)
{
    if (!operation->kem) // a hybrid says which
        operation->kem = operation->plain.row->parameter;
    return mlkem_make(operation) && mlkem_parse(operation) && mlkem_encapsulate_once(operation);
}

static bool mlkem_keygen_once(struct tlc_stack_operation *operation)
{
    wc_MlKemKey_Free(&operation->mlkem);
    return mlkem_make(operation);
}

static bool mlkem_parse_once(struct tlc_stack_operation *operation)
{
    wc_MlKemKey_Free(&operation->mlkem_peer);
    return mlkem_parse(operation);
}

// A key pair, and a parsed key, are right when what is sealed to the bytes is opened.
static bool mlkem_check(struct tlc_stack_operation *operation)
{
    return mlkem_encapsulate_once(operation) && mlkem_opens(operation);
}

static bool mlkem_keygen_check(struct tlc_stack_operation *operation)
{
    return mlkem_parse_once(operation) && mlkem_check(operation);
}

static bool mlkem_round_trip_once(struct tlc_stack_operation *operation)
{
    return mlkem_parse_once(operation) && mlkem_check(operation);
}

static void mlkem_free(struct tlc_stack_operation *operation)
{
    wc_MlKemKey_Free(&operation->mlkem);
    wc_MlKemKey_Free(&operation->mlkem_peer);
}

const struct tlc_plain_kind wolfssl_mlkem_keygen = {mlkem_prepare, mlkem_keygen_once,
                                                    mlkem_keygen_check, mlkem_free, NULL},
                            wolfssl_mlkem_parsed = {mlkem_prepare, mlkem_parse_once, mlkem_check,
                                                    mlkem_free, NULL},
                            wolfssl_mlkem_encapsulate = {mlkem_prepare, mlkem_encapsulate_once,
                                                         mlkem_opens, mlkem_free, NULL},
                            wolfssl_mlkem_decapsulate = {mlkem_prepare, mlkem_opens, NULL,
                                                         mlkem_free, NULL},
                            wolfssl_mlkem_round_trip = {mlkem_prepare, mlkem_round_trip_once, NULL,
                                                        mlkem_free, NULL};
#endif
