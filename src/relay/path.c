#include "relay/path.h"

#include <stdlib.h>

enum { MOST_ATTEMPTS = 6 }; // a sender gives up later than this, a user earlier

static const uint64_t NS_PER_S = 1000000000;

// Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
static uint64_t next_number(struct tlc_dice *dice)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

double tlc_dice_roll(struct tlc_dice *dice)
{
    return (double)(next_number(dice) >> 11) * 0x1p-53;
}

// The propagation delay of one segment.
static uint64_t delay_ns(const struct tlc_path *path, struct tlc_dice *dice)
{
    if (!path->jitter_ns)
        return path->one_way_ns;
    double shift = (2 * tlc_dice_roll(dice) - 1) * (double)path->jitter_ns;
    double delay = (double)path->one_way_ns + shift;
    return delay > 0 ? (uint64_t)delay : 0;
}

static uint64_t serialisation_ns(const struct tlc_path *path, size_t bytes)
{
    if (!path->rate_bits)
        return 0;
    double bits = 8.0 * (double)(bytes + TLC_SEGMENT_HEADER);
    return (uint64_t)(bits * (double)NS_PER_S / (double)path->rate_bits);
}

// What losses add before a segment gets through, doubling from `timeout_ns`.
static uint64_t repeats_ns(const struct tlc_path *path, struct tlc_dice *dice, uint64_t timeout_ns)
{
    uint64_t sum = 0;
    for (int attempt = 1; attempt < MOST_ATTEMPTS && path->loss > 0; attempt++) {
        if (tlc_dice_roll(dice) >= path->loss)
            break;
        sum += timeout_ns;
        timeout_ns *= 2;
    }
    return sum;
}

uint64_t tlc_path_timeout_ns(const struct tlc_path *path)
{
    uint64_t rtt = 2 * path->one_way_ns, least = NS_PER_S / 5;
    return rtt + (2 * rtt > least ? 2 * rtt : least);
}

uint64_t tlc_path_handshake_ns(const struct tlc_path *path, struct tlc_dice *dice)
{
    uint64_t sum = 0;
    for (int way = 0; way < 2; way++)
        sum += repeats_ns(path, dice, NS_PER_S) + serialisation_ns(path, 0) + delay_ns(path, dice);
    return sum;
}

unsigned tlc_path_rounds(const struct tlc_path *path, size_t bytes)
{
    size_t window = (size_t)path->mss * path->initial_window, sent = window;
    unsigned rounds = 1;
    while (sent < bytes && window <= SIZE_MAX / 4) {
        window *= 2;
        sent += window;
        rounds++;
    }
    return rounds;
}

void tlc_flow_init(struct tlc_flow *flow, const struct tlc_path *path, uint64_t seed)
{
    *flow = (struct tlc_flow){.path = path,
                              .dice = {seed},
                              .window = (size_t)path->mss * path->initial_window,
                              .threshold = SIZE_MAX};
}

void tlc_flow_free(struct tlc_flow *flow)
{
    free(flow->acks);
    flow->acks = NULL;
    flow->count = flow->capacity = 0;
}

// RFC 5681, 3.1: one segment more for each that was acknowledged, and above the threshold one for
// each window; after a time-out from one segment again, two once that one is acknowledged. A window
// that the sender does not fill does not grow beyond twice what it fills (RFC 7661, 4.3 is about
// the same; Linux does so in slow start).
static void take_ack(struct tlc_flow *flow, const struct tlc_ack *ack)
{
    size_t mss = flow->path->mss;
    if (ack->lost) {
        size_t half = flow->in_flight / 2;
        flow->threshold = half > 2 * mss ? half : 2 * mss;
        flow->window = 2 * mss;
        flow->most_in_flight = 0;
    } else if (flow->window >= flow->threshold) {
        flow->window += mss * mss / flow->window;
    } else if (flow->window < 2 * flow->most_in_flight) {
        flow->window += ack->bytes < mss ? ack->bytes : mss;
    }
    flow->in_flight -= ack->bytes;
}

static uint64_t pop_ack(struct tlc_flow *flow)
{
    struct tlc_ack *oldest = &flow->acks[flow->first];
    flow->first = (flow->first + 1) % flow->capacity;
    flow->count--;
    take_ack(flow, oldest);
    return oldest->at_ns;
}

static bool push_ack(struct tlc_flow *flow, struct tlc_ack ack)
{
    if (flow->count == flow->capacity) {
        size_t capacity = flow->capacity ? 2 * flow->capacity : 16;
        struct tlc_ack *grown = malloc(capacity * sizeof *grown);
        if (!grown)
            return false;
        for (size_t i = 0; i < flow->count; i++)
            grown[i] = flow->acks[(flow->first + i) % flow->capacity];
        free(flow->acks);
        flow->acks = grown;
        flow->first = 0;
        flow->capacity = capacity;
    }
    flow->acks[(flow->first + flow->count++) % flow->capacity] = ack;
    return true;
}

// When the window lets a segment go that could go at `at_ns`.
static uint64_t wait_for_window(struct tlc_flow *flow, uint64_t at_ns, size_t bytes)
{
    while (flow->count && flow->acks[flow->first].at_ns <= at_ns)
        (void)pop_ack(flow);
    while (flow->count && flow->in_flight + bytes > flow->window)
        at_ns = pop_ack(flow);
    return at_ns;
}

static bool send_segment(struct tlc_flow *flow, uint64_t now_ns, size_t bytes,
                         struct tlc_delivery *delivery)
{
    const struct tlc_path *path = flow->path;
    uint64_t depart = now_ns > flow->departed_ns ? now_ns : flow->departed_ns;
    depart = wait_for_window(flow, depart, bytes);
    flow->departed_ns = depart;
    uint64_t start = depart > flow->link_free_ns ? depart : flow->link_free_ns;
    flow->link_free_ns = start + serialisation_ns(path, bytes);
    uint64_t repeats = repeats_ns(path, &flow->dice, tlc_path_timeout_ns(path));
    uint64_t arrival = flow->link_free_ns + repeats + delay_ns(path, &flow->dice);
    if (arrival < flow->delivered_ns) // TCP hands on in order
        arrival = flow->delivered_ns;
    flow->delivered_ns = arrival;
    *delivery = (struct tlc_delivery){.bytes = bytes, .at_ns = arrival};
    flow->in_flight += bytes;
    if (flow->in_flight > flow->most_in_flight)
        flow->most_in_flight = flow->in_flight;
    // Every segment is acknowledged at once, and acknowledgements arrive in order too.
    uint64_t ack = arrival + delay_ns(path, &flow->dice);
    if (flow->count) {
        uint64_t before = flow->acks[(flow->first + flow->count - 1) % flow->capacity].at_ns;
        ack = ack > before ? ack : before;
    }
    return push_ack(flow, (struct tlc_ack){.at_ns = ack, .bytes = bytes, .lost = repeats > 0});
}

bool tlc_flow_send(struct tlc_flow *flow, uint64_t now_ns, size_t bytes,
                   void (*deliver)(void *user, struct tlc_delivery delivery), void *user)
{
    while (bytes) {
        size_t segment = bytes < flow->path->mss ? bytes : flow->path->mss;
        struct tlc_delivery delivery;
        if (!send_segment(flow, now_ns, segment, &delivery))
            return false;
        deliver(user, delivery);
        bytes -= segment;
    }
    return true;
}
