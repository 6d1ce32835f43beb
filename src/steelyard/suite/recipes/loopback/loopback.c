/* A server and a client that talk over TCP on this machine.
 *
 *     loopback INPUT REQUESTS ITERATIONS
 *
 * The server is a process of its own that answers all connections by epoll, on a free port of
 * 127.0.0.1: a request names a piece of the input, the answer is that piece with its checksum. The
 * client keeps one request under way on each of its connections and checks every answer. An
 * iteration is REQUESTS requests. Standard output has a checksum of an iteration's answers and the
 * bytes that went through; it is the same for any number of iterations.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
#include "steelyard.h"

enum { CONNECTIONS = 8, LARGEST_BYTES = 8192, SMALLEST_BYTES = 64, EVENTS = 16 };

struct request {
    uint64_t start;
    uint64_t size;
};

struct answer {
    uint64_t checksum;
    unsigned char data[LARGEST_BYTES];
};

/* One side of a connection: a message that is sent or received piece by piece. */
struct connection {
    int socket;
    size_t wanted;
    size_t moved;
    struct request request;
    struct answer answer;
};

/* What is asked for next: the input piece by piece, and again from its start. */
struct plan {
    uint64_t choices;
    uint64_t start;
};

static size_t answer_bytes(const struct request* request) {
    return sizeof(uint64_t) + (size_t)request->size;
}

/* Receives until all that is wanted is there: 1; 0: the rest is to come; -1: the end. */
static int receive(struct connection* connection, void* message) {
    while (connection->moved < connection->wanted) {
        const ssize_t got = recv(connection->socket, (char*)message + connection->moved,
                                 connection->wanted - connection->moved, MSG_DONTWAIT);
        if (got == 0)
            return -1;
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (got < 0)
            fail("recv");
        connection->moved += (size_t)got;
    }
    return 1;
}

static void send_whole(int socket, const void* message, size_t size) {
    const char* place = message;
    while (size > 0) {
        const ssize_t sent = send(socket, place, size, MSG_NOSIGNAL);
        if (sent < 0)
            fail("send");
        place += sent;
        size -= (size_t)sent;
    }
}

static void without_delay(int socket) {
    const int yes = 1;
    if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0)
        fail("TCP_NODELAY");
}

static void watch(int epoll, int socket, void* about) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = about};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0)
        fail("epoll_ctl");
}

static void answer(struct bytes input, struct connection* connection) {
    const struct request* request = &connection->request;
    if (request->size > LARGEST_BYTES || request->start > input.size - request->size)
        exit(2);
    memcpy(connection->answer.data, input.data + request->start, (size_t)request->size);
    connection->answer.checksum =
        checksum_bytes(CHECKSUM_START, connection->answer.data, (size_t)request->size);
    send_whole(connection->socket, &connection->answer, answer_bytes(request));
    connection->moved = 0;
}

/* The server's life: until all connections have been closed. */
static _Noreturn void serve(struct bytes input, int listener) {
    static struct connection connections[CONNECTIONS];
    int open_count = CONNECTIONS;
    const int epoll = epoll_create1(0);
    for (int i = 0; i < CONNECTIONS; ++i) {
        connections[i].socket = accept(listener, NULL, NULL);
        if (connections[i].socket < 0)
            fail("accept");
        connections[i].wanted = sizeof(struct request);
        without_delay(connections[i].socket);
        watch(epoll, connections[i].socket, &connections[i]);
    }
    while (open_count > 0) {
        struct epoll_event events[EVENTS];
        const int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; ++i) {
            struct connection* connection = events[i].data.ptr;
            const int got = receive(connection, &connection->request);
            if (got > 0) {
                answer(input, connection);
            } else if (got < 0) {
                close(connection->socket);
                --open_count;
            }
        }
    }
    exit(0);
}

static pid_t start_server(struct bytes input, struct sockaddr_in* address) {
    socklen_t length = sizeof *address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    pid_t server;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr*)address, sizeof *address) != 0 ||
        listen(listener, CONNECTIONS) != 0 ||
        getsockname(listener, (struct sockaddr*)address, &length) != 0)
        fail("no port of 127.0.0.1");
    server = fork();
    if (server < 0)
        fail("fork");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(input, listener);
    }
    close(listener);
    return server;
}

static void ask(struct bytes input, struct connection* connection, struct plan* plan) {
    const size_t limit = input.size < LARGEST_BYTES ? input.size : LARGEST_BYTES;
    struct request* request = &connection->request;
    request->size = SMALLEST_BYTES + next_below(&plan->choices, limit - SMALLEST_BYTES);
    if (plan->start + request->size > input.size)
        plan->start = 0;
    request->start = plan->start;
    plan->start += request->size;
    connection->wanted = answer_bytes(request);
    connection->moved = 0;
    send_whole(connection->socket, request, sizeof *request);
}

/* Checks an answer and gives what the iteration's checksum grows by. */
static uint64_t checked(const struct connection* connection) {
    const uint64_t found =
        checksum_bytes(CHECKSUM_START, connection->answer.data, (size_t)connection->request.size);
    if (found != connection->answer.checksum) {
        fprintf(stderr, "an answer is not as the server sent it\n");
        exit(1);
    }
    return checksum_add(found, connection->request.start);
}

/* Sends `count` requests and gives the sum over all answers, whose order is free. */
static uint64_t converse(struct bytes input, struct connection* connections, int epoll,
                         unsigned long count, unsigned long long* bytes) {
    struct plan plan = {1, 0};
    uint64_t sum = 0;
    unsigned long asked = 0;
    *bytes = 0;
    for (; asked < count && asked < CONNECTIONS; ++asked)
        ask(input, &connections[asked], &plan);
    for (unsigned long answered = 0; answered < count;) {
        struct epoll_event events[EVENTS];
        const int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; ++i) {
            struct connection* connection = events[i].data.ptr;
            const int got = receive(connection, &connection->answer);
            if (got < 0)
                fail("the server is gone");
            if (got == 0)
                continue;
            sum += checked(connection);
            *bytes += connection->wanted + sizeof(struct request);
            ++answered;
            if (asked < count) {
                ask(input, connection, &plan);
                ++asked;
            }
        }
    }
    return sum;
}

int main(int argc, char** argv) {
    static struct connection connections[CONNECTIONS];
    struct sockaddr_in address;
    uint64_t expected = 0;
    unsigned long long bytes = 0;
    int status = 0;
    if (argc != 4) {
        fprintf(stderr, "Usage: loopback INPUT REQUESTS ITERATIONS\n");
        return 2;
    }
    const struct bytes input = read_input(argv[1]);
    const unsigned long requests = whole_number("REQUESTS", argv[2], 1);
    const unsigned long iterations = iteration_count(argv[3]);
    const int epoll = epoll_create1(0);
    errno = 0;
    if (input.size <= SMALLEST_BYTES)
        fail("the input has to have more than 64 bytes");
    const pid_t server = start_server(input, &address);
    for (int i = 0; i < CONNECTIONS; ++i) {
        connections[i].socket = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connections[i].socket, (struct sockaddr*)&address, sizeof address) != 0)
            fail("connect");
        without_delay(connections[i].socket);
        watch(epoll, connections[i].socket, &connections[i]);
    }
    for (unsigned long i = 0; i < iterations; ++i) {
        const double start_s = steelyard_now();
        const uint64_t sum = converse(input, connections, epoll, requests, &bytes);
        steelyard_iteration(steelyard_now() - start_s);
        steelyard_value("bytes_transferred", "bytes", (double)bytes, 0);
        if (i > 0 && sum != expected) {
            fprintf(stderr, "iteration %lu differs from the first one\n", i);
            return 1;
        }
        expected = sum;
    }
    for (int i = 0; i < CONNECTIONS; ++i)
        close(connections[i].socket);
    if (waitpid(server, &status, 0) != server || status != 0)
        fail("the server failed");
    printf("loopback %016" PRIx64 "\n%lu requests, %llu bytes\n", expected, requests, bytes);
    return 0;
}
