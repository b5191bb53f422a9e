/* load: a load generator for OpenAI-style JSON and SSE traffic over HTTP/1.1 (one thread, epoll).

   -p PORT  -m MODEL (see fakeup.c)  -s (ask for a stream)  -b BYTES of prompt  -P PATH
   -H 'Name: value' (may be repeated)
   -c most connections   -r requests a second (0: closed loop)
   -w seconds of warm-up, not counted   -d seconds counted
   -D seconds to wait at the end for what is under way (0: leave at once)

   Open loop (-r): arrivals are evenly spaced and latency counts from the intended start, so a
   server that stalls cannot hide it by slowing the generator down (no coordinated omission).
   The one line of output is a JSON object.  "sent" is every request of the whole run, warm-up and
   end included; "errors" are broken connections, and streams that end without [DONE].
   Relay delay = time of receipt less the time in the "@@<time>@" stamp of a token. */
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

enum {
    MAX_HEAD = 8192,
    MAX_EVENTS = 512,
    MAX_SAMPLES = 40000000,
    READ_SIZE = 1 << 18,
    SERIAL_LEN = 16
};

enum chunk_part { SIZE_LINE, DATA, DATA_END, TRAILER };

static const char DATA_MARK[] = "data:";
static const char DONE_MARK[] = "[DONE]";

typedef struct conn {
    int fd, busy, keep_alive, wants_out;
    size_t written;  /* bytes of the request written so far */
    uint64_t start;  /* when the request was to start */
    uint64_t serial; /* which request of this run it is */
    char head[MAX_HEAD];
    int head_len, in_body, status;
    long remain; /* bytes of a body of stated length still to come, -1: not stated */
    int chunked;
    enum chunk_part part;
    long chunk_left;
    int is_sse, got_first, data_at, done_at, done; /* how far each mark has matched */
    uint64_t last_event;
    int stamp_at;
    uint64_t stamp;
    struct conn *next_idle;
} conn;

/* Samples in units of 100 ns: 32 bits hold 429 s. */
typedef struct {
    uint32_t *value;
    size_t len, cap;
} samples;

static samples latency, first_byte, relay, gap;
static int epoll_fd, port, open_conns, max_conns = 16, is_open_loop, active, peak;
static int counting, stopping;
static conn *idle;
static uint64_t requests, errors, bad_status, events_seen, bytes, sent;
static char *request; /* one for all; its serial is put in before every write */
static size_t request_len, serial_at;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *grown(void *block, size_t size) {
    block = realloc(block, size);
    if (!block) {
        perror("load");
        exit(1);
    }
    return block;
}

/* ---- figures ---- */

static void sample(samples *all, uint64_t ns) {
    if (!counting || all->len >= MAX_SAMPLES) {
        return;
    }
    if (all->len == all->cap) {
        all->cap = all->cap ? all->cap * 2 : 1 << 16;
        all->value = grown(all->value, all->cap * sizeof *all->value);
    }
    uint64_t units = ns / 100;
    all->value[all->len++] = units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double quantile_us(const samples *all, double q) {
    return all->value[(size_t)((double)(all->len - 1) * q)] / 10.0;
}

static void print_samples(const char *name, samples *all) {
    if (!all->len) {
        printf(",\"%s\":null", name);
        return;
    }
    qsort(all->value, all->len, sizeof *all->value, by_size);
    printf(",\"%s\":{\"n\":%zu,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"max\":%.1f}", name,
           all->len, quantile_us(all, .5), quantile_us(all, .9), quantile_us(all, .99),
           quantile_us(all, 1));
}

static void print_all(double seconds) {
    printf("{\"elapsed\":%.3f,\"sent\":%llu,\"unfinished\":%d,\"requests\":%llu,\"errors\":%llu,"
           "\"bad_status\":%llu,\"requests_per_s\":%.1f,\"events\":%llu,\"events_per_s\":%.0f,"
           "\"bytes\":%llu,\"peak\":%d",
           seconds, (unsigned long long)sent, active, (unsigned long long)requests,
           (unsigned long long)errors, (unsigned long long)bad_status, (double)requests / seconds,
           (unsigned long long)events_seen, (double)events_seen / seconds,
           (unsigned long long)bytes, peak);
    print_samples("latency_us", &latency);
    print_samples("first_byte_us", &first_byte);
    print_samples("relay_us", &relay);
    print_samples("gap_us", &gap);
    printf("}\n");
}

/* ---- connections ---- */

static conn *opened(void) {
    conn *c = grown(NULL, sizeof *c);
    memset(c, 0, sizeof *c);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
        perror("load: connect");
        exit(1);
    }
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &e);
    open_conns++;
    return c;
}

static void drop(conn *c) {
    close(c->fd);
    free(c);
    open_conns--;
}

static void watch_out(conn *c, int wanted) {
    if (c->wants_out == wanted) {
        return;
    }
    c->wants_out = wanted;
    struct epoll_event e = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
}

/* No two prompts are alike, lest a cache of whole prompts be measured.  Letters, not digits: a
   detector might take a number for something. */
static void put_serial(uint64_t serial) {
    uint64_t mixed = serial * 0x9E3779B97F4A7C15u;
    for (int i = 0; i < SERIAL_LEN; i++, mixed >>= 4) {
        request[serial_at + (size_t)i] = (char)('a' + (mixed & 15));
    }
}

/* 0, or -1 when the connection is broken. */
static int write_request(conn *c) {
    put_serial(c->serial);
    while (c->written < request_len) {
        ssize_t k = write(c->fd, request + c->written, request_len - c->written);
        if (k > 0) {
            c->written += (size_t)k;
        } else if (k < 0 && (errno == EAGAIN || errno == EINPROGRESS || errno == ENOTCONN)) {
            watch_out(c, 1);
            return 0;
        } else {
            return -1;
        }
    }
    watch_out(c, 0);
    return 0;
}

static void begin(conn *c, uint64_t start) {
    conn fresh = {.fd = c->fd,
                  .wants_out = c->wants_out,
                  .busy = 1,
                  .keep_alive = 1,
                  .start = start,
                  .serial = sent++,
                  .remain = -1};
    *c = fresh;
    if (++active > peak) {
        peak = active;
    }
    if (write_request(c) < 0) {
        errors++;
        active--;
        drop(c);
    }
}

/* ---- answers ---- */

/* Follows a mark through the bytes; 1 when `ch` completes it.  No mark has its first character
   a second time, so falling back to it is enough. */
static int follows(const char *mark, int *at, char ch) {
    if (ch == mark[*at]) {
        (*at)++;
        if (!mark[*at]) {
            *at = 0;
            return 1;
        }
    } else {
        *at = ch == mark[0];
    }
    return 0;
}

static void follow_stamp(conn *c, char ch, uint64_t t) {
    if (c->stamp_at == 2 && ch >= 'a' && ch <= 'j') {
        c->stamp = c->stamp * 10 + (uint64_t)(ch - 'a');
    } else if (c->stamp_at == 2) {
        if (c->stamp && t > c->stamp) {
            sample(&relay, t - c->stamp);
        }
        c->stamp_at = 0;
    } else if (ch == '@') {
        c->stamp_at++;
        c->stamp = 0;
    } else {
        c->stamp_at = 0;
    }
}

static void on_payload(conn *c, const char *data, size_t len, uint64_t t) {
    if (len && !c->got_first) {
        c->got_first = 1;
        sample(&first_byte, t - c->start);
    }
    for (size_t i = 0; c->is_sse && i < len; i++) {
        if (follows(DATA_MARK, &c->data_at, data[i])) {
            events_seen += (uint64_t)counting;
            if (c->last_event) {
                sample(&gap, t - c->last_event);
            }
            c->last_event = t;
        }
        c->done |= follows(DONE_MARK, &c->done_at, data[i]);
        follow_stamp(c, data[i], t);
    }
}

static int hex(char ch) {
    return ch >= '0' && ch <= '9'   ? ch - '0'
           : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                    : -1;
}

/* 1 when the last chunk has ended. */
static int on_chunked(conn *c, const char *data, size_t len, uint64_t t) {
    for (size_t i = 0; i < len;) {
        if (c->part == DATA) {
            size_t k = len - i < (size_t)c->chunk_left ? len - i : (size_t)c->chunk_left;
            on_payload(c, data + i, k, t);
            i += k;
            c->chunk_left -= (long)k;
            c->part = c->chunk_left ? DATA : DATA_END;
            continue;
        }
        char ch = data[i++];
        if (c->part == SIZE_LINE && hex(ch) >= 0) {
            c->chunk_left = c->chunk_left * 16 + hex(ch);
        } else if (ch == '\n' && c->part == TRAILER) {
            return 1;
        } else if (ch == '\n' && c->part == SIZE_LINE) {
            c->part = c->chunk_left ? DATA : TRAILER;
        } else if (ch == '\n') {
            c->part = SIZE_LINE;
        }
    }
    return 0;
}

/* 1 when the answer is complete. */
static int on_body(conn *c, const char *data, size_t len, uint64_t t) {
    if (c->chunked) {
        return on_chunked(c, data, len, t);
    }
    size_t k = c->remain >= 0 && len > (size_t)c->remain ? (size_t)c->remain : len;
    on_payload(c, data, k, t);
    if (c->remain >= 0) {
        c->remain -= (long)k;
    }
    return c->remain == 0;
}

/* 1 when the answer is complete, 0 if not, -1 if it makes no sense. */
static int on_bytes(conn *c, const char *data, size_t len, uint64_t t) {
    if (c->in_body) {
        return on_body(c, data, len, t);
    }
    size_t room = sizeof c->head - 1 - (size_t)c->head_len;
    size_t taken = len < room ? len : room;
    memcpy(c->head + c->head_len, data, taken);
    int before = c->head_len;
    c->head_len += (int)taken;
    c->head[c->head_len] = 0;
    char *end = strstr(c->head, "\r\n\r\n");
    if (!end) {
        return taken == room ? -1 : 0;
    }
    size_t used = (size_t)(end - c->head) + 4 - (size_t)before;
    end[2] = 0;
    c->in_body = 1;
    c->status = atoi(c->head + sizeof "HTTP/1.1");
    char *length = strcasestr(c->head, "\r\ncontent-length:");
    if (length) {
        c->remain = atol(length + sizeof "\r\ncontent-length:" - 1);
    }
    c->chunked = strcasestr(c->head, "\r\ntransfer-encoding:") != NULL;
    c->is_sse = strcasestr(c->head, "text/event-stream") != NULL;
    c->keep_alive = strcasestr(c->head, "\r\nconnection: close") == NULL;
    return c->remain == 0 ? 1 : on_body(c, data + used, len - used, t);
}

/* ---- the loop ---- */

static void forget_idle(conn *c) {
    conn **at = &idle;
    while (*at && *at != c) {
        at = &(*at)->next_idle;
    }
    if (*at) {
        *at = c->next_idle;
    }
    drop(c);
}

static void on_finished(conn *c, int broken, uint64_t t) {
    active--;
    if (broken || (c->is_sse && !c->done)) {
        errors++;
        c->keep_alive = 0;
    } else if (counting) {
        requests++;
        sample(&latency, t - c->start);
    }
    bad_status += (uint64_t)(!broken && c->status != 200);
    c->busy = 0;
    if (!c->keep_alive) {
        drop(c);
        c = NULL;
    }
    if (!is_open_loop && !stopping) {
        begin(c ? c : opened(), t);
    } else if (c) {
        c->next_idle = idle;
        idle = c;
    }
}

static void on_readable(conn *c) {
    static char buffer[READ_SIZE];
    ssize_t k = read(c->fd, buffer, sizeof buffer);
    if (k < 0 && errno == EAGAIN) {
        return;
    }
    if (!c->busy) {
        if (k <= 0) {
            forget_idle(c);
        }
        return;
    }
    uint64_t t = now();
    int state;
    if (k <= 0) {
        int ends_by_close = c->in_body && !c->chunked && c->remain < 0;
        state = ends_by_close ? 1 : -1;
        c->keep_alive = 0;
    } else {
        bytes += counting ? (uint64_t)k : 0;
        state = on_bytes(c, buffer, (size_t)k, t);
    }
    if (state) {
        on_finished(c, state < 0, t);
    }
}

static void handle_events(uint64_t deadline) {
    struct epoll_event events[MAX_EVENTS];
    uint64_t t = now(), rest = deadline > t ? deadline - t : 0;
    struct timespec limit = {(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};
    int n = epoll_pwait2(epoll_fd, events, MAX_EVENTS, &limit, NULL);
    for (int i = 0; i < n; i++) {
        conn *c = events[i].data.ptr;
        if (events[i].events & EPOLLOUT && write_request(c) < 0) {
            on_finished(c, 1, now());
        } else if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
            on_readable(c);
        }
    }
}

/* Starts the requests that are due; returns when the next one is. */
static uint64_t start_due(uint64_t next, uint64_t step, uint64_t t) {
    while (next <= t && (idle || open_conns < max_conns)) {
        conn *c = idle;
        if (c) {
            idle = c->next_idle;
        } else {
            c = opened();
        }
        begin(c, next);
        next += step;
    }
    return next;
}

static void compose(const char *model, const char *path, const char *fields, long prompt,
                    int stream) {
    static const char text[] = "Please summarise the attached quarterly report for the board and "
                               "explain which of the regional offices missed their targets, why "
                               "that happened, and what we should do about it next year. ";
    char *body = grown(NULL, (size_t)prompt + 2048), *p = body;
    p += sprintf(p,
                 "{\"model\":\"%s\",\"messages\":[{\"role\":\"system\",\"content\":\"You are a "
                 "helpful assistant.\"},{\"role\":\"user\",\"content\":\"",
                 model);
    size_t serial_in_body = (size_t)(p - body);
    p += sprintf(p, "%*s ", SERIAL_LEN, "");
    for (long i = 0; i < prompt; i++) {
        *p++ = text[(size_t)i % (sizeof text - 1)];
    }
    p += sprintf(p, "\"}],\"temperature\":0.7,\"max_tokens\":256%s}",
                 stream ? ",\"stream\":true" : "");
    size_t body_len = (size_t)(p - body);
    request = grown(NULL, body_len + MAX_HEAD);
    request_len = (size_t)sprintf(request,
                                  "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: load/1"
                                  "\r\nAccept: */*\r\nContent-Type: application/json\r\n"
                                  "%sContent-Length: %zu\r\n\r\n",
                                  path, port, fields, body_len);
    serial_at = request_len + serial_in_body;
    memcpy(request + request_len, body, body_len);
    request_len += body_len;
    free(body);
}

static double run(double rate, double warm_up, double counted, double drain) {
    uint64_t start = now(), from = start + (uint64_t)(warm_up * 1e9);
    uint64_t until = from + (uint64_t)(counted * 1e9), next = start;
    uint64_t step = is_open_loop ? (uint64_t)(1e9 / rate) : 0;
    for (int i = 0; !is_open_loop && i < max_conns; i++) {
        begin(opened(), now());
    }
    for (uint64_t t; (t = now()) < until;) {
        counting = t >= from;
        uint64_t wake = counting ? until : from;
        if (is_open_loop) {
            next = start_due(next, step, t);
            int may_start = idle || open_conns < max_conns;
            wake = may_start && next < wake ? next : wake;
        }
        handle_events(wake);
    }
    double seconds = (double)(now() - from) / 1e9;
    counting = 0;
    stopping = 1;
    uint64_t last = now() + (uint64_t)(drain * 1e9);
    while (active && now() < last) {
        handle_events(last);
    }
    return seconds;
}

int main(int count, char **args) {
    double counted = 5, warm_up = 1, rate = 0, drain = 30;
    const char *model = "fake-64-0", *path = "/v1/chat/completions";
    char fields[4096] = "";
    long prompt = 400;
    int stream = 0;
    for (int option; (option = getopt(count, args, "p:c:d:w:D:r:m:sb:P:H:")) > 0;) {
        switch (option) {
        case 'p': port = atoi(optarg); break;
        case 'c': max_conns = atoi(optarg); break;
        case 'd': counted = atof(optarg); break;
        case 'w': warm_up = atof(optarg); break;
        case 'D': drain = atof(optarg); break;
        case 'r': rate = atof(optarg); break;
        case 'm': model = optarg; break;
        case 's': stream = 1; break;
        case 'b': prompt = atol(optarg); break;
        case 'P': path = optarg; break;
        case 'H':
            strncat(fields, optarg, sizeof fields - strlen(fields) - 3);
            strcat(fields, "\r\n");
            break;
        default: return 2;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    is_open_loop = rate > 0;
    epoll_fd = epoll_create1(0);
    compose(model, path, fields, prompt, stream);
    print_all(run(rate, warm_up, counted, drain));
    return 0;
}
