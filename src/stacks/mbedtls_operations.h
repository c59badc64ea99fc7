// Private to the room.
// Raw operations of Mbed TLS's classic interface (docs/speed.md), shared by the files that define
// them.
#ifndef TLC_STACKS_MBEDTLS_OPERATIONS_H
#define TLC_STACKS_MBEDTLS_OPERATIONS_H

#include <mbedtls/chachapoly.h>
#include <mbedtls/ecdh.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/gcm.h>
#include <mbedtls/md.h>
#include <mbedtls/rsa.h>
#include <mbedtls/x509_crt.h>

#include "stacks/mbedtls_plugin.h"
#include "stacks/plain_operations.h"

struct tlc_stack_operation {
    struct tlc_plain_operation plain; // `parameter` of a row is in Mbed TLS's numbers
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    mbedtls_ecp_group group;
    mbedtls_mpi own_secret, peer_secret;
    mbedtls_ecp_point own, peer;
    mbedtls_ecdsa_context signer, issuer;
    mbedtls_rsa_context rsa;
    mbedtls_gcm_context gcm;
    mbedtls_chachapoly_context chacha;
    mbedtls_md_context_t running, copy;
    mbedtls_x509_crt chain, trusted;
};

// mbedtls_operations_certificates.c
extern const struct tlc_plain_certificates mbedtls_certificates;

#endif
