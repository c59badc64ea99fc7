// The parts that a library's cryptography falls into, for figures by part: what a sample of a
// profile, an allocation or a time belongs to (docs/trace.md).
#ifndef TLC_MEASURE_COMPONENT_H
#define TLC_MEASURE_COMPONENT_H

// (identifier, name); the names are also the ends of the symbols tlc_tag_NAME.
#define TLC_COMPONENTS(X)                                                                          \
    X(KEY_GENERATION, key_generation)                                                              \
    X(KEY_AGREEMENT, key_agreement)                                                                \
    X(ENCAPSULATE, encapsulate)                                                                    \
    X(DECAPSULATE, decapsulate)                                                                    \
    X(IMPORT_KEY, import_key)                                                                      \
    X(SIGN, sign)                                                                                  \
    X(VERIFY, verify)                                                                              \
    X(KDF, kdf)                                                                                    \
    X(CIPHER, cipher)                                                                              \
    X(DIGEST, digest)                                                                              \
    X(MAC, mac)                                                                                    \
    X(RANDOM, random)

#define TLC_ENUMERATE(id, name) TLC_COMPONENT_##id,
enum tlc_component {
    TLC_COMPONENTS(TLC_ENUMERATE) TLC_COMPONENT_COUNT,
    TLC_NO_COMPONENT = TLC_COMPONENT_COUNT // none of them: protocol, records, sessions
};
#undef TLC_ENUMERATE

// "key_generation"; "rest" for none.
static inline const char *tlc_component_name(unsigned component)
{
#define TLC_ENUMERATE(id, name) #name,
    static const char *const names[] = {TLC_COMPONENTS(TLC_ENUMERATE)};
#undef TLC_ENUMERATE
    return component < TLC_COMPONENT_COUNT ? names[component] : "rest";
}

#endif
