// Inside the room: manifest.json, the options and validity that all certificates of a folder share.
#ifndef TLC_CERTS_MANIFEST_H
#define TLC_CERTS_MANIFEST_H

#include <jansson.h>
#include <stdbool.h>

#include "certs/certs.h"
#include "certs/folder.h"
#include "certs/issue.h"

// The options that every certificate depends on, in one order, so that json_equal compares them;
// the caller owns the reference. NULL when memory runs out.
json_t *tlc_certs_options_json(const struct tlc_certs_options *options);

// NULL when there is none or it is not JSON; the caller owns the reference.
json_t *tlc_certs_manifest_read(const struct tlc_certs_folder *folder);
// Whether a folder with this manifest (NULL is allowed) can be kept: finished, made with the same
// options, and not near expiry. Then *validity is what its certificates share.
bool tlc_certs_manifest_fits(const json_t *manifest, const json_t *options,
                             struct tlc_certs_validity *validity);
// `complete` false marks a folder that is being made: if its maker dies, the next makes all again.
enum tlc_status tlc_certs_manifest_write(const struct tlc_certs_folder *folder, json_t *options,
                                         const struct tlc_certs_validity *validity, bool complete,
                                         struct tlc_error *error) TLC_CHECKED;

#endif
