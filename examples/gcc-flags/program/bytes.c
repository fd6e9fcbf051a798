/* A growing array of bytes, and memory that is there or the program ends. */

struct bytes {
    unsigned char *data;
    size_t size, room;
};

static void fail(const char *message) {
    fprintf(stderr, "toolbox: %s\n", message);
    exit(2);
}

static void *allocate(size_t size) {
    void *found = calloc(1, size ? size : 1);
    if (!found)
        fail("out of memory");
    return found;
}

static void *grow(void *old, size_t size) {
    void *found = realloc(old, size);
    if (!found)
        fail("out of memory");
    return found;
}

static void put(struct bytes *to, int byte) {
    if (to->size == to->room) {
        to->room = to->room ? 2 * to->room : 64;
        to->data = grow(to->data, to->room);
    }
    to->data[to->size++] = (unsigned char)byte;
}

static void put_all(struct bytes *to, const void *from, size_t size) {
    const unsigned char *bytes = from;
    for (size_t i = 0; i < size; i++)
        put(to, bytes[i]);
}

static void put_text(struct bytes *to, const char *text) {
    put_all(to, text, strlen(text));
}

/* Seven bits a byte, the lowest first; the high bit says that there are more. */
static void put_number(struct bytes *to, size_t number) {
    for (; number >= 128; number >>= 7)
        put(to, (int)(number & 127) | 128);
    put(to, (int)number);
}

/* The bytes as a text: the zero at the end is there, but does not count. */
static char *as_text(struct bytes *from) {
    put(from, 0);
    from->size--;
    return (char *)from->data;
}

static void release(struct bytes *old) {
    free(old->data);
    *old = (struct bytes){0};
}
