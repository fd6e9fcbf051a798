/* Words and lines: a hash map of counts, sorting, the distance of two words. */

struct entry {
    char *word;
    long count;
};

struct map {
    struct entry *entries;
    size_t used, room; /* the room is a power of two */
};

static uint32_t hash_word(const char *word, size_t size) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    return hash;
}

static struct entry *map_slot(const struct map *map, const char *word, size_t size) {
    size_t at = hash_word(word, size) & (map->room - 1);
    for (;; at = (at + 1) & (map->room - 1)) {
        struct entry *entry = map->entries + at;
        if (!entry->word || (strlen(entry->word) == size && !memcmp(entry->word, word, size)))
            return entry;
    }
}

static void map_widen(struct map *map) {
    struct map wider = {NULL, map->used, map->room ? 2 * map->room : 16};
    wider.entries = allocate(wider.room * sizeof *wider.entries);
    for (size_t i = 0; i < map->room; i++)
        if (map->entries[i].word)
            *map_slot(&wider, map->entries[i].word, strlen(map->entries[i].word)) = map->entries[i];
    free(map->entries);
    *map = wider;
}

/* Where the count of a word is; a new word counts 0. */
static long *map_count(struct map *map, const char *word, size_t size) {
    if (4 * map->used >= 3 * map->room)
        map_widen(map);
    struct entry *entry = map_slot(map, word, size);
    if (!entry->word) {
        entry->word = allocate(size + 1);
        memcpy(entry->word, word, size);
        map->used++;
    }
    return &entry->count;
}

static void map_release(struct map *map) {
    for (size_t i = 0; i < map->room; i++)
        free(map->entries[i].word);
    free(map->entries);
    *map = (struct map){0};
}

static bool is_letter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 128 || c == '_';
}

static void count_words(struct map *map, const unsigned char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        size_t start = at;
        while (at < size && is_letter(text[at]))
            at++;
        if (at > start)
            ++*map_count(map, (const char *)text + start, at - start);
        else
            at++;
    }
}

/* Sorting: quicksort on the median of three, and insertion for what is short. */

static void insertion_sort(char **words, size_t n) {
    for (size_t i = 1; i < n; i++) {
        char *word = words[i];
        size_t at = i;
        for (; at && strcmp(words[at - 1], word) > 0; at--)
            words[at] = words[at - 1];
        words[at] = word;
    }
}

static void swap_words(char **one, char **other) {
    char *kept = *one;
    *one = *other;
    *other = kept;
}

static size_t partition(char **words, size_t n) {
    char **middle = words + n / 2, **last = words + n - 1;
    if (strcmp(*middle, *words) < 0)
        swap_words(middle, words);
    if (strcmp(*last, *words) < 0)
        swap_words(last, words);
    if (strcmp(*last, *middle) < 0)
        swap_words(last, middle);
    const char *pivot = *middle;
    size_t low = 0, high = n - 1;
    for (;;) {
        while (strcmp(words[low], pivot) < 0)
            low++;
        while (strcmp(words[high], pivot) > 0)
            high--;
        if (low >= high)
            return high + 1;
        swap_words(words + low++, words + high--);
    }
}

static void sort_words(char **words, size_t n) {
    while (n > 8) {
        size_t cut = partition(words, n);
        if (cut > n / 2) {
            sort_words(words + cut, n - cut);
            n = cut;
        } else {
            sort_words(words, cut);
            words += cut;
            n -= cut;
        }
    }
    insertion_sort(words, n);
}

static size_t least(size_t a, size_t b, size_t c) {
    size_t low = a < b ? a : b;
    return low < c ? low : c;
}

/* Letters to insert, delete or change to come from one word to the other. */
static size_t distance(const char *one, const char *other) {
    size_t n = strlen(other), *row = allocate((n + 1) * sizeof *row);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; one[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (one[i - 1] != other[j - 1]);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, change);
        }
    }
    size_t found = row[n];
    free(row);
    return found;
}
