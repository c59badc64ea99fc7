#include "base/json.h"

#include <math.h>

json_t *tlc_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

double tlc_json_number(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

bool tlc_json_alike(const json_t *one, const json_t *other, const char *const *members)
{
    for (; *members; members++) {
        const json_t *mine = json_object_get(one, *members);
        const json_t *its = json_object_get(other, *members);
        if ((mine || its) && !json_equal(mine, its))
            return false;
    }
    return true;
}

void tlc_json_fit(char *text)
{
    json_t *whole = json_string(text);
    for (char *at = text; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte < ' ' || byte == 0x7f)
            *at = ' ';
        else if (!whole && byte > 0x7f)
            *at = '?';
    }
    json_decref(whole);
}
