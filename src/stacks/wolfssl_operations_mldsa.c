// ML-DSA (FIPS 204) of CertificateVerify by wolfCrypt, with an empty context, as TLS 1.3 has it.
#include "stacks/wolfssl_operations.h"

#ifdef WOLFSSL_HAVE_MLDSA
static bool sign_once(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = &operation->plain;
    plain->output_bytes = TLC_PLAIN_BYTES;
    return tlc_plain_works(operation, "wc_MlDsaKey_SignCtx",
                           wc_MlDsaKey_SignCtx(&operation->mldsa, NULL, 0, plain->output,
                                               &plain->output_bytes, plain->input,
                                               plain->input_bytes, &operation->rng));
}

static bool verify_once(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_operation *plain = &operation->plain;
    int good = 0;
    return tlc_plain_works(operation, "wc_MlDsaKey_VerifyCtx",
                           wc_MlDsaKey_VerifyCtx(&operation->mldsa, plain->output,
                                                 plain->output_bytes, NULL, 0, plain->input,
                                                 plain->input_bytes, &good)) &&
           tlc_plain_is_right(operation, "the signature does not verify", good == 1);
}

static bool prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_content(operation, WC_SHA256_DIGEST_SIZE);
    int code = wc_MlDsaKey_Init(&operation->mldsa, NULL, INVALID_DEVID);
    code = code ? code
                : wc_MlDsaKey_SetParams(&operation->mldsa, (byte)operation->plain.row->parameter);
    code = code ? code : wc_MlDsaKey_MakeKey(&operation->mldsa, &operation->rng);
    return tlc_plain_works(operation, "wc_MlDsaKey_MakeKey", code) && sign_once(operation);
}

static void free_key(struct tlc_stack_operation *operation)
{
    wc_MlDsaKey_Free(&operation->mldsa);
}

const struct tlc_plain_kind wolfssl_mldsa_sign = {prepare, sign_once, verify_once, free_key, NULL},
                            wolfssl_mldsa_verify = {prepare, verify_once, NULL, free_key, NULL};
#endif
