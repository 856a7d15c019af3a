/* Loaded before libc (LD_PRELOAD): lets the k-th call that changes a file below a folder fail, once or from then on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[PATH_MAX];
static long number, count;
static int code, stays;

void failing_disk_arm(const char *folder, long at, int error, int for_ever) {
    snprintf(below, sizeof below, "%s/", folder);
    number = at, code = error, stays = for_ever, count = 0;
}

long failing_disk_count(void) { return count; }

static int path_fails(const char *path) {
    if (!below[0] || !path || strncmp(path, below, strlen(below))) return 0;
    count++;
    if (!number || count < number || (count > number && !stays)) return 0;
    errno = code;
    return 1;
}

static const char *of_handle(int handle, const char *name, char *room) {
    char link[64];
    if (!below[0]) return NULL;
    if (name && (name[0] == '/' || handle == AT_FDCWD)) return name;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, room, PATH_MAX - 1);
    if (size < 0) return NULL;
    room[size] = 0;
    if (name) snprintf(room + size, PATH_MAX - size, "/%s", name);
    return room;
}

static int fails(int handle, const char *name) {
    char room[2 * PATH_MAX];
    int before = errno, failed = path_fails(of_handle(handle, name, room));
    if (!failed) errno = before;
    return failed;
}

#define REAL(name) ({ static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name); real; })
#define WRITES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))
#define MODE(last) va_list more; va_start(more, last); mode_t mode = va_arg(more, mode_t); va_end(more)

int open(const char *path, int flags, ...) {
    MODE(flags);
    return WRITES(flags) && fails(AT_FDCWD, path) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags);
    return WRITES(flags) && fails(AT_FDCWD, path) ? -1 : REAL(open64)(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
    MODE(flags);
    return WRITES(flags) && fails(at, path) ? -1 : REAL(openat)(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    MODE(flags);
    return WRITES(flags) && fails(at, path) ? -1 : REAL(openat64)(at, path, flags, mode);
}

#define BY_HANDLE(kind, name, words, passed) \
    kind name words { return fails(handle, NULL) ? -1 : REAL(name) passed; }
#define BY_PATH(name, words, at, path, passed) \
    int name words { return fails(at, path) ? -1 : REAL(name) passed; }

BY_HANDLE(ssize_t, write, (int handle, const void *from, size_t size), (handle, from, size))
BY_HANDLE(ssize_t, pwrite, (int handle, const void *from, size_t size, off_t at), (handle, from, size, at))
BY_HANDLE(ssize_t, pwrite64, (int handle, const void *from, size_t size, off64_t at), (handle, from, size, at))
BY_HANDLE(ssize_t, writev, (int handle, const struct iovec *from, int size), (handle, from, size))
BY_HANDLE(int, fsync, (int handle), (handle))
BY_HANDLE(int, fdatasync, (int handle), (handle))
BY_HANDLE(int, ftruncate, (int handle, off_t size), (handle, size))
BY_HANDLE(int, ftruncate64, (int handle, off64_t size), (handle, size))
BY_PATH(rename, (const char *from, const char *to), AT_FDCWD, to, (from, to))
BY_PATH(renameat, (int a, const char *from, int b, const char *to), b, to, (a, from, b, to))
BY_PATH(mkdir, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode))
BY_PATH(unlink, (const char *path), AT_FDCWD, path, (path))
BY_PATH(unlinkat, (int at, const char *path, int flags), at, path, (at, path, flags))
BY_PATH(rmdir, (const char *path), AT_FDCWD, path, (path))
BY_PATH(symlink, (const char *target, const char *path), AT_FDCWD, path, (target, path))
BY_PATH(symlinkat, (const char *target, int at, const char *path), at, path, (target, at, path))

/* it gives back the number of the error, and leaves errno alone */
int posix_fallocate64(int handle, off64_t at, off64_t size) {
    return fails(handle, NULL) ? code : REAL(posix_fallocate64)(handle, at, size);
}
ssize_t sendfile64(int handle, int from, off64_t *at, size_t size) {
    typedef ssize_t call(int, int, off64_t *, size_t);
    static call *real;
    if (!real) real = (call *)dlsym(RTLD_NEXT, "sendfile64");
    return fails(handle, NULL) ? -1 : real(handle, from, at, size);
}
