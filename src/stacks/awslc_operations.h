// Private to AWS-LC's plug-in.
#ifndef TLC_STACKS_AWSLC_OPERATIONS_H
#define TLC_STACKS_AWSLC_OPERATIONS_H

#include "stacks/openssl_operations.h"

// awslc_operations_hybrid.c: what does the row's operation when it is one of a hybrid group, by two
// keys; NULL: it is not.
const struct openssl_operation_kind *awslc_hybrid_kind(const struct openssl_operation_row *row);

#endif
