// Shares as people write them: "3%", "0.03".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/share.h"

bool tlc_parse_share(const char *text, double *share)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return false;
    end += strspn(end, " ");
    if (!strcmp(end, "%"))
        value /= 100;
    else if (*end)
        return false;
    *share = value;
    return value >= 0 && value <= 10;
}
