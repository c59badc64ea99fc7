#include "tls13/key_share.h"

#include <openssl/core_names.h>

#include "base/names.h"

static const struct tlc_group groups[] = {
    {TLC_CURVE_X25519, TLC_KEM_NONE, TLC_GROUP_X25519, false},
    {TLC_CURVE_P256, TLC_KEM_NONE, TLC_GROUP_SECP256R1, false},
    {TLC_CURVE_P384, TLC_KEM_NONE, TLC_GROUP_SECP384R1, false},
    {TLC_CURVE_P521, TLC_KEM_NONE, TLC_GROUP_SECP521R1, false},
    {TLC_CURVE_X25519, TLC_KEM_MLKEM768, TLC_GROUP_X25519MLKEM768, true},
    {TLC_CURVE_P256, TLC_KEM_MLKEM768, TLC_GROUP_SECP256R1MLKEM768, false},
    {TLC_CURVE_P384, TLC_KEM_MLKEM1024, TLC_GROUP_SECP384R1MLKEM1024, false},
    {TLC_CURVE_NONE, TLC_KEM_MLKEM768, TLC_GROUP_MLKEM768, false},
    {TLC_CURVE_NONE, TLC_KEM_MLKEM1024, TLC_GROUP_MLKEM1024, false},
};

static const struct tlc_curve_sizes curve_sizes[TLC_CURVE_COUNT] = {
    [TLC_CURVE_X25519] = {"X25519", NULL, 32, 32},
    [TLC_CURVE_P256] = {"EC", "P-256", 65, 32},
    [TLC_CURVE_P384] = {"EC", "P-384", 97, 48},
    [TLC_CURVE_P521] = {"EC", "P-521", 133, 66},
};

static const struct tlc_kem_sizes kem_sizes[TLC_KEM_COUNT] = {
    [TLC_KEM_MLKEM768] = {"ML-KEM-768", 1184, 1088, 3, 4},
    [TLC_KEM_MLKEM1024] = {"ML-KEM-1024", 1568, 1568, 4, 5},
};

const struct tlc_group *tlc_group_find(uint16_t code)
{
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (groups[i].code == code)
            return &groups[i];
    return NULL;
}

const struct tlc_curve_sizes *tlc_curve_sizes(enum tlc_curve curve)
{
    return &curve_sizes[curve];
}

const struct tlc_kem_sizes *tlc_kem_sizes(enum tlc_kem kem)
{
    return &kem_sizes[kem];
}

size_t tlc_group_client_bytes(const struct tlc_group *group)
{
    return curve_sizes[group->curve].share_bytes + kem_sizes[group->kem].key_bytes;
}

size_t tlc_share_curve_offset(const struct tlc_group *group)
{
    return group->kem_first ? kem_sizes[group->kem].key_bytes : 0;
}

size_t tlc_share_kem_offset(const struct tlc_group *group)
{
    return group->kem_first ? 0 : curve_sizes[group->curve].share_bytes;
}

size_t tlc_secret_curve_offset(const struct tlc_group *group)
{
    return group->kem_first ? TLC_KEM_SECRET_BYTES : 0;
}

size_t tlc_secret_kem_offset(const struct tlc_group *group)
{
    return group->kem_first ? 0 : curve_sizes[group->curve].secret_bytes;
}

size_t tlc_secret_bytes(const struct tlc_group *group)
{
    return curve_sizes[group->curve].secret_bytes +
           (group->kem == TLC_KEM_NONE ? 0 : TLC_KEM_SECRET_BYTES);
}

bool tlc_server_share_split(const struct tlc_group *group, const uint8_t *share, size_t count,
                            struct tlc_server_share *parts)
{
    size_t curve = curve_sizes[group->curve].share_bytes;
    size_t kem = kem_sizes[group->kem].ciphertext_bytes;
    if (count != curve + kem)
        return false;
    parts->curve = group->kem_first ? share + kem : share;
    parts->kem = group->kem_first ? share : share + curve;
    return true;
}

static EVP_PKEY_CTX *maker_new(const char *algorithm, const char *group)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, algorithm, NULL);
    if (context != NULL && EVP_PKEY_keygen_init(context) > 0 &&
        (group == NULL || EVP_PKEY_CTX_set_group_name(context, group) > 0))
        return context;
    EVP_PKEY_CTX_free(context);
    return NULL;
}

static bool make_key(EVP_PKEY_CTX **maker, const char *algorithm, const char *group, EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
    *key = NULL;
    if (*maker == NULL && (*maker = maker_new(algorithm, group)) == NULL)
        return false;
    return EVP_PKEY_keygen(*maker, key) > 0;
}

static bool write_public(EVP_PKEY *key, uint8_t *share, size_t count)
{
    size_t written = 0;
    return EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, share, count,
                                           &written) > 0 &&
           written == count;
}

bool tlc_key_pair_make(struct tlc_key_maker *maker, const struct tlc_group *group,
                       struct tlc_key_pair *pair, uint8_t *share)
{
    const struct tlc_curve_sizes *curve = &curve_sizes[group->curve];
    const struct tlc_kem_sizes *kem = &kem_sizes[group->kem];
    if (group->curve != TLC_CURVE_NONE &&
        (!make_key(&maker->curves[group->curve], curve->algorithm, curve->group, &pair->curve) ||
         !write_public(pair->curve, share + tlc_share_curve_offset(group), curve->share_bytes)))
        return false;
    if (group->kem != TLC_KEM_NONE &&
        (!make_key(&maker->kems[group->kem], kem->algorithm, NULL, &pair->kem) ||
         !write_public(pair->kem, share + tlc_share_kem_offset(group), kem->key_bytes)))
        return false;
    return true;
}

static bool exchange(EVP_PKEY *own, const uint8_t *share, const struct tlc_curve_sizes *sizes,
                     uint8_t *secret)
{
    size_t count = sizes->secret_bytes;
    EVP_PKEY *peer = EVP_PKEY_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    bool done = peer != NULL && context != NULL && EVP_PKEY_copy_parameters(peer, own) > 0 &&
                EVP_PKEY_set1_encoded_public_key(peer, share, sizes->share_bytes) > 0 &&
                EVP_PKEY_derive_init(context) > 0 && EVP_PKEY_derive_set_peer(context, peer) > 0 &&
                EVP_PKEY_derive(context, secret, &count) > 0 && count == sizes->secret_bytes;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
    return done;
}

static bool decapsulate(EVP_PKEY *own, const uint8_t *ciphertext, size_t count, uint8_t *secret)
{
    size_t secret_bytes = TLC_KEM_SECRET_BYTES;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
    bool done = context != NULL && EVP_PKEY_decapsulate_init(context, NULL) > 0 &&
                EVP_PKEY_decapsulate(context, secret, &secret_bytes, ciphertext, count) > 0 &&
                secret_bytes == TLC_KEM_SECRET_BYTES;
    EVP_PKEY_CTX_free(context);
    return done;
}

bool tlc_key_pair_secret(const struct tlc_key_pair *pair, const struct tlc_group *group,
                         const struct tlc_server_share *parts, uint8_t *secret)
{
    if (group->curve != TLC_CURVE_NONE &&
        !exchange(pair->curve, parts->curve, &curve_sizes[group->curve],
                  secret + tlc_secret_curve_offset(group)))
        return false;
    if (group->kem != TLC_KEM_NONE &&
        !decapsulate(pair->kem, parts->kem, kem_sizes[group->kem].ciphertext_bytes,
                     secret + tlc_secret_kem_offset(group)))
        return false;
    return true;
}

void tlc_key_pair_free(struct tlc_key_pair *pair)
{
    EVP_PKEY_free(pair->curve);
    EVP_PKEY_free(pair->kem);
    *pair = (struct tlc_key_pair){0};
}

void tlc_key_maker_free(struct tlc_key_maker *maker)
{
    for (int i = 0; i < TLC_CURVE_COUNT; i++)
        EVP_PKEY_CTX_free(maker->curves[i]);
    for (int i = 0; i < TLC_KEM_COUNT; i++)
        EVP_PKEY_CTX_free(maker->kems[i]);
    *maker = (struct tlc_key_maker){0};
}
