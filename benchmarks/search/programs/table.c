/* A hash table of words with chained entries, and a sort of them: pointers, loops and small calls. */
typedef unsigned long size;
typedef unsigned int word;

struct entry { struct entry *next; const char *key; long count; };
struct table { struct entry *slots[64]; struct entry pool[256]; size used; };

static size length(const char *text) {
    size n = 0;
    while (text[n]) n++;
    return n;
}

static int compare(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

static word hash(const char *text) {
    word h = 2166136261u;
    for (size i = 0, n = length(text); i < n; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

long *find(struct table *table, const char *key) {
    struct entry **slot = &table->slots[hash(key) % 64];
    for (struct entry *e = *slot; e; e = e->next)
        if (!compare(e->key, key)) return &e->count;
    if (table->used == 256) return 0;
    struct entry *fresh = &table->pool[table->used++];
    fresh->next = *slot;
    fresh->key = key;
    fresh->count = 0;
    *slot = fresh;
    return &fresh->count;
}

static int before(const struct entry *a, const struct entry *b) {
    return a->count != b->count ? a->count > b->count : compare(a->key, b->key) < 0;
}

void sort(struct entry **list, long n) {
    for (long gap = n / 2; gap > 0; gap /= 2)
        for (long i = gap; i < n; i++) {
            struct entry *held = list[i];
            long j = i;
            for (; j >= gap && before(held, list[j - gap]); j -= gap) list[j] = list[j - gap];
            list[j] = held;
        }
}

long total(const struct table *table) {
    long sum = 0;
    for (size i = 0; i < table->used; i++) sum += table->pool[i].count;
    return sum;
}
