// Run while building: writes the tables of table.h as C source. Slow and plain, with the affine
// addition law and an inversion for each coordinate, so that it shares no formula with what reads
// the tables but the field.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/field51.h"

typedef struct {
    uint64_t words[4];
} fe_scalar; // curve.h wants one; no ladder runs here
static inline fe_mask fe_scalar_bit(const fe_scalar *scalar, unsigned t)
{
    return 0 - (scalar->words[t / 64] >> t % 64 & 1);
}

#include "primitives/curve.h"
#include "primitives/table.h"

struct affine {
    fe x, y;
};

enum { SPLIT_WINDOWS = 8 * SPLIT_STEPS };

static fe d;
static struct affine table[TABLE_WINDOWS][TABLE_ENTRIES];
static struct affine split[SPLIT_WINDOWS][SPLIT_ENTRIES];

// (x1 y2 + y1 x2) / (1 + d x1 x2 y1 y2), (y1 y2 + x1 x2) / (1 - d x1 x2 y1 y2): complete for this d
// (Bernstein, Birkner, Joye, Lange, Peters, Twisted Edwards curves, AFRICACRYPT 2008).
static struct affine add(struct affine p, struct affine q)
{
    struct affine sum;
    fe xx, yy, xy, yx, t, one, below;
    fe_set(&one, 1);
    fe_mul(&xx, &p.x, &q.x);
    fe_mul(&yy, &p.y, &q.y);
    fe_mul(&xy, &p.x, &q.y);
    fe_mul(&yx, &p.y, &q.x);
    fe_mul(&t, &xx, &yy);
    fe_mul(&t, &t, &d);
    fe_add(&below, &one, &t);
    fe_invert(&below, &below);
    fe_add(&xy, &xy, &yx);
    fe_mul(&sum.x, &xy, &below);
    fe_sub(&below, &one, &t);
    fe_invert(&below, &below);
    fe_add(&yy, &yy, &xx);
    fe_mul(&sum.y, &yy, &below);
    return sum;
}

static struct affine base_point(void)
{
    // RFC 7748, section 4.1: X(P), Y(P) and d of the Edwards curve, little-endian words.
    static const uint64_t x[4] = {0xc9562d608f25d51a, 0x692cc7609525a7b2, 0xc0a4e231fdd6dc5c,
                                  0x216936d3cd6e53fe};
    static const uint64_t y[4] = {0x6666666666666658, 0x6666666666666666, 0x6666666666666666,
                                  0x6666666666666666};
    static const uint64_t curve[4] = {0x75eb4dca135978a3, 0x00700a4d4141d8ab, 0x8cc740797779e898,
                                      0x52036cee2b6ffe73};
    struct affine base;
    fe_from_words(&base.x, x);
    fe_from_words(&base.y, y);
    fe_from_words(&d, curve);
    return base;
}

static struct affine times_power_of_two(struct affine p, unsigned power)
{
    for (unsigned i = 0; i < power; i++)
        p = add(p, p);
    return p;
}

static void fill(struct affine *entries, unsigned windows, unsigned bits, struct affine base8)
{
    unsigned count = 1U << (bits - 1);
    for (unsigned i = 0; i < windows; i++) {
        struct affine *window = entries + i * count;
        window[0] = base8;
        for (unsigned e = 1; e < count; e++)
            window[e] = add(window[e - 1], base8);
        base8 = times_power_of_two(base8, bits);
    }
}

// y + x, y - x and 2dxy in their canonical form.
static void to_words(uint64_t words[12], const struct affine *p)
{
    uint8_t bytes[32];
    fe part[3];
    fe_add(&part[0], &p->y, &p->x);
    fe_sub(&part[1], &p->y, &p->x);
    fe_mul(&part[2], &p->x, &p->y);
    fe_mul(&part[2], &part[2], &d);
    fe_add(&part[2], &part[2], &part[2]);
    for (int i = 0; i < 3; i++) {
        fe_store(bytes, &part[i]);
        load_words(words + 4 * i, bytes);
    }
}

static uint64_t limb51(const struct affine *p, unsigned limb)
{
    uint64_t words[12];
    fe part;
    to_words(words, p);
    fe_from_words(&part, words + limb / 5 * 4);
    return part.limb[limb % 5];
}

static void print_table(FILE *out)
{
    fprintf(out, "const uint64_t tlc_x25519_table[TABLE_WINDOWS][TABLE_ENTRIES][12]"
                 " __attribute__((aligned(64))) = {\n");
    for (unsigned i = 0; i < TABLE_WINDOWS; i++) {
        fprintf(out, "{\n");
        for (unsigned e = 0; e < TABLE_ENTRIES; e++) {
            uint64_t words[12];
            to_words(words, &table[i][e]);
            fprintf(out, "{");
            for (unsigned k = 0; k < 12; k++)
                fprintf(out, "0x%" PRIx64 ",", words[k]);
            fprintf(out, "},\n");
        }
        fprintf(out, "},\n");
    }
    fprintf(out, "};\n");
}

static void print_lanes(FILE *out)
{
    fprintf(out, "const uint64_t tlc_x25519_table_lanes[TABLE_WINDOWS][15][TABLE_ENTRIES]"
                 " __attribute__((aligned(64))) = {\n");
    for (unsigned i = 0; i < TABLE_WINDOWS; i++) {
        fprintf(out, "{\n");
        for (unsigned k = 0; k < 15; k++) {
            fprintf(out, "{");
            for (unsigned e = 0; e < TABLE_ENTRIES; e++)
                fprintf(out, "0x%" PRIx64 ",", limb51(&table[i][e], k));
            fprintf(out, "},\n");
        }
        fprintf(out, "},\n");
    }
    fprintf(out, "};\n");
}

static void print_split_entry(FILE *out, unsigned step, unsigned entry)
{
    fprintf(out, "{\n");
    for (unsigned k = 0; k < 15; k++) {
        fprintf(out, "{");
        for (unsigned lane = 0; lane < 8; lane++)
            fprintf(out, "0x%" PRIx64 ",", limb51(&split[8 * step + lane][entry], k));
        fprintf(out, "},\n");
    }
    fprintf(out, "},\n");
}

static void print_split(FILE *out)
{
    fprintf(out, "const uint64_t tlc_x25519_table_split[SPLIT_STEPS][SPLIT_ENTRIES][15][8]"
                 " __attribute__((aligned(64))) = {\n");
    for (unsigned step = 0; step < SPLIT_STEPS; step++) {
        fprintf(out, "{\n");
        for (unsigned entry = 0; entry < SPLIT_ENTRIES; entry++)
            print_split_entry(out, step, entry);
        fprintf(out, "},\n");
    }
    fprintf(out, "};\n");
}

int main(int argc, char **argv)
{
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out) {
        fprintf(stderr, "make_table: %s: cannot be written\n", argc == 2 ? argv[1] : "no file");
        return EXIT_FAILURE;
    }
    struct affine base8 = times_power_of_two(base_point(), 3);
    fill(&table[0][0], TABLE_WINDOWS, TABLE_BITS, base8);
    fill(&split[0][0], SPLIT_WINDOWS, SPLIT_BITS, base8);
    fprintf(out, "// Written by make_table.c while building.\n#include \"primitives/table.h\"\n");
    print_table(out);
    print_lanes(out);
    print_split(out);
    if (fclose(out) != 0) {
        perror("make_table");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
