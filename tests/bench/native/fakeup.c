/* fakeup: a fast fake engine that speaks the OpenAI chat API (one thread, epoll).

   usage: fakeup PORT

   The name of the model in the request's body says how to answer, so that it survives any proxy:

       fake-<tokens>-<interval_us>[-t|-s]

   "stream": true   server-sent events, one chunk and one write() a token, one every interval
                    (0: as fast as the client takes them)
   otherwise        one JSON answer of <tokens> words, after the interval
   -t               each token is "@@<CLOCK_MONOTONIC in ns, its digits written as a-j>@", so that
                    a load generator on the same machine can tell how long a token was under way;
                    letters, lest a detector take the number for a payment card
   -s               the fourth and following tokens are a made-up API key in pieces of a few
                    characters: what a screen of streamed text must put together to see

   A request without such a name (a health check, say) is answered as fake-64-0. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_ROOM = 65536, MAX_EVENTS = 512, BURST_TOKENS = 8, MAX_JSON_TOKENS = 4000 };

enum token_kind { WORDS, STAMPS, SECRET };

enum state { IDLE, STREAMING, JSON_WAITING };

typedef struct conn {
    int fd;
    enum state state;
    int wants_out;  /* epoll watches for room to write */
    char *in, *out; /* bytes read, not yet a request; bytes not yet written */
    size_t in_len, in_cap;
    size_t out_len, out_off, out_cap;
    enum token_kind kind;
    long left, sent;        /* tokens still to send, tokens sent */
    uint64_t interval, due; /* ns between tokens, time of the next one */
    int heap_at;            /* place in the heap of timers, -1: none */
    struct conn *next_ready;
    int is_ready;
} conn;

static const char *WORD[] = {
    " the",         " quick",   " brown", " fox",     " jumps",   " over",    " a",      " lazy",
    " dog",         " and",     " then",  " returns", " home",    " to",      " write",  " about",
    " distributed", " systems", " which", " are",     " hard",    " because", " clocks", " drift",
    " networks",    " fail",    ",",      " .",       " however", " people",  " build",  " them"};

enum { WORD_COUNT = sizeof WORD / sizeof *WORD };

/* A GitHub token with a right checksum, of no account; in pieces here too, so that scanners of
   source code leave it alone. */
static const char *PLANTED[] = {" g",   "hp_",   "Tide", "gate0", "Ben", "ch0Plan",
                                "ted0", "Secre", "t13",  "HAV",   "ns",  " ."};

enum { PLANTED_AT = 3, PLANTED_COUNT = sizeof PLANTED / sizeof *PLANTED };

static int epoll_fd;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *grown(void *block, size_t size) {
    block = realloc(block, size);
    if (!block) {
        perror("fakeup");
        exit(1);
    }
    return block;
}

/* ---- timers: a binary heap of connections by the time they are due ---- */

static conn **heap;
static int heap_len, heap_cap;

static void heap_swap(int a, int b) {
    conn *c = heap[a];
    heap[a] = heap[b];
    heap[b] = c;
    heap[a]->heap_at = a;
    heap[b]->heap_at = b;
}

static void heap_up(int i) {
    for (int parent; i > 0 && heap[parent = (i - 1) / 2]->due > heap[i]->due; i = parent) {
        heap_swap(i, parent);
    }
}

static void heap_down(int i) {
    for (;;) {
        int left = 2 * i + 1, right = left + 1, least = i;
        if (left < heap_len && heap[left]->due < heap[least]->due) {
            least = left;
        }
        if (right < heap_len && heap[right]->due < heap[least]->due) {
            least = right;
        }
        if (least == i) {
            return;
        }
        heap_swap(i, least);
        i = least;
    }
}

static void wake_at_due(conn *c) {
    if (heap_len == heap_cap) {
        heap_cap = heap_cap ? heap_cap * 2 : 1024;
        heap = grown(heap, (size_t)heap_cap * sizeof *heap);
    }
    heap[heap_len] = c;
    c->heap_at = heap_len++;
    heap_up(c->heap_at);
}

static void wake_not(conn *c) {
    int i = c->heap_at;
    if (i < 0) {
        return;
    }
    if (i != --heap_len) {
        heap[i] = heap[heap_len];
        heap[i]->heap_at = i;
        heap_up(i);
        heap_down(i);
    }
    c->heap_at = -1;
}

/* ---- connections that have something to do in this turn of the loop ---- */

static conn *ready_head, *ready_tail;

static void make_ready(conn *c) {
    if (c->is_ready) {
        return;
    }
    c->is_ready = 1;
    c->next_ready = NULL;
    if (ready_tail) {
        ready_tail->next_ready = c;
    } else {
        ready_head = c;
    }
    ready_tail = c;
}

/* Closed now, freed when its turn comes: an event of this turn may still point to it. */
static void drop(conn *c) {
    wake_not(c);
    close(c->fd);
    c->fd = -1;
    c->state = IDLE;
    make_ready(c);
}

/* ---- output ---- */

static void watch_out(conn *c, int wanted) {
    if (c->wants_out == wanted) {
        return;
    }
    c->wants_out = wanted;
    struct epoll_event e = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
}

static void put(conn *c, const char *data, size_t len) {
    if (c->out_off == c->out_len) {
        c->out_off = c->out_len = 0;
    }
    if (c->out_len + len > c->out_cap) {
        c->out_cap = (c->out_len + len) * 2 + 4096;
        c->out = grown(c->out, c->out_cap);
    }
    memcpy(c->out + c->out_len, data, len);
    c->out_len += len;
}

static void put_chunk(conn *c, const char *data, size_t len) {
    char size[20];
    put(c, size, (size_t)sprintf(size, "%zx\r\n", len));
    put(c, data, len);
    put(c, "\r\n", 2);
}

/* 1: all is written; 0: the socket is full, epoll will tell; -1: the client has gone. */
static int flush_out(conn *c) {
    while (c->out_off < c->out_len) {
        ssize_t k = write(c->fd, c->out + c->out_off, c->out_len - c->out_off);
        if (k > 0) {
            c->out_off += (size_t)k;
        } else if (k < 0 && errno == EAGAIN) {
            watch_out(c, 1);
            return 0;
        } else if (k >= 0 || errno != EINTR) {
            drop(c);
            return -1;
        }
    }
    c->out_off = c->out_len = 0;
    watch_out(c, 0);
    return 1;
}

/* ---- answers ---- */

#define HEAD                                                                          \
    "\"id\":\"chatcmpl-7f3a9c0d21b84e55\",\"created\":1760000000,\"model\":\"fake\"," \
    "\"system_fingerprint\":\"fp_44709d6fcb\","
#define CHUNK "data: {\"object\":\"chat.completion.chunk\"," HEAD
#define USAGE "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":%ld,\"total_tokens\":%ld}"

static void write_stamp(char *text) {
    char digits[24];
    sprintf(digits, "%llu", (unsigned long long)now());
    text += sprintf(text, " @@");
    for (char *d = digits; *d; d++) {
        *text++ = (char)('a' + *d - '0');
    }
    strcpy(text, "@");
}

static void put_token(conn *c) {
    char event[512], stamp[64];
    const char *text = WORD[c->sent % WORD_COUNT];
    if (c->kind == STAMPS) {
        write_stamp(stamp);
        text = stamp;
    } else if (c->kind == SECRET && c->sent >= PLANTED_AT &&
               c->sent < PLANTED_AT + PLANTED_COUNT) {
        text = PLANTED[c->sent - PLANTED_AT];
    }
    int len = sprintf(event,
                      CHUNK "\"choices\":[{\"index\":0,\"delta\":{%s\"content\":\"%s\"},"
                            "\"logprobs\":null,\"finish_reason\":null}]}\n\n",
                      c->sent == 0 ? "\"role\":\"assistant\"," : "", text);
    c->sent++;
    c->left--;
    put_chunk(c, event, (size_t)len);
}

static void put_end(conn *c) {
    static const char finish[] = CHUNK "\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
                                       "\"finish_reason\":\"stop\"}]}\n\n";
    static const char done[] = "data: [DONE]\n\n";
    char usage[512];
    int len = sprintf(usage, CHUNK "\"choices\":[]," USAGE "}\n\n", c->sent, c->sent + 100);
    put_chunk(c, finish, sizeof finish - 1);
    put_chunk(c, usage, (size_t)len);
    put_chunk(c, done, sizeof done - 1);
    put(c, "0\r\n\r\n", 5);
    c->state = IDLE;
}

static void put_json(conn *c) {
    static char body[MAX_JSON_TOKENS * 16 + 1024];
    char head[256], *p = body;
    long tokens = c->left < MAX_JSON_TOKENS ? c->left : MAX_JSON_TOKENS;
    p +=
        sprintf(p, "{\"object\":\"chat.completion\"," HEAD
                   "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"");
    for (long i = 0; i < tokens; i++) {
        p += sprintf(p, "%s", WORD[i % WORD_COUNT]);
    }
    p += sprintf(p, "\"},\"logprobs\":null,\"finish_reason\":\"stop\"}]," USAGE "}", tokens,
                 tokens + 100);
    int len = sprintf(head,
                      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                      "Content-Length: %ld\r\n\r\n",
                      (long)(p - body));
    put(c, head, (size_t)len);
    put(c, body, (size_t)(p - body));
    c->state = IDLE;
}

/* ---- requests ---- */

static char *header(char *head, size_t len, const char *name) {
    size_t name_len = strlen(name);
    for (size_t i = 0; i + name_len <= len; i++) {
        if (strncasecmp(head + i, name, name_len) == 0) {
            return head + i + name_len;
        }
    }
    return NULL;
}

/* The length of the first request in c->in, or 0 while it is incomplete.  A chunked body is taken
   to end at the first "\r\n0\r\n\r\n": true for JSON, which holds no bare CR. */
static size_t request_len(conn *c, size_t *head_len) {
    char *end = memmem(c->in, c->in_len, "\r\n\r\n", 4);
    if (!end) {
        return 0;
    }
    *head_len = (size_t)(end - c->in) + 4;
    char *length = header(c->in, *head_len, "\r\ncontent-length:");
    if (length) {
        size_t total = *head_len + strtoul(length, NULL, 10);
        return total <= c->in_len ? total : 0;
    }
    if (header(c->in, *head_len, "\r\ntransfer-encoding:")) {
        char *last = memmem(end + 2, c->in_len - *head_len + 2, "\r\n0\r\n\r\n", 7);
        return last ? (size_t)(last + 7 - c->in) : 0;
    }
    return *head_len;
}

/* Reads the model's name and "stream" by search, not by parsing: this must cost next to nothing.
 */
static void understand(conn *c, char *body, size_t len) {
    char behind = body[len]; /* there is always room for one byte more */
    body[len] = 0;
    c->left = 64;
    c->sent = 0;
    c->interval = 0;
    c->kind = WORDS;
    char *name = memmem(body, len, "\"fake-", 6);
    if (name) {
        char *at;
        c->left = strtol(name + 6, &at, 10);
        if (*at == '-') {
            c->interval = (uint64_t)strtol(at + 1, &at, 10) * 1000u;
        }
        if (*at == '-') {
            c->kind = at[1] == 't' ? STAMPS : at[1] == 's' ? SECRET : WORDS;
        }
    }
    c->state = JSON_WAITING;
    char *stream = memmem(body, len, "\"stream\"", 8);
    if (stream) {
        stream += 8;
        stream += strspn(stream, " :");
        if (strncmp(stream, "true", 4) == 0) {
            c->state = STREAMING;
        }
    }
    body[len] = behind;
}

static void answer_requests(conn *c) {
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8"
                               "\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
    while (c->state == IDLE && c->fd >= 0) {
        size_t head_len = 0, total = request_len(c, &head_len);
        if (!total) {
            return;
        }
        understand(c, c->in + head_len, total - head_len);
        memmove(c->in, c->in + total, c->in_len - total);
        c->in_len -= total;
        if (c->state == STREAMING) {
            put(c, head, sizeof head - 1);
        } else if (!c->interval) {
            put_json(c);
        }
        if (flush_out(c) < 0) {
            return;
        }
        if (c->interval) {
            c->due = now() + c->interval;
            wake_at_due(c);
        } else if (c->state == STREAMING) {
            make_ready(c);
        }
    }
}

/* A few tokens of a stream without pauses; then the others have their turn. */
static void burst(conn *c) {
    for (int i = 0; i < BURST_TOKENS && c->state == STREAMING; i++) {
        if (c->left > 0) {
            put_token(c);
        } else {
            put_end(c);
        }
        if (flush_out(c) <= 0) {
            return;
        }
    }
    if (c->state == STREAMING) {
        make_ready(c);
    } else {
        answer_requests(c);
    }
}

static void on_due(conn *c, uint64_t t) {
    wake_not(c);
    if (c->state == STREAMING && c->left > 0) {
        put_token(c);
        c->due += c->interval;
        if (c->due < t) {
            c->due = t; /* late: no catching up by a burst */
        }
        wake_at_due(c);
        flush_out(c);
        return;
    }
    if (c->state == STREAMING) {
        put_end(c);
    } else {
        put_json(c);
    }
    if (flush_out(c) >= 0) {
        answer_requests(c);
    }
}

/* ---- the loop ---- */

static int listen_on(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 4096)) {
        perror("fakeup: bind");
        exit(1);
    }
    return fd;
}

static void accept_all(int listener) {
    int one = 1, fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        conn *c = grown(NULL, sizeof *c);
        *c = (conn){.fd = fd, .heap_at = -1};
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e);
    }
}

static void on_readable(conn *c) {
    if (c->in_len + READ_ROOM + 1 > c->in_cap) {
        c->in_cap = c->in_len * 2 + READ_ROOM + 1;
        c->in = grown(c->in, c->in_cap);
    }
    ssize_t k = read(c->fd, c->in + c->in_len, c->in_cap - c->in_len - 1);
    if (k > 0) {
        c->in_len += (size_t)k;
        answer_requests(c);
    } else if (k == 0 || errno != EAGAIN) {
        drop(c);
    }
}

static void on_writable(conn *c) {
    if (flush_out(c) <= 0) {
        return;
    }
    if (c->state == STREAMING && !c->interval) {
        make_ready(c);
    } else {
        answer_requests(c);
    }
}

static void run_ready(void) {
    conn *c = ready_head;
    ready_head = ready_tail = NULL;
    while (c) {
        conn *next = c->next_ready;
        c->is_ready = 0;
        if (c->fd < 0) {
            free(c->in);
            free(c->out);
            free(c);
        } else {
            burst(c);
        }
        c = next;
    }
}

static int wait_for(struct epoll_event *events) {
    struct timespec pause = {0, 0}, *limit = NULL;
    if (ready_head) {
        limit = &pause;
    } else if (heap_len) {
        uint64_t t = now(), rest = heap[0]->due > t ? heap[0]->due - t : 0;
        pause = (struct timespec){(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};
        limit = &pause;
    }
    return epoll_pwait2(epoll_fd, events, MAX_EVENTS, limit, NULL);
}

int main(int count, char **args) {
    if (count != 2) {
        fprintf(stderr, "usage: fakeup PORT\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    epoll_fd = epoll_create1(0);
    int listener = listen_on(atoi(args[1]));
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL}, events[MAX_EVENTS];
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        int n = wait_for(events);
        for (int i = 0; i < n; i++) {
            conn *c = events[i].data.ptr;
            if (!c) {
                accept_all(listener);
                continue;
            }
            if (c->fd >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                on_readable(c);
            }
            if (c->fd >= 0 && events[i].events & EPOLLOUT) {
                on_writable(c);
            }
        }
        for (uint64_t t = now(); heap_len && heap[0]->due <= t;) {
            on_due(heap[0], t);
        }
        run_ready();
    }
}
