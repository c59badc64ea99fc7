// What OpenSSL's variable OPENSSL_ia32cap takes away from a processor, and whether a library
// obeyed. Pure: text in, text out.
#ifndef TLC_BASE_CPU_MASK_H
#define TLC_BASE_CPU_MASK_H

#include <stdbool.h>
#include <stddef.h>

#define TLC_CPU_MASK_VARIABLE "OPENSSL_ia32cap"

// Whether the text is a mask: numbers or ~numbers between colons, where one may be empty, as
// OPENSSL_ia32cap(3) describes them: "~0x200000200000000:~0x0", ":~0x80100".
bool tlc_cpu_mask_known(const char *mask);
// The library's own account of the processor in a plug-in's build text, "0x...:0x...", into `text`;
// false where it gives none, as libraries do that know no such variable.
bool tlc_cpu_account(const char *build, char *text, size_t bytes);
// Whether the account is of a processor without what the mask takes away. On false, `why` says
// which bits are still there.
bool tlc_cpu_mask_obeyed(const char *mask, const char *account, char *why, size_t bytes);

#endif
