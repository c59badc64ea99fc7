#include <string.h>

#include "attribute/components.h"

// Goes back to the last star only: the time grows with the product of both lengths, not beyond.
bool tlc_pattern_fits(const char *pattern, const char *text)
{
    const char *star = NULL, *again = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            again = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++again;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}
