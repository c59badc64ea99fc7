// Field elements modulo p = 2^255 - 19 as four words, with the instructions made for it: MULX
// leaves the flags alone, ADCX and ADOX carry in different ones, so that two chains of additions
// run at once (Ozturk, Guilford, Gopal, Feghali, New instructions supporting large integer
// arithmetic on Intel architecture processors, 2012; for this field Oliveira, Lopez, Hisil,
// Faz-Hernandez, Rodriguez-Henriquez, How to (pre-)compute a ladder, SAC 2017). Private to the
// room.
#ifndef TLC_PRIMITIVES_FIELD64_ADX_H
#define TLC_PRIMITIVES_FIELD64_ADX_H

#include "primitives/words64.h"

// r7..r4 come back times 38 (2^256 = 38); what then lies beyond 2^256 is at most 38 times 39.
#define FE_REDUCE                                                                                  \
    "movl $38, %%edx\n\t"                                                                          \
    "xorl %k[lo], %k[lo]\n\t"                                                                      \
    "mulx %[r4], %[lo], %[hi]\n\t"                                                                 \
    "adcx %[lo], %[r0]\n\t"                                                                        \
    "adox %[hi], %[r1]\n\t"                                                                        \
    "mulx %[r5], %[lo], %[hi]\n\t"                                                                 \
    "adcx %[lo], %[r1]\n\t"                                                                        \
    "adox %[hi], %[r2]\n\t"                                                                        \
    "mulx %[r6], %[lo], %[hi]\n\t"                                                                 \
    "adcx %[lo], %[r2]\n\t"                                                                        \
    "adox %[hi], %[r3]\n\t"                                                                        \
    "mulx %[r7], %[lo], %[r4]\n\t"                                                                 \
    "adcx %[lo], %[r3]\n\t"                                                                        \
    "movl $0, %k[lo]\n\t"                                                                          \
    "adox %[lo], %[r4]\n\t"                                                                        \
    "adcx %[lo], %[r4]\n\t"                                                                        \
    "imulq $38, %[r4], %[r4]\n\t"                                                                  \
    "addq %[r4], %[r0]\n\t"                                                                        \
    "adcq $0, %[r1]\n\t"                                                                           \
    "adcq $0, %[r2]\n\t"                                                                           \
    "adcq $0, %[r3]\n\t"                                                                           \
    "sbbq %[lo], %[lo]\n\t"                                                                        \
    "andl $38, %k[lo]\n\t"                                                                         \
    "addq %[lo], %[r0]\n\t"

// The operands are in memory: as "m" operands they would ask for more registers than an unoptimised
// build has, so the clobber stands for them.
static inline void fe_mul(fe *out, const fe *a, const fe *b)
{
    uint64_t r0, r1, r2, r3, r4, r5, r6, r7, lo, hi;
    __asm__(
        // A row for each word of a.
        "movq 0(%[a]), %%rdx\n\t"
        "mulx 0(%[b]), %[r0], %[r1]\n\t"
        "mulx 8(%[b]), %[lo], %[r2]\n\t"
        "addq %[lo], %[r1]\n\t"
        "mulx 16(%[b]), %[lo], %[r3]\n\t"
        "adcq %[lo], %[r2]\n\t"
        "mulx 24(%[b]), %[lo], %[r4]\n\t"
        "adcq %[lo], %[r3]\n\t"
        "adcq $0, %[r4]\n\t"
        "movq 8(%[a]), %%rdx\n\t"
        "xorl %k[lo], %k[lo]\n\t"
        "mulx 0(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r1]\n\t"
        "adox %[hi], %[r2]\n\t"
        "mulx 8(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r2]\n\t"
        "adox %[hi], %[r3]\n\t"
        "mulx 16(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r3]\n\t"
        "adox %[hi], %[r4]\n\t"
        "mulx 24(%[b]), %[lo], %[r5]\n\t"
        "adcx %[lo], %[r4]\n\t"
        "movl $0, %k[lo]\n\t"
        "adox %[lo], %[r5]\n\t"
        "adcx %[lo], %[r5]\n\t"
        "movq 16(%[a]), %%rdx\n\t"
        "xorl %k[lo], %k[lo]\n\t"
        "mulx 0(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r2]\n\t"
        "adox %[hi], %[r3]\n\t"
        "mulx 8(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r3]\n\t"
        "adox %[hi], %[r4]\n\t"
        "mulx 16(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r4]\n\t"
        "adox %[hi], %[r5]\n\t"
        "mulx 24(%[b]), %[lo], %[r6]\n\t"
        "adcx %[lo], %[r5]\n\t"
        "movl $0, %k[lo]\n\t"
        "adox %[lo], %[r6]\n\t"
        "adcx %[lo], %[r6]\n\t"
        "movq 24(%[a]), %%rdx\n\t"
        "xorl %k[lo], %k[lo]\n\t"
        "mulx 0(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r3]\n\t"
        "adox %[hi], %[r4]\n\t"
        "mulx 8(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r4]\n\t"
        "adox %[hi], %[r5]\n\t"
        "mulx 16(%[b]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r5]\n\t"
        "adox %[hi], %[r6]\n\t"
        "mulx 24(%[b]), %[lo], %[r7]\n\t"
        "adcx %[lo], %[r6]\n\t"
        "movl $0, %k[lo]\n\t"
        "adox %[lo], %[r7]\n\t"
        "adcx %[lo], %[r7]\n\t" FE_REDUCE
        : [r0] "=&r"(r0), [r1] "=&r"(r1), [r2] "=&r"(r2), [r3] "=&r"(r3), [r4] "=&r"(r4),
          [r5] "=&r"(r5), [r6] "=&r"(r6), [r7] "=&r"(r7), [lo] "=&r"(lo), [hi] "=&r"(hi)
        : [a] "r"(a), [b] "r"(b)
        : "rdx", "cc", "memory");
    *out = (fe){{r0, r1, r2, r3}};
}

static inline void fe_sq(fe *out, const fe *a)
{
    uint64_t r0, r1, r2, r3, r4, r5, r6, r7, lo, hi;
    __asm__(
        // Products of different words; then twice that by ADCX and the squares by ADOX.
        "movq 0(%[a]), %%rdx\n\t"
        "mulx 8(%[a]), %[r1], %[r2]\n\t"
        "mulx 16(%[a]), %[lo], %[r3]\n\t"
        "addq %[lo], %[r2]\n\t"
        "mulx 24(%[a]), %[lo], %[r4]\n\t"
        "adcq %[lo], %[r3]\n\t"
        "adcq $0, %[r4]\n\t"
        "movq 8(%[a]), %%rdx\n\t"
        "xorl %k[lo], %k[lo]\n\t"
        "mulx 16(%[a]), %[lo], %[hi]\n\t"
        "adcx %[lo], %[r3]\n\t"
        "adox %[hi], %[r4]\n\t"
        "mulx 24(%[a]), %[lo], %[r5]\n\t"
        "adcx %[lo], %[r4]\n\t"
        "movl $0, %k[lo]\n\t"
        "adox %[lo], %[r5]\n\t"
        "adcx %[lo], %[r5]\n\t"
        "movq 16(%[a]), %%rdx\n\t"
        "mulx 24(%[a]), %[lo], %[r6]\n\t"
        "addq %[lo], %[r5]\n\t"
        "adcq $0, %[r6]\n\t"
        "xorl %k[r7], %k[r7]\n\t"
        "movq 0(%[a]), %%rdx\n\t"
        "mulx %%rdx, %[r0], %[hi]\n\t"
        "adcx %[r1], %[r1]\n\t"
        "adox %[hi], %[r1]\n\t"
        "movq 8(%[a]), %%rdx\n\t"
        "mulx %%rdx, %[lo], %[hi]\n\t"
        "adcx %[r2], %[r2]\n\t"
        "adox %[lo], %[r2]\n\t"
        "adcx %[r3], %[r3]\n\t"
        "adox %[hi], %[r3]\n\t"
        "movq 16(%[a]), %%rdx\n\t"
        "mulx %%rdx, %[lo], %[hi]\n\t"
        "adcx %[r4], %[r4]\n\t"
        "adox %[lo], %[r4]\n\t"
        "adcx %[r5], %[r5]\n\t"
        "adox %[hi], %[r5]\n\t"
        "movq 24(%[a]), %%rdx\n\t"
        "mulx %%rdx, %[lo], %[hi]\n\t"
        "adcx %[r6], %[r6]\n\t"
        "adox %[lo], %[r6]\n\t"
        "adcx %[r7], %[r7]\n\t"
        "adox %[hi], %[r7]\n\t" FE_REDUCE
        : [r0] "=&r"(r0), [r1] "=&r"(r1), [r2] "=&r"(r2), [r3] "=&r"(r3), [r4] "=&r"(r4),
          [r5] "=&r"(r5), [r6] "=&r"(r6), [r7] "=&r"(r7), [lo] "=&r"(lo), [hi] "=&r"(hi)
        : [a] "r"(a)
        : "rdx", "cc", "memory");
    *out = (fe){{r0, r1, r2, r3}};
}

static inline void fe_mul_a24(fe *out, const fe *a)
{
    fe_wide t = 0;
    uint64_t r[4];
    for (int i = 0; i < 4; i++) {
        t += (fe_wide)a->word[i] * 121665;
        r[i] = (uint64_t)t;
        t >>= 64;
    }
    fe_fold(out, r, 38 * (uint64_t)t);
}

// A carry or borrow out of 2^256 is 38; after it is added or taken, a second one leaves the lowest
// word so small, or so large, that 38 more cannot go beyond it.
#define FE_SUM(NAME, FIRST, NEXT)                                                                  \
    static inline void NAME(fe *out, const fe *a, const fe *b)                                     \
    {                                                                                              \
        uint64_t r0 = a->word[0], r1 = a->word[1], r2 = a->word[2], r3 = a->word[3], t;            \
        __asm__(FIRST " 0(%[b]), %[r0]\n\t" NEXT " 8(%[b]), %[r1]\n\t" NEXT                        \
                      " 16(%[b]), %[r2]\n\t" NEXT " 24(%[b]), %[r3]\n\t"                           \
                      "sbbq %[t], %[t]\n\t"                                                        \
                      "andl $38, %k[t]\n\t" FIRST " %[t], %[r0]\n\t" NEXT " $0, %[r1]\n\t" NEXT    \
                      " $0, %[r2]\n\t" NEXT " $0, %[r3]\n\t"                                       \
                      "sbbq %[t], %[t]\n\t"                                                        \
                      "andl $38, %k[t]\n\t" FIRST " %[t], %[r0]\n\t"                               \
                : [r0] "+&r"(r0), [r1] "+&r"(r1), [r2] "+&r"(r2), [r3] "+&r"(r3), [t] "=&r"(t)     \
                : [b] "r"(b)                                                                       \
                : "cc", "memory");                                                                 \
        *out = (fe){{r0, r1, r2, r3}};                                                             \
    }

FE_SUM(fe_add, "addq", "adcq")
FE_SUM(fe_sub, "subq", "sbbq")

#endif
