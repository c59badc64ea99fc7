#include "attribute/operations.h"

static const struct tlc_part_operation operations[] = {
    {"x25519-derive", "X25519", NULL, TLC_PART_AGREEMENT},
    {"x25519-derive", "X25519MLKEM768", NULL, TLC_PART_AGREEMENT},
    {"x25519-key-share", "X25519", NULL, TLC_PART_GENERATION},
    {"x25519-key-share", "X25519MLKEM768", NULL, TLC_PART_GENERATION},
    {"ecdh-p256-derive", "secp256r1", NULL, TLC_PART_AGREEMENT},
    {"ecdh-p256-derive", "SecP256r1MLKEM768", NULL, TLC_PART_AGREEMENT},
    {"ecdh-p256-key-share", "secp256r1", NULL, TLC_PART_GENERATION},
    {"ecdh-p256-key-share", "SecP256r1MLKEM768", NULL, TLC_PART_GENERATION},
    {"ecdh-p384-derive", "secp384r1", NULL, TLC_PART_AGREEMENT},
    {"ecdh-p384-derive", "SecP384r1MLKEM1024", NULL, TLC_PART_AGREEMENT},
    {"ecdh-p384-key-share", "secp384r1", NULL, TLC_PART_GENERATION},
    {"ecdh-p384-key-share", "SecP384r1MLKEM1024", NULL, TLC_PART_GENERATION},
    {"mlkem-768-encapsulate", "X25519MLKEM768", NULL, TLC_PART_ENCAPSULATION},
    {"mlkem-768-encapsulate", "SecP256r1MLKEM768", NULL, TLC_PART_ENCAPSULATION},
    {"mlkem-768-parse", "X25519MLKEM768", NULL, TLC_PART_PEER_KEY},
    {"mlkem-768-parse", "SecP256r1MLKEM768", NULL, TLC_PART_PEER_KEY},
    {"ecdsa-p256-sign", NULL, "ecdsa-p256", TLC_PART_SIGNATURE},
    {"ecdsa-p384-sign", NULL, "ecdsa-p384", TLC_PART_SIGNATURE},
    {"ed25519-sign", NULL, "ed25519", TLC_PART_SIGNATURE},
    {"rsa-2048-sign", NULL, "rsa-2048", TLC_PART_SIGNATURE},
    {"rsa-3072-sign", NULL, "rsa-3072", TLC_PART_SIGNATURE},
    {"rsa-4096-sign", NULL, "rsa-4096", TLC_PART_SIGNATURE},
    {"mldsa-44-sign", NULL, "mldsa-44", TLC_PART_SIGNATURE},
    {"mldsa-65-sign", NULL, "mldsa-65", TLC_PART_SIGNATURE},
    {"mldsa-87-sign", NULL, "mldsa-87", TLC_PART_SIGNATURE},
};

const struct tlc_part_operation *tlc_part_operation_at(size_t index)
{
    return index < sizeof operations / sizeof *operations ? &operations[index] : NULL;
}
