/* A compressor in the manner of LZ77: literals, then a copy of what came before, and so on. */

enum { LZ_SHORTEST = 4, LZ_TRIES = 32, LZ_SLOTS = 1 << 12 };

struct lz_search {
    const unsigned char *data;
    size_t size;
    int32_t newest[LZ_SLOTS]; /* the newest place of a hash; -1: none */
    int32_t *before;          /* the place before it, of the same hash */
};

static unsigned lz_hash(const unsigned char *at) {
    uint32_t word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return word * 2654435761u >> 20;
}

static void lz_enter(struct lz_search *s, size_t at) {
    if (at + LZ_SHORTEST > s->size)
        return;
    unsigned hash = lz_hash(s->data + at);
    s->before[at] = s->newest[hash];
    s->newest[hash] = (int32_t)at;
}

static size_t lz_common(const struct lz_search *s, size_t one, size_t other) {
    size_t length = 0;
    while (other + length < s->size && s->data[one + length] == s->data[other + length])
        length++;
    return length;
}

/* The longest copy for a place; 0 if none is long enough. */
static size_t lz_longest(const struct lz_search *s, size_t at, size_t *from) {
    size_t best = 0;
    if (at + LZ_SHORTEST > s->size)
        return 0;
    int32_t candidate = s->newest[lz_hash(s->data + at)];
    for (int tries = 0; candidate >= 0 && tries < LZ_TRIES; tries++, candidate = s->before[candidate]) {
        size_t length = lz_common(s, (size_t)candidate, at);
        if (length > best) {
            best = length;
            *from = (size_t)candidate;
        }
    }
    return best >= LZ_SHORTEST ? best : 0;
}

static void lz_literals(struct bytes *out, const unsigned char *from, size_t size) {
    put_number(out, size);
    put_all(out, from, size);
}

static void lz_compress(const unsigned char *data, size_t size, struct bytes *out) {
    struct lz_search *s = allocate(sizeof *s);
    size_t start = 0, at = 0, from = 0;
    *s = (struct lz_search){.data = data, .size = size, .before = allocate(size * sizeof(int32_t))};
    memset(s->newest, 0xff, sizeof s->newest);
    put_number(out, size);
    while (at < size) {
        size_t length = lz_longest(s, at, &from);
        if (!length) {
            lz_enter(s, at++);
            continue;
        }
        lz_literals(out, data + start, at - start);
        put_number(out, length);
        put_number(out, at - from);
        for (size_t end = at + length; at < end; at++)
            lz_enter(s, at);
        start = at;
    }
    lz_literals(out, data + start, size - start);
    free(s->before);
    free(s);
}

struct lz_input {
    const unsigned char *at, *end;
    bool bad;
};

static size_t lz_number(struct lz_input *in) {
    size_t number = 0;
    for (int shift = 0; in->at < in->end && shift < 63; shift += 7) {
        unsigned char byte = *in->at++;
        number |= (size_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    in->bad = true;
    return 0;
}

static bool lz_copy(struct lz_input *in, struct bytes *out, size_t size) {
    size_t length = lz_number(in), back = lz_number(in);
    if (in->bad || !back || back > out->size || length > size - out->size)
        return false;
    for (; length; length--)
        put(out, out->data[out->size - back]);
    return true;
}

/* False if the data are not what lz_compress gives. */
static bool lz_expand(const unsigned char *data, size_t n, struct bytes *out) {
    struct lz_input in = {data, data + n, false};
    size_t size = lz_number(&in);
    while (!in.bad) {
        size_t literals = lz_number(&in);
        if (in.bad || literals > (size_t)(in.end - in.at) || literals > size - out->size)
            return false;
        put_all(out, in.at, literals);
        in.at += literals;
        if (out->size == size)
            return in.at == in.end;
        if (!lz_copy(&in, out, size))
            return false;
    }
    return false;
}
