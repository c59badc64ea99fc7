#include "stacks/ticket_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tlc_ticket_keys_init(struct tlc_ticket_keys *set)
{
    pthread_rwlock_init(&set->lock, NULL);
    set->keys = NULL;
    set->count = 0;
}

static void free_keys(struct tlc_ticket_key *keys, size_t count)
{
    if (keys)
        explicit_bzero(keys, count * sizeof *keys);
    free(keys);
}

void tlc_ticket_keys_clear(struct tlc_ticket_keys *set)
{
    free_keys(set->keys, set->count);
    pthread_rwlock_destroy(&set->lock);
}

bool tlc_ticket_keys_replace(struct tlc_ticket_keys *set, const struct tlc_ticket_key *keys,
                             size_t count, struct tlc_stack_error *error)
{
    struct tlc_ticket_key *fresh = count ? calloc(count, sizeof *fresh) : NULL;
    if (!fresh) {
        if (error)
            snprintf(error->text, sizeof error->text, "ticket keys: %s",
                     count ? "out of memory" : "at least one is needed");
        return false;
    }
    memcpy(fresh, keys, count * sizeof *fresh);
    pthread_rwlock_wrlock(&set->lock);
    struct tlc_ticket_key *old = set->keys;
    size_t old_count = set->count;
    set->keys = fresh;
    set->count = count;
    pthread_rwlock_unlock(&set->lock);
    free_keys(old, old_count);
    return true;
}

bool tlc_ticket_keys_renew(struct tlc_ticket_keys *set, bool is_explicit,
                           const struct tlc_ticket_key *keys, size_t count,
                           struct tlc_stack_error *error)
{
    if (is_explicit)
        return tlc_ticket_keys_replace(set, keys, count, error);
    if (error)
        snprintf(error->text, sizeof error->text,
                 "ticket keys: the context was made without explicit keys");
    return false;
}

bool tlc_ticket_keys_at(struct tlc_ticket_keys *set, size_t index, struct tlc_ticket_key *key)
{
    pthread_rwlock_rdlock(&set->lock);
    bool there = index < set->count;
    if (there)
        *key = set->keys[index];
    pthread_rwlock_unlock(&set->lock);
    return there;
}

ptrdiff_t tlc_ticket_keys_find(struct tlc_ticket_keys *set, const uint8_t *name,
                               struct tlc_ticket_key *key)
{
    ptrdiff_t found = -1;
    pthread_rwlock_rdlock(&set->lock);
    for (size_t i = 0; found < 0 && i < set->count; i++)
        if (!name || !memcmp(set->keys[i].name, name, sizeof key->name)) {
            *key = set->keys[i];
            found = (ptrdiff_t)i;
        }
    pthread_rwlock_unlock(&set->lock);
    return found;
}
