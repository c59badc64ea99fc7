// Errors that reach a user: "operation: object: reason", and the remedy where one exists.
#ifndef TLC_BASE_ERROR_H
#define TLC_BASE_ERROR_H

#define TLC_CHECKED             __attribute__((warn_unused_result))
#define TLC_PRINTF(text, first) __attribute__((format(printf, text, first)))

// Outcome of a function that can fail; the values are the program's exit codes.
enum tlc_status {
    TLC_OK = 0,
    TLC_USAGE = 1,       // wrong options or a wrong plan
    TLC_ENVIRONMENT = 2, // the machine lacks something, or a system call failed
    TLC_REFUSED = 3,     // figures refused by checks
    TLC_GATE = 4,        // a claim crossed a gate
    TLC_INTERRUPTED = 130
};

struct tlc_error {
    enum tlc_status status;
    char text[1024];
};

// Sets `error` (NULL is allowed) and returns `status`, so that `return tlc_fail(...)` reads well.
enum tlc_status tlc_fail(struct tlc_error *error, enum tlc_status status, const char *format, ...)
    TLC_PRINTF(3, 4);
// The same with ": " and strerror(errno) behind the text; the status is TLC_ENVIRONMENT.
enum tlc_status tlc_fail_errno(struct tlc_error *error, const char *format, ...) TLC_PRINTF(2, 3);
// Puts "format: " before the text that `error` holds already; keeps its status.
enum tlc_status tlc_fail_prefix(struct tlc_error *error, const char *format, ...) TLC_PRINTF(2, 3);

#endif
