#include "stats/stopping.h"

// 8, 12, 18, 27, ...: few looks, each at half as much again.
unsigned tlc_next_look(unsigned done)
{
    unsigned look = TLC_FIRST_LOOK;
    while (look <= done)
        look += look / 2;
    return look;
}

bool tlc_is_look(unsigned done)
{
    return done >= TLC_FIRST_LOOK && tlc_next_look(done - 1) == done;
}
